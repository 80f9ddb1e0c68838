// Rotation on the host's side: the kernel where it can do what is asked for.

import type { FloatRows } from "../ops/activation.ts";
import type { AttentionState, LayerCache } from "../ops/kv_cache.ts";
import type { RotateOptions } from "../ops/rotate.ts";
import type { CpuCore } from "./core.ts";
import { cpu } from "./memory.ts";
import { panelModule } from "./modules.ts";
import { PANEL_BYTES } from "./product.ts";
import {
  addRotation,
  ROTATION_ARGUMENTS,
  rotationPanelBytes,
  type RotationShape,
} from "./rotation.ts";

/** RoPE, and keys and values into the cache; undefined where the kernel cannot do what is asked for. */
export function rotate(
  core: CpuCore,
  qkv: FloatRows,
  cache: LayerCache | undefined,
  state: AttentionState,
  options: RotateOptions,
) {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
  const { rotary, rotaryStart = 0, halfPairs, first = 0, sections } = options;
  const cached = cache !== undefined && kvHeads > 0;
  const shape: RotationShape = {
    headDim,
    valueDim,
    rotary,
    rotaryStart,
    halfPairs,
    cached,
    hasValues: cached && !sharedValues,
    half: cached && cache.half,
  };
  const isPlain = rotary % 8 !== 0 || rotationPanelBytes(shape) > PANEL_BYTES;
  // Keys that turn in place, for want of a cache, are queries to the kernel.
  if (isPlain || sections?.sections?.length || (!cached && kvHeads > 0)) return undefined;
  const kernels = core.kernels(
    `rotate ${Object.values(shape)}`,
    () => panelModule((module, work, panel) => addRotation(module, work, panel, shape)),
  );
  const values: Record<string, number> = {
    rows: cpu(state.rows).address,
    qkv: cpu(qkv.floats).address,
    stride: 4 * qkv.stride,
    first: 4 * first,
    low: rotary > 0 ? cpu(options.lowTurns!).address : 0,
    high: rotary > 0 ? cpu(options.highTurns!).address : 0,
    table: cpu(state.table).address,
    maxBlocks: state.maxBlocks,
    keys: cached ? cpu(cache.keys).address : 0,
    values: shape.hasValues ? cpu(cache!.values!).address : 0,
    heads,
    kvHeads: cached ? kvHeads : 0,
  };
  const words = ROTATION_ARGUMENTS.map((name) => values[name]!);
  return (rows: number) => core.run([{ kernels, name: "rotate", arguments: words, items: rows }]);
}
