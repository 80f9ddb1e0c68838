// Products of a weight matrix with float activations: y = W x, for F32, F16 and BF16 weights, and
// for integer formats if products have to be exact. Each result is summed column after column, so
// that a token has the same bits in every tile. For few tokens a band is read in place; for many,
// its weights are first converted to floats in a panel (kernel.ts).

import {
  f32x4,
  type FunctionBuilder,
  i32,
  i32x4,
  type Local,
  type ModuleBuilder,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { dotMethodOf, type DotProduct } from "../dot_product.ts";
import {
  BAND,
  blockBytes,
  GROUP,
  type PackedFormat,
  type Pointer,
  type Quads,
} from "../formats/format.ts";
import { type FloatFormat, floatGroupBytes } from "../formats/floats.ts";
import { lanes } from "../formats/scales.ts";
import {
  accumulate,
  forBands,
  forTiles,
  PRODUCT_ARGUMENTS,
  type ProductArgument,
  type TileAddresses,
} from "./bands.ts";
import { forLoneToken } from "./lone_token.ts";
import { addKernel, type Arguments } from "../kernel.ts";
import type { ProductKernel, ProductSetting } from "./kernel.ts";
import { addFloatPairs } from "./two_bands.ts";
import { walkBlocks } from "./walk.ts";
import type { ProductMemories } from "./tile.ts";

/** Tokens of a tile. */
const TILE = 4;
/** Groups of the panel: 512 columns, which fill half of a first-level cache. */
const PANEL_GROUPS = 16;
/** Bytes of a group in the panel. */
const PANEL_GROUP_BYTES = 4 * BAND * GROUP;

/** Weights that a product reads as floats. */
export interface FloatWeights {
  /** Columns of a block, and the bytes that it takes of a band. */
  readonly blockSize: number;
  readonly blockBytes: number;
  /** Loops over groups; `body` receives a function that loads a column, to be called in order of columns. */
  walk(
    f: FunctionBuilder,
    begin: Local<"i32">,
    end: Local<"i32">,
    body: (load: (column: number) => Quads) => void,
  ): void;
}

/** Whether a format is one of floats. */
export function isFloatFormat(format: PackedFormat | FloatFormat): format is FloatFormat {
  return format.source.kind === "float";
}

function unpackedWeights(format: FloatFormat, { weights }: ProductMemories): FloatWeights {
  return {
    blockSize: GROUP,
    blockBytes: floatGroupBytes(format),
    walk(f, begin, end, body) {
      const at = f.let(begin);
      const pointer: Pointer = { memory: weights, address: at };
      f.doWhile(() => {
        body((column) => format.load(f, pointer, column));
        f.increase(at, floatGroupBytes(format));
      }, i32.lt_u(at, end));
    },
  };
}

/** weight = scale * (code - offset) - minimum, of the codes of a step column by column. */
function packedWeights(format: PackedFormat, memories: ProductMemories): FloatWeights {
  const method = dotMethodOf("widened", 0);
  const { scales: { halves, hasMinimum }, offset } = format;
  return {
    blockSize: format.source.blockSize,
    blockBytes: blockBytes(format),
    walk(f, begin, end, body) {
      walkBlocks(f, { format, method, memories }, begin, end, (group) => {
        let codes: Quads;
        const of: { scales?: Quads; minimums?: Quads } = {};
        body((column) => {
          if (column % (GROUP / (halves ? 2 : 1)) === 0) {
            const half = Math.floor(2 * column / GROUP);
            of.scales = keep(f, group.scales(half));
            if (hasMinimum) of.minimums = keep(f, group.minimums(half));
          }
          if (column % 4 === 0) codes = group.load(column / 4);
          const weight = (quad: 0 | 1): V128 => {
            const byte = v128.and(
              i32x4.shr_u(codes[quad], 8 * (column % 4)),
              lanes(f, Uint32Array.of(255)),
            );
            const code = f32x4.sub(
              f32x4.convert_i32x4_s(byte),
              lanes(f, Float32Array.of(offset)),
            );
            const scaled = f32x4.mul(of.scales![quad], code);
            return of.minimums ? f32x4.sub(scaled, of.minimums[quad]) : scaled;
          };
          return [weight(0), weight(1)];
        });
      });
    },
  };
}

/** The weights of a format in any layout. */
export function floatWeights(
  format: PackedFormat | FloatFormat,
  memories: ProductMemories,
): FloatWeights {
  return isFloatFormat(format)
    ? unpackedWeights(format, memories)
    : packedWeights(format, memories);
}

function keep(f: FunctionBuilder, [first, second]: Quads): Quads {
  return [f.let(first), f.let(second)];
}

/** The kernel for a number of tokens with float activations. */
export function floatProductKernel(
  format: PackedFormat | FloatFormat,
  tokens: number,
  { joins, hasExperts = false }: Omit<ProductSetting, "machine">,
): ProductKernel {
  const isPaired = joins && isFloatFormat(format) && tokens >= TILE && !hasExperts;
  if (isPaired) return { name: "float_pairs", bands: 2 };
  const isLone = tokens === 1 && isFloatFormat(format) && !hasExperts;
  return { name: "float_product", bands: 1, runs: isLone ? RUNS : 1 };
}

/**
 * Adds `float_product(record, first, last)` (PRODUCT_ARGUMENTS): as `product`, but x is f32, columns
 * padded with zeros to whole blocks.
 */
export function addFloatProduct(
  module: ModuleBuilder,
  memories: ProductMemories,
  format: PackedFormat | FloatFormat,
  machine: DotProduct,
  joins: boolean,
): void {
  const source = floatWeights(format, memories);
  const { work, panel } = memories;
  const hasMadd = machine !== "widened";
  const panelBlocks = Math.max(1, PANEL_GROUPS * GROUP / source.blockSize);
  if (joins && isFloatFormat(format)) addFloatPairs(module, memories, format, hasMadd);
  const kernel = { name: "float_product", takes: PRODUCT_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) => {
    const isLone = i32.and(i32.eq(given.tokens, 1), i32.eqz(given.pairs));
    if (isFloatFormat(format)) {
      f.if(isLone, () => multiplyLoneToken(f, memories, format, given, { first, last, hasMadd }));
    }
    const items = { first, last, blockBytes: source.blockBytes };
    forBands(f, memories, given, items, ({ begin, end, tokens }) => {
      const offset = f.let(i32.const(0));
      f.if(i32.lt_u(tokens, TILE), () => {
        const walk: Walk = (body) => source.walk(f, begin, end, body);
        forTiles(
          f,
          panel,
          { tokens, offset, sizes: [1] },
          (tile) => addFloatTile(f, memories, { ...tile, hasMadd }, walk),
        );
      }, () => {
        const from = f.let(begin);
        const to = f.local("i32");
        const rest = f.let(given.blocks);
        const isFirst = f.let(i32.const(1));
        f.doWhile(() => {
          const count = f.let(i32.const(panelBlocks));
          f.if(i32.lt_u(rest, count), () => f.set(count, rest));
          f.set(to, i32.add(from, i32.mul(count, source.blockBytes)));
          const panelEnd = f.let(i32.const(0));
          source.walk(f, from, to, (load) => {
            for (let column = 0; column < GROUP; column++) {
              load(column).forEach((quad, q) =>
                f.do(panel.v128.store(panelEnd, quad, 32 * column + 16 * q))
              );
            }
            f.increase(panelEnd, PANEL_GROUP_BYTES);
          });
          const walk: Walk = (body) => {
            const at = f.let(i32.const(0));
            f.doWhile(() => {
              body((column) => [
                panel.v128.load(at, 32 * column),
                panel.v128.load(at, 32 * column + 16),
              ]);
              f.increase(at, PANEL_GROUP_BYTES);
            }, i32.lt_u(at, panelEnd));
          };
          forTiles(
            f,
            panel,
            { tokens, offset, sizes: [TILE, 1] },
            (tile) => addFloatTile(f, memories, { ...tile, isFirst, hasMadd }, walk),
          );
          f.set(from, to);
          f.increase(offset, i32.mul(count, 4 * source.blockSize));
          f.set(rest, i32.sub(rest, count));
          f.set(isFirst, 0);
        }, rest);
      });
    });
  });
}

