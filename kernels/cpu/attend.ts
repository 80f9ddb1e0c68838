// Attention on the host's side: the span of positions that each row sees, and the kernel over all rows
// and heads, or over tiles where those have several rows. Biases by distance (ALiBi), caches that hold
// values in their keys, and heads that do not fit a thread's memory go the plain way.

import { type Activation, type FloatRows, GROUP, isQuantized } from "../ops/activation.ts";
import type { AttentionOptions, AttentionTiling } from "../ops/attention.ts";
import type { AttentionState, HeadShape, LayerCache } from "../ops/kv_cache.ts";
import {
  addAttention,
  ATTENTION_ARGUMENTS,
  attentionPanelBytes,
  type AttentionShape,
  SPAN_WORDS,
} from "./attention.ts";
import { addAttentionTile, ATTENTION_TILE_ARGUMENTS, attentionTileRows } from "./attention_tile.ts";
import { type CpuCore, floatBits } from "./core.ts";
import { cpu, type CpuBuffer, giveBuffer, takeBuffer } from "./memory.ts";
import { panelModule } from "./modules.ts";
import { attention as plainAttention, heatAt, seenBy } from "./plain/attention.ts";
import { PANEL_BYTES } from "./product.ts";

/** Rows of a tile at most: enough for keys and values to be read seldom, few enough to share out. */
const MOST_TILE_ROWS = 16;

/** Rows that tiles may have for heads of a shape. */
export function mostTileRows({ heads, kvHeads, headDim, valueDim = headDim }: HeadShape): number {
  const rows = attentionTileRows({ share: heads / kvHeads, headDim, valueDim }, PANEL_BYTES);
  return Math.max(1, Math.min(MOST_TILE_ROWS, rows));
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
  const shape: AttentionShape = {
    share: heads / kvHeads,
    headDim,
    valueDim,
    half: cache.half,
    hasMadd: core.machine !== "widened",
  };
  const tiles = cpu(tiling.tiles).words;
  /** The rows that tiles are of: the first, and one past the last. */
  const rowsOf = (count: number): [first: number, after: number] => {
    let [first, after] = [Infinity, 0];
    for (let tile = 0; tile < count; tile++) {
      first = Math.min(first, tiles[4 * tile]);
      after = Math.max(after, tiles[4 * tile] + tiles[4 * tile + 1]);
    }
    return [first, after];
  };
  // Rows that decode and rows of prompts attend one after the other, and are quantized together.
  const target = isQuantized(y)
    ? core.kept("attended", y.groups.size / core.groupBytes * GROUP * 4)
    : cpu(y.floats);
  const finish = (after: number) => {
    if (isQuantized(y)) core.quantize(target, cpu(y.groups), after, y.stride / GROUP);
  };
  const fits = attentionPanelBytes(shape) <= PANEL_BYTES;
  if (options.alibi || sharedValues || !fits) {
    const results = { floats: target.floats, stride: y.stride };
    const attend = plainAttention(qkv, cache, state, results, options, tiling);
    return (count: number) => {
      core.flush();
      attend(count);
      finish(rowsOf(count)[1]);
    };
  }
  const isTiled = tiling.tileRows > 1;
  const kernels = core.kernels(
    `attention ${isTiled ? "tile " : ""}${Object.values(shape)}`,
    () =>
      panelModule((module, work, panel) =>
        (isTiled ? addAttentionTile : addAttention)(module, work, panel, shape)
      ),
  );
  const rows = cpu(state.rows).words;
  const sinks = options.sinks ? cpu(options.sinks).address : 0;
  let spans: CpuBuffer | undefined;

  const spanBuffer = (count: number) => {
    if (spans && spans.size >= 4 * SPAN_WORDS * count) return spans;
    if (spans) giveBuffer(core.work, spans);
    return spans = takeBuffer(core.work, "spans", 4 * SPAN_WORDS * 2 * count);
  };
  /** Writes the spans of the rows of tiles; those of no tile see nothing. */
  const writeSpans = (count: number, last: number) => {
    const { words, floats, address } = spanBuffer(last);
    words.fill(0, 0, SPAN_WORDS * last);
    for (let tile = 0; tile < count; tile++) {
      const [first, rowCount, end, imageEnd] = tiles.subarray(4 * tile, 4 * tile + 4);
      for (let row = first; row < first + rowCount; row++) {
        const [, position, slot] = rows.subarray(4 * row, 4 * row + 3);
        const [from, after] = seenBy(options, position, Math.max(end, position + 1), imageEnd);
        const table = cpu(state.table).address + 4 * slot * state.maxBlocks;
        words.set([from, after, table], SPAN_WORDS * row);
        floats[SPAN_WORDS * row + 3] = options.scale * heatAt(options, position);
      }
    }
    return address;
  };
  return (count: number) => {
    const [begin, last] = rowsOf(count);
    const spans = writeSpans(count, last);
    // Rows before the first tile are others': decoding ones, in a step that prefills too.
    const from = isTiled ? 0 : begin;
    const values: Record<string, number> = {
      tiles: cpu(tiling.tiles).address,
      spans: spans + 4 * SPAN_WORDS * from,
      q: cpu(qkv.floats).address + 4 * (from * qkv.stride + (options.first ?? 0)),
      stride: 4 * qkv.stride,
      keys: cpu(cache.keys).address,
      values: cpu(cache.values!).address,
      kvHeads,
      y: target.address + 4 * from * y.stride,
      yStride: 4 * y.stride,
      sinks,
      softcap: floatBits(options.softcap ?? 0),
    };
    const [name, names] = isTiled
      ? ["attention_tile", ATTENTION_TILE_ARGUMENTS] as const
      : ["attention", ATTENTION_ARGUMENTS] as const;
    const words = names.map((name) => values[name]!);
    const items = (isTiled ? count : last - begin) * kvHeads;
    core.run([{ kernels, name, arguments: words, items, ...(isTiled ? { grain: 1 } : {}) }]);
    finish(last);
  };
}
