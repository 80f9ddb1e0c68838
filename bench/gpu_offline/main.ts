// `deno task bench:offline [decode] [load] [kernels] [roofline] [--families navi31,...] [--formats Q4_K,...] [--rows 1] [--dawn]`:
// what of the speed on real GPUs can be told without one. `decode`: what a token takes of the host, on
// a GPU that takes no time. `load`: what loading takes of it. `kernels`: the machine code that AMD's GPUs would run. `roofline`: what
// follows for tokens per second. Tables of Markdown.

import { parseArgs } from "node:util";
import { load, print } from "../report.ts";
import type { DecodeReport } from "./decode.ts";
import { type KernelCode, parseKernels } from "./isa.ts";
import type { LoadReport } from "./load.ts";
import { DEFAULT_FAMILY, findNullGpu, runOnNullGpu } from "./null_gpu.ts";
import { roofline } from "./roofline.ts";

/** GPUs whose code is looked at: RDNA 1 to 4, GCN, and one within a processor. */
const FAMILIES = ["navi10", "navi31", "gfx1201", "vega10", "renoir"];

const FORMATS = "Q4_K,Q6_K,Q8_0,Q4_0,F16,Q4_K+Q6_K";

const LOADED_FORMATS = ["Q4_K", "Q6_K", "Q8_0"];

/** The machine code of all kernels on one GPU. */
export async function kernelsOn(
  gpu: Exclude<Awaited<ReturnType<typeof findNullGpu>>, string>,
  family: string,
  formats: readonly string[],
  kind: "webgpu" | "dawn",
): Promise<KernelCode[]> {
  const debug = "shaders,shaderstats";
  const { stderr } = await runOnNullGpu(gpu, "kernels.ts", { args: formats, family, kind, debug });
  return parseKernels(stderr);
}

function printTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  print(`\n| ${head.join(" | ")} |\n|${"---|".repeat(head.length)}`);
  for (const row of rows) print(`| ${row.join(" | ")} |`);
}

function printDecode({ architecture, layers, ways }: DecodeReport): void {
  const rows = ways.map(({ name, cpu, firstToken, perToken, ...way }) => [
    name,
    way.tokensPerSecond.toFixed(0),
    way.fastest.toFixed(0),
    cpu.toFixed(2),
    firstToken.toFixed(1),
    perToken.dispatches.toFixed(1),
    (perToken.dispatches / layers).toFixed(2),
    perToken.barriers.toFixed(1),
    perToken.submits.toFixed(2),
    way.idle.toFixed(2),
    way.gap.median.toFixed(2),
    way.gap.tenth.toFixed(2),
  ]);
  const head =
    "tokens/s,fastest 16,CPU ms a token,first token ms,dispatches a token,by layers,barriers,submits,idle ms a submit,gap ms: median,a tenth below";
  printTable([`${architecture}, ${layers} layers`, ...head.split(",")], rows);
}

function printLoads(loads: readonly LoadReport[]): void {
  const rows = loads.map(({ format, bytes, bytesPerSecond, cpu, peak }) => [
    format,
    (bytes / 1e6).toFixed(0),
    (bytesPerSecond / 1e9).toFixed(2),
    (1 / cpu).toFixed(2),
    (peak / 2 ** 20).toFixed(0),
  ]);
  printTable(["load", "MB", "GB/s", "GB a second of the processor", "peak MiB"], rows);
}

function printKernels(family: string, kernels: readonly KernelCode[]): void {
  const rows = kernels.map((kernel) => [
    kernel.name,
    kernel.kernel,
    kernel.registers,
    kernel.spilled,
    kernel.workgroupBytes,
    kernel.occupancy,
    kernel.instructions,
    kernel.loopInstructions,
    kernel.perGroup?.toFixed(1) ?? "",
    kernel.loadsInFlight,
    kernel.matrixProducts,
  ]);
  const head =
    "kernel,registers,spilled,workgroup bytes,subgroups a SIMD,instructions,in its loop,for 32 weights,loads in flight,matrix products";
  printTable([family, ...head.split(",")], rows);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      families: { type: "string" },
      formats: { type: "string", default: FORMATS },
      rows: { type: "string" },
      dawn: { type: "boolean", default: false },
    },
  });
  const families = values.families?.split(",");
  const kind = values.dawn ? "dawn" : "webgpu";
  const wants = (part: string) => positionals.length === 0 || positionals.includes(part);
  if (wants("roofline")) {
    printTable(["GPU", "model", "tokens/s", "of the published bandwidth"], roofline());
  }
  const folder = await Deno.makeTempDir();
  try {
    const gpu = await findNullGpu(folder);
    if (typeof gpu === "string") {
      print(`Left out: ${gpu}`);
      Deno.exit(0);
    }
    if (wants("decode")) {
      for (const family of families ?? [DEFAULT_FAMILY]) {
        print(`\nThe null GPU, ${family}; load ${load()}`);
        for (const architecture of ["llama", "qwen3"]) {
          const options = { args: [architecture], kind, family } as const;
          const { stdout } = await runOnNullGpu(gpu, "decode.ts", options);
          printDecode(JSON.parse(stdout));
        }
      }
    }
    if (wants("load")) {
      const loads: LoadReport[] = [];
      for (const format of LOADED_FORMATS) {
        const { stdout } = await runOnNullGpu(gpu, "load.ts", { args: [format], kind });
        loads.push(JSON.parse(stdout));
      }
      printLoads(loads);
    }
    if (wants("kernels")) {
      const isWanted = ({ name }: KernelCode) =>
        values.rows === undefined || name.endsWith(`, ${values.rows} rows`);
      for (const family of families ?? FAMILIES) {
        const kernels = await kernelsOn(gpu, family, values.formats.split(","), kind);
        printKernels(family, kernels.filter(isWanted));
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
