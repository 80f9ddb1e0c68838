// Attention on the host's side: the kernel over all rows, heads and parts of positions, or over tiles if
// these have several rows. The positions that each row attends to are in spans.ts.

import { type Activation, type FloatRows, GROUP, isQuantized } from "../../ops/activation.ts";
import { alibiSlopes, type AttentionOptions, type AttentionTiling } from "../../ops/attention.ts";
import type { AttentionState, HeadShape, LayerCache } from "../../ops/kv_cache.ts";
import {
  addAttention,
  ATTENTION_ARGUMENTS,
  attentionPanelBytes,
  type AttentionShape,
  rowGroup,
} from "./kernel.ts";
import { addCombineParts, COMBINE_PARTS_ARGUMENTS, PARTIAL_EXTRA, SPAN } from "./parts_kernel.ts";
import { addAttentionTile, ATTENTION_TILE_ARGUMENTS, attentionTileSize } from "./tile_kernel.ts";
import { cacheKernels } from "./cache.ts";
import type { KernelCall } from "../calls.ts";
import { type CpuCore, floatBits } from "../core.ts";
import { keepCalls } from "../kept_calls.ts";
import { inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { panelModule } from "../modules.ts";
import { PANEL_BYTES } from "../linear/kernel.ts";
import { sharedSpans } from "./spans.ts";

/** Rows that tiles may have for heads of a shape. */
export function mostTileRows(heads: HeadShape): number {
  return Math.max(1, tileSizeOf(heads).rows);
}

function tileSizeOf({ heads, kvHeads, headDim, valueDim = headDim }: HeadShape) {
  return attentionTileSize({ headDim, valueDim }, heads / kvHeads, PANEL_BYTES);
}

/** softmax(q k^T * scale) v over the cache. */
export function attention(
  core: CpuCore,
  qkv: FloatRows,
  cache: LayerCache,
  state: AttentionState,
  y: Activation,
  options: AttentionOptions,
  tiling: AttentionTiling,
) {
  const { heads, kvHeads, headDim, valueDim = headDim, sharedValues = false } = options;
  const isTiled = tiling.tileRows > 1;
  const share = heads / kvHeads;
  const shape: AttentionShape = {
    group: isTiled ? tileSizeOf(options).group : rowGroup(share),
    headDim,
    valueDim,
    sharedValues,
    keyType: cache.types.keys,
    valueType: cache.types.values,
    hasMadd: core.machine !== "widened",
  };
  const fits = isTiled
    ? tileSizeOf(options).rows >= tiling.tileRows
    : attentionPanelBytes(shape) <= PANEL_BYTES;
  if (!fits) {
    throw new RangeError(
      `Cannot attend with heads of ${headDim} and values of ${valueDim}: ` +
        `${tiling.tileRows} rows of them do not fit a thread's memory`,
    );
  }
  // Rows that decode and rows of prompts attend one after the other, and are quantized together.
  const target = isQuantized(y)
    ? core.kept("attended", y.groups.size / core.groupBytes * GROUP * 4)
    : cpu(y.floats);
  const kernels = cacheKernels(
    core,
    `attention ${isTiled ? "tile " : ""}${Object.values(shape)}`,
    cache,
    (module, memories) => (isTiled ? addAttentionTile : addAttention)(module, memories, shape),
  );
  const combine = core.kernels(
    `combine parts ${valueDim}`,
    () => panelModule((module, work, panel) => addCombineParts(module, work, panel, valueDim)),
  );
  const spans = sharedSpans(core, state, options, tiling);
  const sinks = options.sinks ? cpu(options.sinks).address : 0;
  const slopes = options.alibi ? slopesOf(core, heads, options.alibi) : 0;
  const attend = keepCalls(
    core,
    (count: number, address: number, begin: number, last: number, parts: number) => {
      // Rows before the first tile decode beside prompts, and are computed without tiles.
      const from = isTiled ? 0 : begin;
      const shared = {
        spans: address + SPAN.bytes * from,
        y: target.address + 4 * from * y.stride,
        yStride: 4 * y.stride,
      };
      const groups = share / shape.group;
      const values = {
        ...shared,
        q: cpu(qkv.floats).address + 4 * (from * qkv.stride + (options.first ?? 0)),
        stride: 4 * qkv.stride,
        keys: cpu(cache.keys).address,
        values: cpu(cache.values ?? cache.keys).address,
        ...{ kvHeads, groups, sinks, slopes },
        softcap: floatBits(options.softcap ?? 0),
      };
      const heads = kvHeads * share;
      const phases: KernelCall[][] = [];
      if (isTiled) {
        const words = inOrder(ATTENTION_TILE_ARGUMENTS, {
          ...values,
          tiles: cpu(tiling.tiles).address,
        });
        const items = count * kvHeads * groups;
        phases.push([{ kernels, name: "attention_tile", arguments: words, items, grain: 1 }]);
      } else {
        const items = (last - begin) * kvHeads * groups * parts;
        const floats = parts > 1 ? (last - begin) * heads * parts * (valueDim + PARTIAL_EXTRA) : 0;
        // The memory rarely has to grow, because a sequence gets a new part only after PART steps.
        const partials = floats && core.temporary(2 ** Math.ceil(Math.log2(4 * floats))).address;
        const words = inOrder(ATTENTION_ARGUMENTS, { ...values, parts, partials });
        phases.push([{ kernels, name: "attention", arguments: words, items }]);
        if (parts > 1) {
          const words = inOrder(COMBINE_PARTS_ARGUMENTS, { ...shared, partials, parts, heads });
          const items = (last - begin) * heads;
          phases.push([{ kernels: combine, name: "combine_parts", arguments: words, items }]);
        }
      }
      if (isQuantized(y)) {
        const quantizing = core.quantizing(target, cpu(y.groups), last, y.stride / GROUP);
        phases.push([{ ...quantizing, items: last }]);
      }
      return phases;
    },
  );
  return (count: number) => {
    const [address, begin, last, parts] = spans.of(count);
    if (last > 0) attend(count, address, begin, last, isTiled ? 1 : parts);
  };
}

/** The address of the biases per position of distance of each head. */
function slopesOf(core: CpuCore, heads: number, alibi: number): number {
  const buffer = core.kept(`slopes ${alibi}`, 4 * heads);
  if (!core.isDry) buffer.floats.set(alibiSlopes(heads, alibi));
  return buffer.address;
}
