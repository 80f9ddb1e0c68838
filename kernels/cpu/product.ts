// Products of a weight matrix with int8 activations: y = W x. For few tokens the codes of a band
// are read in place. For many, the codes of some groups are first expanded in a panel (panel.ts),
// which all tokens then read.

import { forBands, forTiles, PRODUCT_ARGUMENTS, type TilePlace } from "./bands.ts";
import { i32, type Local, type ModuleBuilder } from "./wasm/mod.ts";
import { activationBytes } from "./activations.ts";
import { type DotMethod, dotMethodOf, type DotProduct } from "./dot_product.ts";
import {
  blockBytes,
  GROUP,
  isRowFormat,
  maximumCode,
  type PackedFormat,
  STEPS,
} from "./formats/format.ts";
import { addKernel } from "./kernel.ts";
import { fillPanel, unrollPanel, walkPanel } from "./panel.ts";
import { addTile, addUnrolledTile, type Product, type ProductMemories } from "./tile.ts";
import { walkBlocks } from "./walk.ts";

/** Tokens of a tile: eight sums are what the registers hold beside operands. */
const TILE = 4;
/** Groups of a panel: 1024 columns, which the first cache holds beside activations. */
const PANEL_GROUPS = 32;
/**
 * Groups that are read at constant addresses, at most: fewer would have sums go to memory more often,
 * with more the code leaves the CPU's cache of decoded instructions.
 */
function mostUnrolled({ kind, run }: DotMethod): number {
  return kind === "turned" || (kind === "pairs" && run < STEPS / 2) ? 4 : 8;
}
/** Pages of the memory that the panel is in: attention needs most. */
export const PANEL_PAGES = 5;
/** Bytes that kernels work in; behind them are tables of formats (walk.ts). */
export const PANEL_BYTES = 65536 * 4;

/** Whether a format's products read the second form of activations on a machine. */
export function readsWide(format: PackedFormat, machine: DotProduct): boolean {
  return dotMethodOf(machine, maximumCode(format)).isWide;
}

/** The same of those of many tokens, which read panels. */
export function panelsReadWide(format: PackedFormat, machine: DotProduct, joins: boolean): boolean {
  return panelMethod(format, machine, joins).isWide;
}

function panelMethod(format: PackedFormat, machine: DotProduct, joins: boolean): DotMethod {
  return dotMethodOf(machine, maximumCode(format), joins ? "turned" : "magnitudes");
}

/** The kernel for so many tokens, or for pairs of so many tokens with experts. */
export function productKernel(tokens: number): string {
  return tokens <= TILE ? "product_few" : "product";
}

/**
 * Adds `product(record, first, last)` (PRODUCT_ARGUMENTS) for items `first` to `last`, bands of eight
 * rows, and `product_few` for few tokens alone: engines make a small function fast much sooner. Activations are groups of int8, wide where readsWide and panelsReadWide say so.
 *
 * @param joins whether the engine joins neighbouring vectors
 */
export function addProduct(
  module: ModuleBuilder,
  memories: ProductMemories,
  format: PackedFormat,
  machine: DotProduct,
  joins: boolean,
): void {
  const product: Product = { format, method: dotMethodOf(machine, maximumCode(format)), memories };
  const byPanels: Product = { ...product, method: panelMethod(format, machine, joins) };
  const groupsOfBlock = format.source.blockSize / GROUP;
  const { work, panel } = memories;
  const addWith = (name: string, isForFew: boolean) =>
    addKernel(module, work, { name, takes: PRODUCT_ARGUMENTS }, (f, given, first, last) => {
      const few = isRowFormat(format) ? 0 : TILE;
      const items = { first, last, blockBytes: blockBytes(format), few };
      forBands(f, memories, given, items, ({ begin, end, tokens, isFew }) => {
        const offset = f.let(i32.const(0));
        const strideOf = ({ method }: Product) =>
          f.let(i32.mul(given.all, activationBytes(method.isWide)));
        const forAllTiles = (offset: Local<"i32">, body: (tile: TilePlace) => void) =>
          forTiles(f, panel, { tokens, offset, sizes: [TILE, 1] }, body);
        const multiplyInPlace = () => {
          const groupStride = strideOf(product);
          forAllTiles(offset, (tile) =>
            addTile(
              f,
              product,
              { ...tile, groupStride },
              (body) => walkBlocks(f, product, begin, end, body),
            ));
        };
        const multiplyByPanels = () => {
          const groupStride = strideOf(byPanels);
          const from = f.let(begin);
          const to = f.local("i32");
          const rest = f.let(given.blocks);
          const isFirst = f.let(i32.const(1));
          const multiplyPanel = (
            count: Local<"i32">,
            tiles: (panelEnd: Local<"i32">) => void,
          ) => {
            f.set(to, i32.add(from, i32.mul(count, blockBytes(format))));
            tiles(fillPanel(f, byPanels, from, to));
            f.set(from, to);
            f.increase(offset, i32.mul(count, i32.mul(groupStride, groupsOfBlock)));
            f.set(rest, i32.sub(rest, count));
            f.set(isFirst, 0);
          };
          if (joins) {
            const most = mostUnrolled(byPanels.method);
            const counts = [most, 2, 1];
            for (const groups of new Set(counts.map((groups) => Math.max(groups, groupsOfBlock)))) {
              const count = f.let(i32.const(groups / groupsOfBlock));
              f.while(i32.ge_u(rest, count), () =>
                multiplyPanel(count, () => {
                  for (let first = 0; first < groups; first += most) {
                    const end = Math.min(groups, first + most);
                    const start = f.let(i32.add(offset, i32.mul(groupStride, first)));
                    forAllTiles(start, (tile) =>
                      addUnrolledTile(f, byPanels, { ...tile, isFirst, groupStride }, (body) =>
                        unrollPanel(f, byPanels, first, end, body)));
                    f.set(isFirst, 0);
                  }
                }));
            }
            return;
          }
          f.doWhile(() => {
            const count = f.let(i32.const(PANEL_GROUPS / groupsOfBlock));
            f.if(i32.lt_u(rest, count), () => f.set(count, rest));
            multiplyPanel(
              count,
              (panelEnd) =>
                forAllTiles(offset, (tile) =>
                  addTile(
                    f,
                    byPanels,
                    { ...tile, isFirst, groupStride },
                    (body) => walkPanel(f, byPanels, panelEnd, body),
                  )),
            );
          }, rest);
        };
        // What is hard to decode is decoded once, however few tokens there are.
        if (isRowFormat(format)) multiplyByPanels();
        else if (isForFew) multiplyInPlace();
        else f.if(isFew, multiplyInPlace, multiplyByPanels);
      });
    });
  addWith("product", false);
  addWith("product_few", true);
}
