// The spans of positions that the rows of a step attend to, which layers with the same window share.

import type { AttentionOptions, AttentionTiling } from "../../ops/attention.ts";
import type { AttentionState } from "../../ops/kv_cache.ts";
import { QUERY_TILE, STEP_ROW } from "../../ops/step_records.ts";
import type { CpuCore } from "../core.ts";
import { cpu, type CpuBuffer, giveBuffer, takeBuffer } from "../memory.ts";
import { SPAN } from "./parts_kernel.ts";
import { PART } from "./softmax.ts";

/** The rows of some tiles: where their spans are, the first row, the one after the last, the most parts of one. */
export type SpanCounts = readonly [address: number, begin: number, last: number, parts: number];

/** The positions that a query sees, from the first to before the last. */
function seenBy(
  { window, causal = true, bidirectionalImages = false }: AttentionOptions,
  position: number,
  end: number,
  imageEnd: number,
): readonly [first: number, after: number] {
  const size = window?.size ?? 0;
  let first = 0;
  if (window?.kind === "sliding") first = Math.max(0, position + 1 - size);
  if (window?.kind === "chunked") first = position - position % size;
  if (window?.kind === "symmetric") first = Math.max(0, position - Math.floor(size / 2));
  if (causal) return [first, bidirectionalImages ? Math.max(position + 1, imageEnd) : position + 1];
  if (window?.kind !== "symmetric") return [first, end];
  return [first, Math.min(end, position + Math.floor(size / 2) + 1)];
}

/** The factor of queries at a position. */
function queryFactorAt({ temperature }: AttentionOptions, position: number): number {
  if (!temperature) return 1;
  const { scale, offset, length } = temperature;
  return 1 + scale * Math.log(Math.floor((position + offset) / length) + 1);
}

/** Number of parts of the positions from `first` to before `after`; one if there are no positions. */
function partsOf(first: number, after: number): number {
  return Math.max(1, Math.ceil(after / PART) - Math.floor(first / PART));
}

/** Spans by the tiles whose rows have them, and by the options on which they depend. */
const SHARED = new WeakMap<object, Map<string, Spans>>();

/** The spans of all attention operations over the same tiles whose rows see the same positions. */
export function sharedSpans(
  core: CpuCore,
  state: AttentionState,
  options: AttentionOptions,
  { tiles }: AttentionTiling,
): Spans {
  const { window, causal, bidirectionalImages, scale, temperature } = options;
  const key = JSON.stringify([window, causal, bidirectionalImages, scale, temperature]);
  let ofTiles = SHARED.get(tiles);
  if (!ofTiles) SHARED.set(tiles, ofTiles = new Map());
  let spans = ofTiles.get(key);
  if (!spans) ofTiles.set(key, spans = new Spans(core, state, options, cpu(tiles).words));
  return spans;
}

/** Spans in memory, written once for a step. */
export class Spans {
  readonly #core: CpuCore;
  readonly #options: AttentionOptions;
  readonly #tiles: Uint32Array;
  readonly #rows: Uint32Array;
  readonly #table: number;
  readonly #maxBlocks: number;
  #memory: CpuBuffer | undefined;
  /** The number of tiles for which they are written, and the core's flushes until then. */
  #count = -1;
  #writtenAt = -1;
  #counts: SpanCounts = [0, Infinity, 0, 1];

  constructor(
    core: CpuCore,
    { rows, table, maxBlocks }: AttentionState,
    options: AttentionOptions,
    tiles: Uint32Array,
  ) {
    this.#core = core;
    this.#options = options;
    this.#tiles = tiles;
    this.#rows = cpu(rows).words;
    this.#table = cpu(table).address;
    this.#maxBlocks = maxBlocks;
  }

  /** Writes the spans of a number of tiles, unless they are there since the last flush. */
  of(count: number): SpanCounts {
    const core = this.#core;
    if (this.#writtenAt === core.flushes && this.#count === count) return this.#counts;
    const counts = this.#write(count);
    this.#writtenAt = core.flushes;
    this.#count = count;
    core.note(() => this.#write(count).every((number, i) => number === counts[i]));
    return this.#counts = counts;
  }

  /** Rows without a tile attend to nothing. */
  #write(count: number): SpanCounts {
    const [tile, span] = [QUERY_TILE.word, SPAN.word];
    const tiles = this.#tiles;
    const options = this.#options;
    const most = QUERY_TILE.words * count;
    let [begin, last, parts] = [Infinity, 0, 1];
    for (let at = 0; at < most; at += QUERY_TILE.words) {
      const first = tiles[at + tile.firstRow]!;
      begin = Math.min(begin, first);
      last = Math.max(last, first + tiles[at + tile.rows]!);
    }
    const { address, words, floats } = this.#take(last);
    words.fill(0, 0, SPAN.words * last);
    for (let at = 0; at < most; at += QUERY_TILE.words) {
      const first = tiles[at + tile.firstRow]!;
      const after = first + tiles[at + tile.rows]!;
      const imageEnd = tiles[at + tile.imageEnd]!;
      const end = tiles[at + tile.end] || this.#ofRow(after - 1, "position") + 1;
      for (let row = first; row < after; row++) {
        const position = this.#ofRow(row, "position");
        const [from, to] = seenBy(options, position, end, imageEnd);
        const at = SPAN.words * row;
        words[at + span.begin] = from;
        words[at + span.end] = to;
        words[at + span.table] = this.#table + 4 * this.#ofRow(row, "slot") * this.#maxBlocks;
        floats[at + span.scale] = options.scale * queryFactorAt(options, position);
        words[at + span.position] = position;
        parts = Math.max(parts, partsOf(from, to));
      }
    }
    return [address, begin, last, parts];
  }

  #ofRow(row: number, field: "position" | "slot"): number {
    return this.#rows[STEP_ROW.words * row + STEP_ROW.word[field]]!;
  }

  #take(rows: number): CpuBuffer {
    const { work } = this.#core;
    if (this.#memory && this.#memory.size >= SPAN.bytes * rows) return this.#memory;
    if (this.#memory) giveBuffer(work, this.#memory);
    return this.#memory = takeBuffer(work, "spans", SPAN.bytes * 2 * rows);
  }
}
