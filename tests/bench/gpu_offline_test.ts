// What is known of machine code without a GPU: how it is read, and bounds that kernels keep on GPUs of
// several kinds. The latter is ignored, and says why, where the null GPU cannot be built, and where
// QUERN_SWEEP is not set: Mesa's compilers take two minutes, which test:kernels has.

import { assert, assertEquals } from "@std/assert";
import type { DecodeReport } from "../../bench/gpu_offline/decode.ts";
import { type KernelCode, parseKernels } from "../../bench/gpu_offline/isa.ts";
import { findNullGpu, runOnNullGpu } from "../../bench/gpu_offline/null_gpu.ts";
import { DEVICES } from "../gpu.ts";

/** A kernel of two loops, of which only the second one loads: three at a time, and then one more. */
const CODE = `
@@@ {"name":"output Q4_K, 1 rows","groups":2,"kernel":"linear Q4_K"}
BB0
	p_branch BB0
disasm:
BB0:
	s_mov_b32 s0, 0                                             ; be8600ff 0f0f0f0f
BB1:
	v_add_f32_e32 v1, v1, v2                                    ; 06020501
	s_cbranch_scc0 BB1                                          ; bfa10167
BB2:
	s_clause 0x2                                                ; bf850002
	buffer_load_b128 v[16:19], v15, s[16:19], 0 offen           ; e05c0000 8044100f
	buffer_load_b128 v[20:23], v15, s[16:19], 0 offen offset:16 ; e05c0010 8044140f
	global_load_b128 v[4:7], v15, s[16:19]                      ; e05c0010 8044140f
	s_waitcnt vmcnt(1)                                          ; bf89fc07
	buffer_load_b128 v[24:27], v15, s[16:19], 0 offen           ; e05c0000 8044100f
	s_cbranch_vccnz BB2                                         ; bfa10167
BB3:
	s_endpgm                                                    ; bfb00000
*** SHADER STATS ***
VGPRs: 48
Spilled VGPRs: 1
LDS size: 1024
Subgroups per SIMD: 16
Instructions: 9

@@@ 
`;

Deno.test("parseKernels() reads loops, loads and statistics of machine code", () => {
  const expected: KernelCode = {
    name: "output Q4_K, 1 rows",
    kernel: "linear Q4_K",
    groups: 2,
    registers: 48,
    spilled: 1,
    workgroupBytes: 1024,
    occupancy: 16,
    instructions: 9,
    loopInstructions: 6,
    loadsInFlight: 3,
    matrixProducts: 0,
    perGroup: 3,
  };
  assertEquals(parseKernels(CODE), [expected]);
  // Where Mesa has no disassembler, it prints its own form.
  const own = CODE.replaceAll(/ +; [0-9a-f ]+$/gm, "").replaceAll(/^(BB\d):$/gm, "$1")
    .replaceAll(/\bvmcnt/g, "loadcnt").replaceAll(/(branch\w*) BB/g, "$1 block:BB")
    .replaceAll(/^\t(buffer_load)/gm, "\t v4: %1:v[4-7] = $1");
  assertEquals(parseKernels(own), [expected]);
});

const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const gpu = Deno.env.has("QUERN_SWEEP") ? await findNullGpu(folder) : "QUERN_SWEEP is not set";

/** Bounds of kernels: most instructions in all, those of a fused norm included. */
const MOST_INSTRUCTIONS: Readonly<Record<string, number>> = {
  "output Q4_K, 1 rows": 1060,
  "gate and up Q4_K, 1 rows": 1240,
  "output Q8_0, 1 rows": 960,
  "gate and up Q8_0, 1 rows": 1030,
  "output Q4_K, 256 rows": 1500,
  "gate and up Q4_K, 256 rows": 1750,
};

/** Most instructions for 32 weights of products of 1, 2, 4 and 8 rows, by GPU. */
const MOST_FOR_GROUP: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  navi31: {
    Q4_K: [58, 72, 102, 194],
    Q6_K: [74, 90, 125, 229],
    Q8_0: [30, 42, 69, 154],
    F16: [66, 103, 183, 404],
    MXFP4: [138, 150, 178, 266],
  },
  vega10: {
    Q4_K: [128, 173, 260, 490],
    Q6_K: [141, 189, 276, 497],
    Q8_0: [92, 128, 209, 415],
    F16: [98, 135, 214, 433],
    MXFP4: [208, 243, 323, 534],
  },
};

/** Least subgroups that a SIMD runs at once, of products of few rows, by GPU. */
const LEAST_SUBGROUPS: Readonly<Record<string, number>> = { navi31: 12, vega10: 2 };

/** The product that runs fewer where products are in f32: of four rows of both sides, and two tokens. */
const LARGEST_PAIR = "gate and up Q6_K, 2 rows";

