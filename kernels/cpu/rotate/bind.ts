// Rotation on the host's side: chooses the kernel, and passes it the addresses of its operands.

import type { FloatRows } from "../../ops/activation.ts";
import type { AttentionState, LayerCache } from "../../ops/kv_cache.ts";
import { LOW_POSITIONS } from "../../ops/rope_tables.ts";
import { headNorms, type RotarySections, type RotateOptions } from "../../ops/rotate.ts";
import { cacheKernels } from "../attention/cache.ts";
import type { CpuCore } from "../core.ts";
import { inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { norm } from "../norm.ts";
import { addRotation, ROTATION_ARGUMENTS, type RotationShape } from "./kernel.ts";

/** RoPE on queries and keys. Keys and values go into the cache. */
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
  const parts = sections && rotary > 0 ? partsOf(rotary / 2, sections) : undefined;
  const shape: RotationShape = {
    headDim,
    valueDim,
    rotary,
    rotaryStart,
    halfPairs,
    cached,
    hasValues: cached && !sharedValues,
    keyType: cached ? cache.types.keys : "f32",
    valueType: cached ? cache.types.values : "f32",
    parts,
  };
  const kernels = cacheKernels(
    core,
    `rotate ${Object.values(shape)}`,
    cached ? cache : undefined,
    (module, memories) => addRotation(module, memories, shape),
  );
  const angles = rotary > 0 ? cpu(options.angles!).address : 0;
  const words = inOrder(ROTATION_ARGUMENTS, {
    rows: cpu(state.rows).address,
    qkv: cpu(qkv.floats).address,
    stride: 4 * qkv.stride,
    first: 4 * first,
    low: angles,
    high: angles + LOW_POSITIONS * 4 * rotary,
    table: cpu(state.table).address,
    maxBlocks: state.maxBlocks,
    keys: cached ? cpu(cache.keys).address : 0,
    values: shape.hasValues ? cpu(cache!.values!).address : 0,
    // Without a cache, keys are rotated in place, as queries are.
    heads: cached ? heads : heads + kvHeads,
    kvHeads: cached ? kvHeads : 0,
  });
  const normed = headNorms(options).map(({ norm: own, vectors }) =>
    norm(core, qkv, qkv, own, { vectors })
  );
  return (rows: number) => {
    for (const run of normed) run(rows);
    core.run([{ kernels, name: "rotate", arguments: words, items: rows }]);
  };
}

/**
 * The component of an M-RoPE position that rotates each pair; undefined if it is the position in
 * the cache.
 */
function partsOf(
  pairs: number,
  { sections = [], interleaved = false }: RotarySections,
): number[] | undefined {
  if (sections.length === 0) return undefined;
  const [time = 0, height = 0, width = 0, other = 0] = sections;
  return Array.from({ length: pairs }, (_, pair) => {
    const at = pair % (time + height + width + other);
    return interleaved ? at % 3 : Number(at >= time) + Number(at >= time + height);
  });
}
