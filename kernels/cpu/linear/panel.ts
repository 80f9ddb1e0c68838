// The panel of a product: codes and scales of some groups of a band, expanded in the thread's
// memory for all tokens, or of one group for up to eight. They are read in a loop, or at constant
// addresses. For the latter, engines need no bounds checks, which would prevent V8 from joining two
// neighbouring vectors into one of 256 bits (../README.md).

import { codeBytes } from "../quantize/kernel.ts";
import {
  addNegatives,
  type DotMethod,
  sumDots,
  sumTurnedOnce,
  sumWidePairs,
  widenPairs,
} from "../dot_product.ts";
import { BAND, type Quads, STEPS } from "../formats/format.ts";
import type { GroupSource, Product } from "./tile.ts";
import { walkBlocks } from "./walk.ts";
import {
  type Expression,
  type FunctionBuilder,
  i32,
  i32x4,
  i8x16,
  type Local,
} from "../wasm/mod.ts";

/** Bytes of the two vectors with the eight rows of a band. */
const PAIR_BYTES = 32;

/** The layout of a group of the panel. */
function layoutOf({ format, method }: Product) {
  const halves = format.scales.halves ? 2 : 1;
  const signs = BAND * codeBytes(method.kind === "widened");
  const negative = method.kind === "turned" ? signs + PAIR_BYTES * STEPS : signs;
  const scales = method.kind === "turned" ? negative + PAIR_BYTES * halves : signs;
  const minimums = scales + PAIR_BYTES * halves;
  const bytes = minimums + (format.scales.hasMinimum ? PAIR_BYTES * halves : 0);
  return { halves, signs, negative, scales, minimums, bytes };
}

/** Expands the codes and scales of blocks from address 0 on; returns the address of their end. */
export function fillPanel(
  f: FunctionBuilder,
  product: Product,
  from: Local<"i32">,
  end: Local<"i32">,
): Local<"i32"> {
  const { method, memories: { panel } } = product;
  const layout = layoutOf(product);
  const to = f.let(i32.const(0));
  const store: Store = (offset, quads) =>
    quads.forEach((quad, q) => f.do(panel.v128.store(to, quad, offset + 16 * q)));
  walkBlocks(f, product, from, end, (source) => {
    if (method.kind === "turned") storeMagnitudes(f, source, layout, store);
    else storeCodes(f, method, source, store);
    storeScales(product, source, layout, store);
    f.increase(to, layout.bytes);
  });
  return to;
}

/** Stores the two vectors of a band at an offset from the beginning of a group. */
type Store = (offset: number, quads: Quads) => void;

/** The codes of all steps, as products read them. */
function storeCodes(
  f: FunctionBuilder,
  { kind }: DotMethod,
  source: GroupSource,
  store: Store,
): void {
  for (let step = 0; step < STEPS; step++) {
    const codes = source.load(step);
    if (kind !== "widened") {
      store(PAIR_BYTES * step, codes);
      continue;
    }
    const [low, high] = codes.map((quad) => widenPairs(f, quad));
    low.forEach((pair, i) => store(PAIR_BYTES * (2 * step + i), [pair, high[i]]));
  }
}

function storeScales(
  { format }: Product,
  source: GroupSource,
  layout: ReturnType<typeof layoutOf>,
  store: Store,
): void {
  for (let half = 0; half < layout.halves; half++) {
    store(layout.scales + PAIR_BYTES * half, source.scales(half));
    if (format.scales.hasMinimum) {
      store(layout.minimums + PAIR_BYTES * half, source.minimums(half));
    }
  }
}

/** The magnitudes of signed codes, masks of the negative ones, and the sums of the latter's magnitudes. */
function storeMagnitudes(
  f: FunctionBuilder,
  source: GroupSource,
  { halves, signs, negative }: ReturnType<typeof layoutOf>,
  store: Store,
): void {
  const zero = f.constant(new Uint8Array(16));
  for (let half = 0; half < halves; half++) {
    const sums = [f.let(zero), f.let(zero)];
    for (let step = STEPS / halves * half; step < STEPS / halves * (half + 1); step++) {
      const codes = source.load(step);
      const [magnitudes, masks] = [
        codes.map((quad) => f.let(i8x16.abs(quad))),
        codes.map((quad) => f.let(i8x16.lt_s(quad, zero))),
      ];
      store(PAIR_BYTES * step, [magnitudes[0], magnitudes[1]]);
      store(signs + PAIR_BYTES * step, [masks[0], masks[1]]);
      sums.forEach((sum, quad) => addNegatives(f, sum, masks[quad], magnitudes[quad]));
    }
    const [first, second] = sums.map((sum) => i32x4.extadd_pairwise_i16x8_u(sum));
    store(negative + PAIR_BYTES * half, [first, second]);
  }
}

/** A group of the panel at an address, some bytes further. */
function groupAt(
  f: FunctionBuilder,
  product: Product,
  at: Expression<"i32">,
  offset: number,
): GroupSource {
  const { method, memories } = product;
  const panel = memories.panel.behind(offset);
  const layout = layoutOf(product);
  const quads = (offset: number): Quads => [
    f.let(panel.v128.load(at, offset)),
    f.let(panel.v128.load(at, offset + 16)),
  ];
  return {
    load: (step) => quads(PAIR_BYTES * step),
    ...(method.kind === "turned" && {
      negative: {
        signs: (step) => quads(layout.signs + PAIR_BYTES * step),
        sums: (half) => quads(layout.negative + PAIR_BYTES * half),
      },
    }),
    sum: method.kind === "widened" ? (f, _method, operands) => sumWidePairs(f, operands) : sumDots,
    scales: (half) => quads(layout.scales + PAIR_BYTES * half),
    minimums: (half) => quads(layout.minimums + PAIR_BYTES * half),
  };
}

/**
 * Puts a group at the beginning of the panel, for tokens that are multiplied with it at once. Signed codes
 * stay as they are, because their magnitudes and signs are made in registers.
 */
export function stageGroup(f: FunctionBuilder, product: Product, source: GroupSource): GroupSource {
  const { method, memories: { panel } } = product;
  const here = i32.const(0);
  const store: Store = (offset, quads) =>
    quads.forEach((quad, q) => f.do(panel.v128.store(here, quad, offset + 16 * q)));
  storeCodes(f, method, source, store);
  storeScales(product, source, layoutOf(product), store);
  const { load, scales, minimums, sum } = groupAt(f, product, here, 0);
  return { load, scales, minimums, sum: method.kind === "turned" ? sumTurnedOnce : sum };
}

/** Goes through the groups of the panel up to an address. */
export function walkPanel(
  f: FunctionBuilder,
  product: Product,
  end: Local<"i32">,
  body: (group: GroupSource) => void,
): void {
  const at = f.let(i32.const(0));
  f.doWhile(() => {
    body(groupAt(f, product, at, 0));
    f.increase(at, layoutOf(product).bytes);
  }, i32.lt_u(at, end));
}

/** Goes through some groups of the panel at constant addresses. */
export function unrollPanel(
  f: FunctionBuilder,
  product: Product,
  first: number,
  end: number,
  body: (group: GroupSource) => void,
): void {
  const { bytes } = layoutOf(product);
  for (let group = first; group < end; group++) {
    body(groupAt(f, product, i32.const(0), group * bytes));
  }
}