for (const [family, mostForGroup] of Object.entries(MOST_FOR_GROUP)) {
  const why = typeof gpu === "string" ? `: ${gpu}` : "";
  Deno.test({
    name: `kernels keep their bounds on ${family}${why}`,
    ignore: why !== "",
    async fn() {
      const { stderr } = await runOnNullGpu(gpu as Exclude<typeof gpu, string>, "kernels.ts", {
        args: [...Object.keys(mostForGroup), "Q4_K+Q6_K"],
        family,
        debug: "shaders,shaderstats",
      });
      const kernels = parseKernels(stderr);
      for (const one of kernels) {
        const { name, kernel, registers, spilled, occupancy, loadsInFlight, instructions } = one;
        const what = `${name} (${kernel})`;
        if (/, [124] rows$/.test(name)) assertEquals(spilled, 0, `${what} spills registers`);
        // Of products in one kernel, that of the second format has more instructions.
        const [, format = "", rows = ""] = / (?:\w+\+)?(\w+), (\d+) rows$/.exec(name) ?? [];
        if (one.groups !== undefined && Number(rows) <= 16) {
          const most = mostForGroup[format]?.[Math.min(3, Math.log2(Number(rows)))] ?? Infinity;
          assert(one.perGroup! <= most, `${what} has ${one.perGroup} for 32`);
          assert(loadsInFlight >= 8, `${what} has ${loadsInFlight} loads under way`);
          if (family === "navi31" || name !== LARGEST_PAIR) {
            assert(occupancy >= LEAST_SUBGROUPS[family]!, `${what} runs ${occupancy} subgroups`);
          }
        }
        if (name === "attention, 1 rows") {
          assert(loadsInFlight >= 8, `${what} has ${loadsInFlight} loads under way`);
        }
        if (name === "attention, 256 rows" && kernel === "attention") {
          assert(loadsInFlight >= 8, `${what} has ${loadsInFlight} loads under way`);
          assert(registers <= 140, `${what} has ${registers} registers`);
        }
        const most = MOST_INSTRUCTIONS[name] ?? Infinity;
        assert(instructions <= most, `${what} has ${instructions} instructions`);
      }
      const found = Object.keys(MOST_INSTRUCTIONS).filter((name) =>
        kernels.some((kernel) => kernel.name === name)
      );
      assertEquals(found, Object.keys(MOST_INSTRUCTIONS));
    },
  });
}

const noGpu = typeof gpu === "string" ? `: ${gpu}` : "";
for (const [family, arithmetic] of [["navi31", "int8"], ["vega10", "f32"]] as const) {
  Deno.test({
    name: `a decoded token takes few dispatches, barriers and submits, in ${arithmetic}${noGpu}`,
    ignore: noGpu !== "",
    async fn() {
      const { stdout } = await runOnNullGpu(gpu as Exclude<typeof gpu, string>, "decode.ts", {
        args: ["llama", "free", "constrained"],
        family,
      });
      const { layers, ways } = JSON.parse(stdout) as DecodeReport;
      const [free, constrained] = ways.map(({ perToken }) => perToken);
      for (const way of [free!, constrained!]) {
        assert(way.dispatches / layers < 7.3, `${way.dispatches / layers} dispatches a layer`);
        assert(way.barriers < way.dispatches + 3, `${way.barriers} barriers a token`);
      }
      // At most eight tokens go into a submit, of whose two parts the first is less than a token.
      assert(free!.submits < 1, `${free!.submits} submits a token, decoding freely`);
      assert(constrained!.submits < 3.1, `${constrained!.submits} submits a token, with a mask`);
    },
  });
}

const noDawn = DEVICES.some(({ name }) => name === "Dawn") ? "" : "no npm package `webgpu`";
const whyNot = typeof gpu === "string" ? gpu : noDawn;
Deno.test({
  name: `Dawn compiles products of many tokens to products of matrices${whyNot && `: ${whyNot}`}`,
  ignore: whyNot !== "",
  async fn() {
    const { stderr } = await runOnNullGpu(gpu as Exclude<typeof gpu, string>, "kernels.ts", {
      args: ["Q4_K"],
      family: "navi31",
      kind: "dawn",
      debug: "shaders,shaderstats",
    });
    const many = parseKernels(stderr).filter(({ name }) => /Q4_K, 256 rows$/.test(name));
    assertEquals(many.length, 2);
    for (const { name, matrixProducts, spilled, workgroupBytes } of many) {
      // In one turn a subgroup of 64 multiplies 64 rows by 32 tokens and 32 columns, 16 each.
      assertEquals(matrixProducts, 16, name);
      assertEquals(spilled, 0, `${name} spills registers`);
      assertEquals(workgroupBytes, 26624, name);
    }
  },
});
