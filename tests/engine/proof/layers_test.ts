// Which layers of a model are compared, and which of their operations.

import { assertEquals } from "@std/assert";
import { layersToProve, operationsOf } from "../../../engine/proof/layers.ts";
import type { StepOperation } from "../../../engine/nn/mod.ts";
import type { Device } from "../../../kernels/mod.ts";

const [GPU, CPU] = [{}, {}] as [Device, Device];

/** The operations of layers whose last product is of a format. */
function operationsWith(formats: readonly string[], device = GPU): StepOperation[] {
  const layers = formats.flatMap((format, layer) =>
    ["norm", "linear Q4_K", "attention", `linear ${format}`]
      .map((name) => ({ name, layer, device, outputName: name }))
  );
  return [{ name: "embed" }, ...layers, { name: "logits" }] as StepOperation[];
}

Deno.test("one layer of each kind is compared, and of the second the beginning", () => {
  const operations = operationsWith(["Q4_K", "Q4_K", "Q6_K", "Q4_K", "Q6_K"]);
  const layers = layersToProve(operations, GPU);
  assertEquals([...layers], [[0, "whole"], [2, "whole"], [1, "beginning"]]);
  assertEquals(
    operationsOf(operations, layers).map(({ name, layer = "" }) => `${name} ${layer}`.trim()),
    [
      "embed",
      ...["norm 0", "linear Q4_K 0", "attention 0", "linear Q4_K 0"],
      ...["norm 1", "linear Q4_K 1"],
      ...["norm 2", "linear Q4_K 2", "attention 2", "linear Q6_K 2"],
      "logits",
    ],
  );
});

Deno.test("layers on another device are not compared, and at most six kinds are", () => {
  const formats = Array.from({ length: 9 }, (_, i) => `kind ${i}`);
  const onCpu = operationsWith(["Q4_K", "Q4_K"], CPU);
  const onGpu = operationsWith(formats).map((operation) => ({
    ...operation,
    ...(operation.layer !== undefined && { layer: operation.layer + 2 }),
  }));
  const layers = layersToProve([...onCpu, ...onGpu], GPU);
  assertEquals([...layers.keys()], [2, 3, 4, 5, 6, 7]);
});
