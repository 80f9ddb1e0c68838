// Products of many tokens with two bands at a time, where V8 joins vectors; items are pairs of bands. Experts
// and few tokens are multiplied by kernel.ts and float_kernel.ts.
//
// Float weights: a product of one band has as many sums as four tokens, too few: an addition takes four
// cycles, in each of which two could begin. Integer codes: four tokens with two bands read half as much of
// the tokens for each multiplication; their sums over groups are in memory, those of a group in registers.

import {
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type ModuleBuilder,
  shuffleLanes,
} from "../wasm/mod.ts";
import { forBandPairs, forPairTiles } from "./band_pairs.ts";
import { PRODUCT_ARGUMENTS } from "./bands.ts";
import { type FloatFormat, floatGroupBytes } from "../formats/floats.ts";
import { blockBytes, GROUP } from "../formats/format.ts";
import { addKernel } from "../kernel.ts";
import { activationBytes } from "../quantize/kernel.ts";
import { fillPanel, PAIR_BYTES, panelGroup } from "./panel.ts";
import { addGroups, type Product, type ProductMemories } from "./tile.ts";

/** Tokens of a tile of floats: registers hold 12 sums, a column's weights and one of its inputs. */
const FLOAT_TILE = 6;
/** Groups of the panel of two bands: with more, the code would not fit a first-level cache. */
const FLOAT_GROUPS = [4, 2, 1];

/** Tokens of a tile of integers: registers hold 8 sums, two vectors of codes, and one of a token. */
const TILE = 4;

/**
 * Adds `product_pairs(record, first, last)` (PRODUCT_ARGUMENTS): `product` of many tokens, without experts.
 *
 * @param most groups that are read at constant addresses, at least those of a block
 */
export function addPairProduct(module: ModuleBuilder, product: Product, most: number): void {
  const { format, method, memories } = product;
  const groupsOfBlock = format.source.blockSize / GROUP;
  const counts = [most, 2, 1].map((groups) => Math.max(groups, groupsOfBlock));
  const kernel = { name: "product_pairs", takes: PRODUCT_ARGUMENTS };
  addKernel(module, memories.work, kernel, (f, given, first, last) => {
    const groupStride = f.let(i32.mul(given.all, activationBytes(method.isWide)));
    const items = { first, last, blockBytes: blockBytes(format) };
    forBandPairs(f, memories, given, items, (pair) => {
      const { begins } = pair;
      const from = begins.map((begin) => f.let(begin));
      const offset = f.let(i32.const(0));
      const isFirst = f.let(i32.const(1));
      const rest = f.let(given.blocks);
      for (const groups of new Set(counts)) {
        const blocks = groups / groupsOfBlock;
        const bytes = blocks * blockBytes(format);
        f.while(i32.ge_u(rest, blocks), () => {
          fillBoth(f, product, from, bytes);
          for (const address of from) f.increase(address, bytes);
          for (let some = 0; some < groups; some += most) {
            const end = Math.min(groups, some + most);
            const start = f.let(i32.add(offset, i32.mul(groupStride, some)));
            const isLast = f.let(end === groups ? i32.eq(rest, blocks) : i32.const(0));
            const tiles = { offset: start, isFirst, isLast, size: TILE };
            forPairTiles(f, memories, given, pair, tiles, (inputs, sums, readNext) => {
              const totals = sums.map((sum) => sum.load());
              readNext();
              addGroups(f, product, { inputs, groupStride }, totals, (body) => {
                for (let group = some; group < end; group++) {
                  body(panelGroup(f, product, group, 2));
                }
              });
              sums.forEach((sum, t) => sum.store(totals[t]!));
            });
            f.set(isFirst, 0);
          }
          f.increase(offset, i32.mul(groupStride, groups));
          f.set(rest, i32.sub(rest, blocks));
        });
      }
    });
  });
}

/** Expands the next bytes of both bands in the panel, where their vectors lie side by side. */
function fillBoth(
  f: FunctionBuilder,
  product: Product,
  [first, second]: readonly Local<"i32">[],
  bytes: number,
): void {
  const from = f.let(first!);
  const to = f.let(i32.const(0));
  f.forUpTo(to, 2 * PAIR_BYTES, PAIR_BYTES, () => {
    fillPanel(f, product, { from, end: f.let(i32.add(from, bytes)), to, bands: 2 });
    f.set(from, second!);
  });
}

/**
 * Adds `float_pairs(record, first, last)` (PRODUCT_ARGUMENTS): `float_product` of many tokens, without
 * experts. Weights are at constant addresses of the panel, so that V8 joins the vectors of a band; six
 * tokens with two bands have as many sums as additions are on their way at once.
 */
export function addFloatPairs(
  module: ModuleBuilder,
  memories: ProductMemories,
  format: FloatFormat,
  hasMadd: boolean,
): void {
  const { work, weights, panel } = memories;
  const here = i32.const(0);
  const blockBytes = floatGroupBytes(format);
  const at = (group: number, column: number, i: number) => 64 * (GROUP * group + column) + 16 * i;
  const kernel = { name: "float_pairs", takes: PRODUCT_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) => {
    forBandPairs(f, memories, given, { first, last, blockBytes }, (pair) => {
      const { begins } = pair;
      const from = begins.map((begin) => f.let(begin));
      const offset = f.let(i32.const(0));
      const isFirst = f.let(i32.const(1));
      const rest = f.let(given.blocks);
      for (const groups of FLOAT_GROUPS) {
        f.while(i32.ge_u(rest, groups), () => {
          const to = f.let(i32.const(0));
          f.forUpTo(to, at(groups, 0, 0), at(1, 0, 0), () => {
            from.forEach((address, band) => {
              for (let column = 0; column < GROUP; column++) {
                format.load(f, { memory: weights, address }, column).forEach((quad, q) =>
                  f.do(panel.v128.store(to, quad, at(0, column, 2 * band + q)))
                );
              }
              f.increase(address, blockBytes);
            });
          });
          const isLast = f.let(i32.eq(rest, groups));
          const tiles = { offset, isFirst, isLast, size: FLOAT_TILE };
          forPairTiles(f, memories, given, pair, tiles, (inputs, sums, readNext) => {
            const totals = sums.map((sum) => sum.load());
            readNext();
            for (let group = 0; group < groups; group++) {
              for (let column = 0; column < GROUP; column += 4) {
                const values = inputs.map((x) =>
                  f.let(work.v128.load(x, 4 * (GROUP * group + column)))
                );
                for (let lane = 0; lane < 4; lane++) {
                  const columns = [0, 1, 2, 3].map((i) =>
                    f.let(panel.v128.load(here, at(group, column + lane, i)))
                  );
                  values.forEach((four, t) => {
                    const value = f.let(shuffleLanes(four, four, new Array(4).fill(lane)));
                    totals[t]!.forEach((total, i) =>
                      f.set(
                        total,
                        hasMadd
                          ? f32x4.relaxed_madd(columns[i], value, total)
                          : f32x4.add(total, f32x4.mul(columns[i], value)),
                      )
                    );
                  });
                }
              }
            }
            sums.forEach((sum, t) => sum.store(totals[t]!));
          });
          f.increase(offset, 4 * GROUP * groups);
          f.set(rest, i32.sub(rest, groups));
          f.set(isFirst, 0);
        });
      }
    });
  });
}
