// The layers by which a device is proved: one of each kind, where layers are of one kind if they have
// the same operations over the same formats and widths. The second layer is always among them, because
// the end of one layer and the beginning of the next may be one kernel.

import type { Device } from "../../kernels/mod.ts";
import type { StepOperation } from "../nn/mod.ts";

/** Most layers: a model whose layers all differ would otherwise run whole on the CPU. */
const MOST_LAYERS = 6;

/** The layers on a device that are worth comparing, in order. */
export function layersToProve(operations: readonly StepOperation[], device: Device): number[] {
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
  const second = layers.slice(1, 2);
  return [...new Set([...layers.slice(0, 1), ...second, ...kinds.values()])]
    .slice(0, MOST_LAYERS).sort((a, b) => a - b);
}

function kindOf({ name, outputName = "", output }: StepOperation): string {
  return `${name} ${outputName} ${output?.columns ?? ""}`;
}
