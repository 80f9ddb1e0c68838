// How tests compute kernels for subgroups that the driver does not have.

import { assertEquals } from "@std/assert";
import { webGpuTest } from "./adapter.ts";
import { readFloats, submit } from "./gpu.ts";
import { openPretended } from "./kernels/product_profiles.ts";
import { withSubgroupsOf } from "./pretended_subgroups.ts";
import { profileNamed } from "./profiles.ts";

/** A kernel of 64 invocations, each of which writes what becomes of its number and of twice that. */
function kernelOf(statements: string): string {
  return `
@group(0) @binding(0) var<storage, read_write> y: array<f32>; // [2, 64]
const WORKGROUP = 64u;
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) thread: u32) {
  var a = f32(thread);
  var b = 2.0 * f32(thread);
${statements}  y[thread] = a;
  y[64u + thread] = b;
}
`;
}

const ADDED = "  a = subgroupAdd(a);\n  b = subgroupAdd(b);\n";
const butterfly = (name: string, masks: number[]) =>
  masks.map((k) => `  ${name} += subgroupShuffleXor(${name}, 1u << u32(${k}));\n`).join("");

/** Of each kind: statements, neighbours whose sum they make, and whether they are made at once. */
const KINDS: [name: string, statements: string, neighbours: number, atOnce: boolean][] = [
  ["sums of subgroups", ADDED, 32, true],
  ["butterflies", butterfly("a", [0, 1, 2]) + butterfly("b", [0, 1, 2]), 8, true],
  ["a step that is left out", butterfly("a", [0, 2]) + butterfly("b", [0, 2]), 0, false],
  ["butterflies of two sizes", butterfly("a", [0, 1]) + butterfly("b", [0]), 0, false],
];

for (const [name, statements, neighbours, atOnce] of KINDS) {
  const code = kernelOf(statements);
  Deno.test(`${name} ${atOnce ? "" : "not "}made at once`, () => {
    assertEquals(/\bsubgroup\w+\(/.test(withSubgroupsOf(32, code)), !atOnce);
  });

  webGpuTest(`${name} give what a GPU has`, async () => {
    using device = await openPretended(profileNamed("subgroups of 32,32, 32 KiB"));
    const y = device.buffer("y", 128 * 4, "test");
    const dispatch = device.kernel({ name: "pretended", source: code }).bind({ y });
    submit(device, (pass) => {
      pass.setPipeline(dispatch.kernel.pipeline);
      pass.setBindGroup(0, dispatch.bindGroup);
      pass.dispatchWorkgroups(1);
    });
    // One statement after the other.
    const expected = Float32Array.from({ length: 128 }, (_, i) => i < 64 ? i : 2 * (i - 64));
    if (neighbours) {
      assertEquals(await readFloats(device, y, 128), sums(expected, neighbours));
    } else {
      for (const [, variable, k] of statements.matchAll(/(\w) \+= .+u32\((\d)\)/g)) {
        const first = variable === "a" ? 0 : 64;
        const before = expected.slice();
        for (let i = first; i < first + 64; i++) expected[i] += before[i ^ (1 << Number(k))];
      }
      assertEquals(await readFloats(device, y, 128), expected);
    }
  });
}

function sums(values: Float32Array, neighbours: number): Float32Array {
  return values.map((_, i) => {
    const first = i - i % neighbours;
    return values.subarray(first, first + neighbours).reduce((a, b) => a + b);
  });
}
