// Windows of an encoder's rows: groups that attend to each other, perhaps a single group of all. For the
// attention kernels a window is a sequence without a causal mask. Keys and values are in a paged cache
// that all layers share, since an image or a sound is encoded in one step.

import {
  BLOCK,
  type Device,
  type LayerCache,
  layerCacheBytes,
  QUERY_TILE,
  STEP_ROW,
  typesOf,
} from "../../kernels/mod.ts";
import { allocateStep, type Heads, type StepState } from "../nn/mod.ts";

/** Limits of the windows' sizes, in rows. */
export interface WindowSizes {
  largest: number;
  /** Fewest rows of a window, except for one window that may be smaller. */
  smallest: number;
}

/** The windows of a step's rows. */
export class Windows {
  readonly state: StepState;
  readonly cache: LayerCache;
  /** Number of query tiles of the current step. */
  tiles = 0;
  /** Rows of its largest window. */
  longest = 0;
  /** Most query rows of a tile. */
  readonly tileRows: number;
  readonly #device: Device;

  /**
   * @param rows most rows of a step
   * @param half whether keys and values are f16
   */
  constructor(
    device: Device,
    rows: number,
    { largest, smallest }: WindowSizes,
    heads: Heads,
    half: boolean,
  ) {
    this.#device = device;
    this.tileRows = device.mostTileRows(heads);
    const slots = Math.floor(rows / smallest) + 1;
    this.state = allocateStep(device, { rows, outputs: 1, slots, context: largest });
    const blocks = Math.ceil(rows / Math.min(smallest, BLOCK)) + 1;
    const types = typesOf(half ? "f16" : "f32");
    const buffer = (part: "keys" | "values") =>
      device.buffer(part, layerCacheBytes(heads, blocks, types, part), "cache");
    this.cache = { keys: buffer("keys"), values: buffer("values"), types };
  }

  /** Writes the windows of a step. @param windowOf index of the window of each row */
  write(windowOf: ArrayLike<number>): void {
    const rows = STEP_ROW.list(windowOf.length);
    const tiles: { firstRow: number; rows: number; window: number }[] = [];
    const sizes: number[] = [];
    for (let row = 0; row < windowOf.length; row++) {
      const window = windowOf[row];
      const position = sizes[window] ?? 0;
      sizes[window] = position + 1;
      rows.add({ token: 0, position, slot: window, time: 0, height: 0, width: 0 });
      const last = tiles.at(-1);
      if (last?.window === window && last.rows < this.tileRows) last.rows++;
      else tiles.push({ firstRow: row, rows: 1, window });
    }
    const packed = tiles.map(({ firstRow, rows, window }) => {
      return { firstRow, rows, end: sizes[window], imageEnd: 0 };
    });
    this.tiles = tiles.length;
    this.longest = sizes.reduce((most, size) => Math.max(most, size), 0);
    this.#device.write(this.state.rows, 0, rows.packed);
    this.#device.write(this.state.prefillTiles, 0, QUERY_TILE.pack(packed));
    this.#device.write(this.state.table, 0, this.#blocksOf(sizes));
  }

  /** The numbers of the KV blocks of each window: [windows, maxBlocks]. */
  #blocksOf(sizes: readonly number[]): Uint32Array {
    const { maxBlocks } = this.state;
    const table = new Uint32Array(sizes.length * maxBlocks);
    let next = 0;
    sizes.forEach((size, window) => {
      for (let block = 0; block < Math.ceil(size / BLOCK); block++) {
        table[window * maxBlocks + block] = next++;
      }
    });
    return table;
  }
}
