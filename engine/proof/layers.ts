// The layers by which a device is proved: one of each kind, where layers are of one kind if they have
// the same operations over the same formats and widths. Of the second layer the beginning is always
// among them, because the end of one layer and the beginning of the next may be one kernel.

import type { Device } from "../../kernels/mod.ts";
import type { StepOperation } from "../nn/mod.ts";

/** Most layers: a model whose layers all differ would otherwise run whole on the CPU. */
const MOST_LAYERS = 6;

/** Layers, and how much of each is compared: all, or the operations up to its first product. */
export type ProvedLayers = ReadonlyMap<number, "whole" | "beginning">;

/** The layers on a device that are worth comparing, in order. */
export function layersToProve(operations: readonly StepOperation[], device: Device): ProvedLayers {
  const kinds = new Map<string, number>();
  const own = Map.groupBy(
    operations.filter((operation) => operation.layer !== undefined),
    ({ layer }) => layer!,
  );
  const layers = [...own.keys()].sort((a, b) => a - b)
    .filter((layer) => own.get(layer)!.some((operation) => operation.device === device));
  for (const layer of layers) {
    const kind = own.get(layer)!.map(kindOf).join();
    if (!kinds.has(kind)) kinds.set(kind, layer);
  }
  const whole = [...kinds.values()].slice(0, MOST_LAYERS);
  const chosen = new Map<number, "whole" | "beginning">(whole.map((layer) => [layer, "whole"]));
  const second = layers[1];
  if (second !== undefined && !chosen.has(second)) chosen.set(second, "beginning");
  return chosen;
}

/** The operations of these layers, and those of no layer. */
export function operationsOf(
  operations: readonly StepOperation[],
  layers: ProvedLayers,
): StepOperation[] {
  const ended = new Set<number>();
  return operations.filter(({ layer, name }) => {
    if (layer === undefined) return true;
    if (!layers.has(layer) || ended.has(layer)) return false;
    if (layers.get(layer) === "beginning" && name.startsWith("linear ")) ended.add(layer);
    return true;
  });
}

function kindOf({ name, outputName = "", output }: StepOperation): string {
  return `${name} ${outputName} ${output?.columns ?? ""}`;
}