/** Runs of bands side by side for one token: the additions of a single band would wait for each other. */
const RUNS = 4;

/** Multiplies one token with all bands. */
function multiplyLoneToken(
  f: FunctionBuilder,
  memories: ProductMemories,
  format: FloatFormat,
  given: Arguments<ProductArgument>,
  { first, last, hasMadd }: { first: Local<"i32">; last: Local<"i32">; hasMadd: boolean },
): void {
  const { work, weights } = memories;
  const groupBytes = floatGroupBytes(format);
  const items = { first, last, runs: RUNS, blockBytes: groupBytes };
  forLoneToken(f, memories, given, items, ({ x, begins, end, totals }) =>
    f.doWhile(() => {
      for (let column = 0; column < GROUP; column++) {
        const value = f.let(work.v128.load32_splat(x, 4 * column));
        const columns = begins.flatMap((address) =>
          format.load(f, { memory: weights, address }, column)
        );
        columns.forEach((weight, i) =>
          f.set(totals[i], multiplyAdd(hasMadd, weight, value, totals[i]))
        );
      }
      f.increase(x, 4 * GROUP);
      for (const begin of begins) f.increase(begin, groupBytes);
    }, i32.lt_u(begins[0], end)));
  f.set(first, last);
}

function multiplyAdd(hasMadd: boolean, a: V128, b: V128, c: V128): V128 {
  return hasMadd ? f32x4.relaxed_madd(a, b, c) : f32x4.add(c, f32x4.mul(a, b));
}

type Walk = (body: (load: (column: number) => Quads) => void) => void;

/** Adds the code of a tile over the columns of a loop. */
function addFloatTile(
  f: FunctionBuilder,
  { work, panel }: ProductMemories,
  tile: TileAddresses & { isFirst?: Local<"i32">; hasMadd: boolean },
  walk: Walk,
): void {
  const { inputs, isFirst, hasMadd } = tile;
  accumulate(f, panel, tile, isFirst, (totals) =>
    walk((load) => {
      for (let column = 0; column < GROUP; column++) {
        const weights = keep(f, load(column));
        inputs.forEach((x, t) => {
          const value = f.let(work.v128.load32_splat(x, 4 * column));
          totals[t].forEach((total, quad) =>
            f.set(total, multiplyAdd(hasMadd, weights[quad], value, total))
          );
        });
      }
      for (const x of inputs) f.increase(x, 4 * GROUP);
    }));
}
