// Products of a weight matrix with int8 activations: y = W x. Few tokens read a band's codes where they
// lie; for many, the codes of some groups are spread out in a panel first, which all tokens then read.
// The panel is at constant addresses in a memory of the thread's own: engines check no bounds there.

import { forBands, forTiles, PRODUCT_ARGUMENTS } from "./bands.ts";
import { type FunctionBuilder, i32, i8x16, type Local, type ModuleBuilder } from "./wasm/mod.ts";
import { activationBytes, codeBytes } from "./activations.ts";
import { type DotPlan, type DotProduct, planDots, sumDots } from "./dot_product.ts";
import { sumWidePairs, widenPairs } from "./dot_product.ts";
import {
  BAND,
  blockBytes,
  GROUP,
  groupBytes,
  type PackedFormat,
  type Place,
  type Quads,
  STEPS,
} from "./formats/format.ts";
import { bytes, unpackCodes } from "./formats/planes.ts";
import { addKernel } from "./kernel.ts";
import { addTile, type GroupSource, type Product, type ProductMemories } from "./tile.ts";

/** Tokens of a tile: eight sums are what the registers hold beside operands. */
const TILE = 4;
/** Groups of a panel: 1024 columns, which the first cache holds beside activations. */
const PANEL_GROUPS = 32;
/** Pages of the memory that the panel is in: attention needs most. */
export const PANEL_PAGES = 4;
/** Its bytes. */
export const PANEL_BYTES = 65536 * PANEL_PAGES;

/** Whether a format's products read activations of 16 bits on a machine. */
export function readsWide(format: PackedFormat, machine: DotProduct): boolean {
  return planOf(format, machine).isWide;
}

function planOf({ bits, table }: PackedFormat, machine: DotProduct): DotPlan {
  return planDots(machine, table ? Math.max(...table) : 2 ** bits - 1);
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
  const product: Product = { format, plan: planOf(format, machine), memories };
  const size = format.source.blockSize;
  const { work, panel } = memories;
  const kernel = { name: "product", takes: PRODUCT_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) => {
    const groupStride = f.let(i32.mul(given.all, activationBytes(product.plan.isWide)));
    const items = { first, last, blockBytes: blockBytes(format) };
    forBands(f, memories, given, items, ({ begin, end, tokens }) => {
      const offset = f.let(i32.const(0));
      const tiles = { tokens, offset, sizes: [TILE, 1] };
      f.if(i32.le_u(tokens, TILE), () => {
        const walk: Walk = (body) => walkBlocks(f, product, begin, end, body);
        forTiles(f, panel, tiles, (tile) => addTile(f, product, { ...tile, groupStride }, walk));
      }, () => {
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
      });
    });
  });
}

type Walk = (body: (group: GroupSource) => void) => void;

/** Goes through the blocks of a band where they lie, group by group. */
export function walkBlocks(
  f: FunctionBuilder,
  product: Product,
  begin: Local<"i32">,
  end: Local<"i32">,
  body: (group: GroupSource) => void,
): void {
  const { format: { scales, source }, memories: { weights }, format } = product;
  const at = f.let(begin);
  const place: Place = { memory: weights, address: at };
  f.doWhile(() => {
    const head = scales.loadHead(f, place);
    if (source.blockSize === GROUP) {
      body(blockGroup(f, product, place, scales.headBytes, head));
      return f.increase(at, blockBytes(format));
    }
    f.increase(at, scales.headBytes);
    const groupsEnd = f.let(i32.add(at, blockBytes(format) - scales.headBytes));
    f.doWhile(() => {
      body(blockGroup(f, product, place, 0, head));
      f.increase(at, groupBytes(format));
    }, i32.lt_u(at, groupsEnd));
  }, i32.lt_u(at, end));
}

/** A group where it lies, some bytes behind a place. */
function blockGroup(
  f: FunctionBuilder,
  product: Product,
  { memory, address }: Place,
  offset: number,
  head: readonly Local<"v128">[],
): GroupSource {
  const { format } = product;
  const place = { memory: memory.behind(offset), address };
  const scales = {
    memory: memory.behind(offset + groupBytes(format) - format.scales.groupBytes),
    address,
  };
  const loaded = format.scales.load(f, scales, head);
  return {
    load: (step) => loadCodes(f, product, place, step),
    sum: sumDots,
    scales: (half) => loaded.scales[half],
    minimums: (half) => loaded.minimums![half],
  };
}

/** The codes of a step as dot products take them. */
function loadCodes(
  f: FunctionBuilder,
  { format, plan }: Product,
  place: Place,
  step: number,
): Quads {
  const { bits, table, offset } = format;
  const codes = unpackCodes(f, bits, place, step);
  if (!table && !plan.isSigned) return codes;
  const values = f.constant(table ?? new Uint8Array(16));
  const [first, second] = codes.map((quad) => {
    const value = table ? i8x16.swizzle(values, quad) : quad;
    return f.let(plan.isSigned ? i8x16.sub(value, bytes(f, offset)) : value);
  });
  return [first, second];
}

/** Spreads the codes and scales of blocks out in the panel; returns where it ends. */
function fillPanel(
  f: FunctionBuilder,
  product: Product,
  from: Local<"i32">,
  end: Local<"i32">,
): Local<"i32"> {
  const { format, plan, memories: { panel } } = product;
  const layout = panelLayout(product);
  const to = f.let(i32.const(0));
  const store = (offset: number, quads: Quads) =>
    quads.forEach((quad, q) => f.do(panel.v128.store(to, quad, offset + 16 * q)));
  walkBlocks(f, product, from, end, (source) => {
    for (let step = 0; step < STEPS; step++) {
      const codes = source.load(step);
      if (!plan.isWide) {
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
function panelLayout({ format, plan }: Product) {
  const halves = format.scales.halves ? 2 : 1;
  const scales = BAND * codeBytes(plan.isWide);
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
  const { plan, memories: { panel } } = product;
  const layout = panelLayout(product);
  const at = f.let(i32.const(0));
  const quads = (offset: number): Quads => [
    f.let(panel.v128.load(at, offset)),
    f.let(panel.v128.load(at, offset + 16)),
  ];
  f.doWhile(() => {
    body({
      load: (step) => quads(32 * step),
      sum: plan.isWide ? (f, _plan, operands) => sumWidePairs(f, operands) : sumDots,
      scales: (half) => quads(layout.scales + 32 * half),
      minimums: (half) => quads(layout.minimums + 32 * half),
    });
    f.increase(at, layout.bytes);
  }, i32.lt_u(at, end));
}
