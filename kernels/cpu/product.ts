// Products of a weight matrix with int8 activations: y = W x. Few tokens read a band's codes where they
// lie; for many, the codes of some groups are spread out in a panel first, which all tokens then read.
// The panel is at constant addresses in a memory of the thread's own: engines check no bounds there.

import { forBands, forTiles, PRODUCT_ARGUMENTS } from "./bands.ts";
import { type FunctionBuilder, i32, type Local, type ModuleBuilder } from "./wasm/mod.ts";
import { activationBytes, codeBytes } from "./activations.ts";
import { type DotMethod, dotMethodOf, type DotProduct, sumDots } from "./dot_product.ts";
import { sumWidePairs, widenPairs } from "./dot_product.ts";
import {
  BAND,
  blockBytes,
  GROUP,
  isRowFormat,
  maximumCode,
  type PackedFormat,
  type Quads,
  STEPS,
} from "./formats/format.ts";
import { addKernel } from "./kernel.ts";
import { walkBlocks } from "./walk.ts";
import { addTile, type GroupSource, type Product, type ProductMemories } from "./tile.ts";

/** Tokens of a tile: eight sums are what the registers hold beside operands. */
const TILE = 4;
/** Groups of a panel: 1024 columns, which the first cache holds beside activations. */
const PANEL_GROUPS = 32;
/** Pages of the memory that the panel is in: attention needs most. */
export const PANEL_PAGES = 5;
/** Bytes that kernels work in; behind them are tables of formats (walk.ts). */
export const PANEL_BYTES = 65536 * 4;

/** Whether a format's products read the second form of activations on a machine. */
export function readsWide(format: PackedFormat, machine: DotProduct): boolean {
  return methodOf(format, machine).isWide;
}

function methodOf(format: PackedFormat, machine: DotProduct): DotMethod {
  return dotMethodOf(machine, maximumCode(format));
}

/**
 * Adds `product(record, first, last)` (PRODUCT_ARGUMENTS) for items `first` to `last`, bands of eight
 * rows. Activations are groups of int8, wide where readsWide says so.
 */
export function addProduct(
  module: ModuleBuilder,
  memories: ProductMemories,
  format: PackedFormat,
  machine: DotProduct,
): void {
  const product: Product = { format, method: methodOf(format, machine), memories };
  const size = format.source.blockSize;
  const { work, panel } = memories;
  const kernel = { name: "product", takes: PRODUCT_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) => {
    const groupStride = f.let(i32.mul(given.all, activationBytes(product.method.isWide)));
    const items = { first, last, blockBytes: blockBytes(format) };
    forBands(f, memories, given, items, ({ begin, end, tokens }) => {
      const offset = f.let(i32.const(0));
      const tiles = { tokens, offset, sizes: [TILE, 1] };
      const multiplyInPlace = () => {
        const walk: Walk = (body) => walkBlocks(f, product, begin, end, body);
        forTiles(f, panel, tiles, (tile) => addTile(f, product, { ...tile, groupStride }, walk));
      };
      const multiplyByPanels = () => {
        const from = f.let(begin);
        const to = f.local("i32");
        const rest = f.let(given.blocks);
        const isFirst = f.let(i32.const(1));
        f.doWhile(() => {
          const count = f.let(i32.const(PANEL_GROUPS * GROUP / size));
          f.if(i32.lt_u(rest, count), () => f.set(count, rest));
          f.set(to, i32.add(from, i32.mul(count, blockBytes(format))));
          const panelEnd = fillPanel(f, product, from, to);
          const walk: Walk = (body) => walkPanel(f, product, panelEnd, body);
          forTiles(
            f,
            panel,
            tiles,
            (tile) => addTile(f, product, { ...tile, isFirst, groupStride }, walk),
          );
          f.set(from, to);
          f.increase(offset, i32.mul(count, i32.mul(groupStride, size / GROUP)));
          f.set(rest, i32.sub(rest, count));
          f.set(isFirst, 0);
        }, rest);
      };
      // What is hard to decode is decoded once, however few tokens there are.
      if (isRowFormat(format)) multiplyByPanels();
      else f.if(i32.le_u(tokens, TILE), multiplyInPlace, multiplyByPanels);
    });
  });
}

type Walk = (body: (group: GroupSource) => void) => void;

/** Spreads the codes and scales of blocks out in the panel; returns where it ends. */
function fillPanel(
  f: FunctionBuilder,
  product: Product,
  from: Local<"i32">,
  end: Local<"i32">,
): Local<"i32"> {
  const { format, method, memories: { panel } } = product;
  const layout = panelLayout(product);
  const to = f.let(i32.const(0));
  const store = (offset: number, quads: Quads) =>
    quads.forEach((quad, q) => f.do(panel.v128.store(to, quad, offset + 16 * q)));
  walkBlocks(f, product, from, end, (source) => {
    for (let step = 0; step < STEPS; step++) {
      const codes = source.load(step);
      if (method.kind !== "widened") {
        store(32 * step, codes);
        continue;
      }
      const [low, high] = codes.map((quad) => widenPairs(f, quad));
      low.forEach((pair, i) => store(32 * (2 * step + i), [pair, high[i]]));
    }
    for (let half = 0; half < layout.halves; half++) {
      store(layout.scales + 32 * half, source.scales(half));
      if (format.scales.hasMinimum) store(layout.minimums + 32 * half, source.minimums(half));
    }
    f.increase(to, layout.bytes);
  });
  return to;
}

/** Where things are in a group of the panel. */
function panelLayout({ format, method }: Product) {
  const halves = format.scales.halves ? 2 : 1;
  const scales = BAND * codeBytes(method.kind === "widened");
  const minimums = scales + 32 * halves;
  const bytes = minimums + (format.scales.hasMinimum ? 32 * halves : 0);
  return { halves, scales, minimums, bytes };
}

/** Goes through the groups of the panel. */
function walkPanel(
  f: FunctionBuilder,
  product: Product,
  end: Local<"i32">,
  body: (group: GroupSource) => void,
): void {
  const { method, memories: { panel } } = product;
  const layout = panelLayout(product);
  const at = f.let(i32.const(0));
  const quads = (offset: number): Quads => [
    f.let(panel.v128.load(at, offset)),
    f.let(panel.v128.load(at, offset + 16)),
  ];
  f.doWhile(() => {
    body({
      load: (step) => quads(32 * step),
      sum: method.kind === "widened"
        ? (f, _method, operands) => sumWidePairs(f, operands)
        : sumDots,
      scales: (half) => quads(layout.scales + 32 * half),
      minimums: (half) => quads(layout.minimums + 32 * half),
    });
    f.increase(at, layout.bytes);
  }, i32.lt_u(at, end));
}
