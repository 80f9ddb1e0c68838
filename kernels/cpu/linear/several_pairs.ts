// Products of some tokens, of as many sequences as decode at once or of a short prompt, where V8 joins
// vectors. Each group of two bands is put at a constant address and multiplied with all tokens, four at a
// time, whose sums over groups are in memory. So weights are read once, in two long runs, and unpacked once.

import { type FunctionBuilder, i32, type Local, type ModuleBuilder, v128 } from "../wasm/mod.ts";
import { forBandsApart } from "./band_pairs.ts";
import { PRODUCT_ARGUMENTS } from "./bands.ts";
import { inputFor, type StoredSums, storedSums } from "./stored_sums.ts";
import { type BandFormat, blockBytes, GROUP } from "../formats/format.ts";
import { addKernel } from "../kernel.ts";
import { activationBytes } from "../quantize/kernel.ts";
import { stageGroup } from "./panel.ts";
import { addStagedGroup, type GroupSource, type Product, type ProductMemories } from "./tile.ts";
import { bandsCursor } from "./walk.ts";

/** Tokens that are multiplied with a staged group: more would be too much code for the CPU's cache. */
const MOST = 16;
/** Bytes for a staged group. */
const STAGE_BYTES = 2048;

/** Tokens of a tile: their inputs and sums. */
interface Tile {
  /** The index of its first token. */
  readonly first: number;
  readonly inputs: readonly Local<"i32">[];
  readonly sums: readonly StoredSums[];
}

/**
 * Adds `several_pairs(record, first, last)` (PRODUCT_ARGUMENTS), without experts.
 *
 * @param size tokens that are multiplied at a time
 */
export function addSeveralPairs(
  module: ModuleBuilder,
  product: Product,
  format: BandFormat,
  size: number,
): void {
  const { method, memories } = product;
  const kernel = { name: "several_pairs", takes: PRODUCT_ARGUMENTS };
  addKernel(module, memories.work, kernel, (f, given, first, last) => {
    const groupStride = f.let(i32.mul(given.all, activationBytes(method.isWide)));
    const items = { first, last, blockBytes: blockBytes(format), most: MOST, tile: size };
    forBandsApart(f, memories, given, items, (begins, tokens) => {
      const tiles = tilesOf(f, memories, tokens, size);
      const eachTile = (body: (tile: Tile) => void) => {
        for (const tile of tiles) {
          if (tile.first === 0) body(tile);
          else f.if(i32.lt_u(tile.first, tokens), () => body(tile));
        }
      };
      const zero = v128.const(new Uint8Array(16));
      eachTile(({ sums }) => sums.forEach(({ store }) => store(new Array(4).fill(zero))));
      const left = f.let(i32.mul(given.blocks, format.source.blockSize / GROUP));
      const multiply = (group: GroupSource) => {
        eachTile(({ inputs, sums }) => {
          addStagedGroup(f, product, group, inputs, sums);
          for (const x of inputs) f.increase(x, groupStride);
        });
        f.set(left, i32.sub(left, 1));
      };
      const cursor = bandsCursor(f, product, format, begins);
      const stage = (place: number) => stageGroup(f, product, cursor.group(), place);
      if (format.inSteps) {
        f.doWhile(() => {
          multiply(stage(0));
          f.if(left, cursor.next);
        }, left);
        return;
      }
      // Codes by rows are stored by 16 bytes and read by 32, for which a CPU waits until they are in its
      // cache. So those of the next group are stored before.
      const stageNext = (place: number) => {
        f.if(i32.ne(left, 1), cursor.next);
        return stage(place);
      };
      const even = stage(0);
      f.doWhile(() => {
        const odd = stageNext(STAGE_BYTES);
        multiply(even);
        f.if(left, () => {
          stageNext(0);
          multiply(odd);
        });
      }, left);
    });
  });
}

/** Tiles of all tokens that there may be. The last token fills the tile that it is in. */
function tilesOf(
  f: FunctionBuilder,
  { panel }: ProductMemories,
  tokens: Local<"i32">,
  size: number,
): Tile[] {
  const last = f.let(i32.mul(i32.sub(tokens, 1), 4));
  return Array.from({ length: MOST / size }, (_, tile) => {
    const numbers = Array.from({ length: size }, (_, t) => tile * size + t);
    return {
      first: tile * size,
      inputs: numbers.map((t) => inputFor(f, panel, t, last)),
      sums: numbers.map((t) => storedSums(f, panel, t, 2)),
    };
  });
}
