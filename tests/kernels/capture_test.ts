// Captured passes: they encode what was encoded before, call for call, and leave out counts of one.

import { assertEquals } from "@std/assert";
import type { Pass } from "../../kernels/mod.ts";
import { captureDispatches } from "../../kernels/webgpu/device.ts";

/** A pass that notes what each dispatch runs: pipeline, bind group and workgroups. */
function notingPass() {
  let [pipeline, bindGroup]: unknown[] = [];
  const dispatched: unknown[][] = [];
  const pass = {
    setPipeline: (set: unknown) => void (pipeline = set),
    setBindGroup: (_: number, set: unknown) => void (bindGroup = set),
    dispatchWorkgroups: (...counts: number[]) =>
      void dispatched.push([pipeline, bindGroup, ...counts]),
  };
  return { pass: pass as unknown as GPUComputePassEncoder, dispatched };
}

Deno.test("a captured pass encodes the same dispatches into any number of passes", () => {
  let runs = 0;
  const encode = (pass: GPUComputePassEncoder) => {
    runs++;
    const dispatches = [["a", "x", 1, 2, 3], ["a", "y", 4], ["b", "y", 5, 6], ["b", "y", 7], [
      "a",
      "x",
      1,
      2,
      3,
    ]];
    for (const [pipeline, group, ...[x, y, z]] of dispatches) {
      pass.setPipeline(pipeline as unknown as GPUComputePipeline);
      pass.setBindGroup(0, group as unknown as GPUBindGroup);
      pass.dispatchWorkgroups(x as number, y as number, z as number);
    }
  };
  const [replay] = captureDispatches((pass: Pass) => encode(pass as GPUComputePassEncoder));
  const [first, second] = [notingPass(), notingPass()];
  replay!(first.pass);
  replay!(second.pass);
  const expected = [
    ["a", "x", 1, 2, 3],
    ["a", "y", 4],
    ["b", "y", 5, 6, 1],
    ["b", "y", 7],
    ["a", "x", 1, 2, 3],
  ];
  assertEquals(first.dispatched, expected);
  assertEquals(second.dispatched, expected);
  assertEquals(runs, 1);
});

Deno.test("a captured pass in two parts sets all that each of them needs", () => {
  const encode = (pass: GPUComputePassEncoder) => {
    for (const count of [1, 2, 3]) {
      pass.setPipeline("a" as unknown as GPUComputePipeline);
      pass.setBindGroup(0, "x" as unknown as GPUBindGroup);
      pass.dispatchWorkgroups(count);
    }
  };
  for (
    const [most, counts] of [[1, [[1], [2, 3]]], [2, [[1, 2], [3]]], [3, [[1, 2, 3]]]] as const
  ) {
    const parts = captureDispatches((pass: Pass) => encode(pass as GPUComputePassEncoder), most);
    const dispatched = parts.map((replay) => {
      const { pass, dispatched } = notingPass();
      replay(pass);
      return dispatched;
    });
    assertEquals(dispatched, counts.map((part) => part.map((count) => ["a", "x", count])));
  }
});
