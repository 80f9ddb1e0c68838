// The panel of a product: codes and scales of some groups of a band, expanded in the thread's
// memory for all tokens, or of one group for up to eight. They are read in a loop, or at constant
// addresses. For the latter, engines need no bounds checks, which would prevent V8 from joining two
// neighbouring vectors into one of 256 bits (../README.md).

import { storeBackwards } from "./stored_sums.ts";
import { codeBytes } from "../quantize/kernel.ts";
import {
  addNegatives,
  type DotMethod,
  SUM_BIAS,
  sumDots,
  sumWidePairs,
  widenPairs,
} from "../dot_product.ts";
import { BAND, type Quads, STEPS } from "../formats/format.ts";
import { lanes } from "../formats/scales.ts";
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
export const PAIR_BYTES = 32;

/** The layout of a group of the panel, with the vectors of some bands side by side. */
function layoutOf({ format, method }: Product, bands = 1) {
  const halves = format.scales.halves ? 2 : 1;
  const row = bands * PAIR_BYTES;
  const signs = bands * BAND * codeBytes(method.kind === "widened" || method.kind === "words");
  const negative = method.kind === "turned" ? signs + row * STEPS : signs;
  const scales = method.kind === "turned" ? negative + row * halves : signs;
  const minimums = scales + row * halves;
  const bytes = minimums + (format.scales.hasMinimum ? row * halves : 0);
  return { halves, row, signs, negative, scales, minimums, bytes };
}

/**
 * Expands the codes and scales of a band's blocks from address `to` on; returns the address of their end.
 *
 * @param bands number of bands whose vectors lie side by side; `to` is that of this band's first
 */
export function fillPanel(
  f: FunctionBuilder,
  product: Product,
  { from, end, bands = 1, ...place }: {
    from: Local<"i32">;
    end: Local<"i32">;
    bands?: number;
    to?: Local<"i32">;
  },
): Local<"i32"> {
  const { method, memories: { panel } } = product;
  const layout = layoutOf(product, bands);
  const to = f.let(place.to ?? i32.const(0));
  const store: Store = (offset, quads) => storeBackwards(f, panel, to, quads, offset);
  walkBlocks(f, product, from, end, (source) => {
    if (method.kind === "turned") storeMagnitudes(f, source, layout, store);
    else storeCodes(f, method, source, layout, store);
    storeScales(product, source, layout, store);
    f.increase(to, layout.bytes);
  });
  return to;
}

type Layout = ReturnType<typeof layoutOf>;

/** Stores the two vectors of a band at an offset from the beginning of a group. */
type Store = (offset: number, quads: Quads) => void;

/** The codes of all steps, as products read them. */
function storeCodes(
  f: FunctionBuilder,
  { kind }: DotMethod,
  source: GroupSource,
  { row }: Layout,
  store: Store,
): void {
  if (kind === "words") {
    for (let pair = 0; pair < 2 * STEPS; pair++) store(row * pair, source.load(pair));
    return;
  }
  for (let step = 0; step < STEPS; step++) {
    const codes = source.load(step);
    if (kind !== "widened") {
      store(row * step, codes);
      continue;
    }
    const wide = codes.map((quad) => widenPairs(f, quad));
    for (let i = 0; i < 2; i++) store(row * (2 * step + i), wide.map((pairs) => pairs[i]!));
  }
}

function storeScales(
  { format }: Product,
  source: GroupSource,
  layout: Layout,
  store: Store,
): void {
  for (let half = 0; half < layout.halves; half++) {
    store(layout.scales + layout.row * half, source.scales(half));
    if (format.scales.hasMinimum) {
      store(layout.minimums + layout.row * half, source.minimums(half));
    }
  }
}

/**
 * The magnitudes of signed codes, masks of the negative ones, and the sums of the latter's magnitudes, with
 * SUM_BIAS.
 */
function storeMagnitudes(
  f: FunctionBuilder,
  source: GroupSource,
  { halves, row, signs, negative }: Layout,
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
      store(row * step, [magnitudes[0], magnitudes[1]]);
      store(signs + row * step, [masks[0], masks[1]]);
      sums.forEach((sum, quad) => addNegatives(f, sum, masks[quad], magnitudes[quad]));
    }
    const [first, second] = sums.map((sum) =>
      i32x4.add(i32x4.extadd_pairwise_i16x8_u(sum), lanes(f, Float32Array.of(SUM_BIAS)))
    );
    store(negative + row * half, [first, second]);
  }
}

/** A group of the panel at an address, some bytes further. */
function groupAt(
  f: FunctionBuilder,
  product: Product,
  at: Expression<"i32">,
  offset: number,
  bands = 1,
): GroupSource {
  const { method, memories } = product;
  const panel = memories.panel.behind(offset);
  const layout = layoutOf(product, bands);
  const quads = (offset: number): Quads =>
    Array.from({ length: 2 * bands }, (_, i) => f.let(panel.v128.load(at, offset + 16 * i)));
  return {
    quads: 2 * bands,
    isBiased: true,
    load: (step) => quads(layout.row * step),
    ...(method.kind === "turned" && {
      negative: {
        signs: (step) => quads(layout.signs + layout.row * step),
        sums: (half) => quads(layout.negative + layout.row * half),
      },
    }),
    sum: method.kind === "widened" ? (f, _method, operands) => sumWidePairs(f, operands) : sumDots,
    scales: (half) => quads(layout.scales + layout.row * half),
    minimums: (half) => quads(layout.minimums + layout.row * half),
  };
}

/**
 * Puts a group, of one band or of several side by side, at a place of the panel, for tokens that are
 * multiplied with it at once.
 */
export function stageGroup(
  f: FunctionBuilder,
  product: Product,
  source: GroupSource,
  place = 0,
): GroupSource {
  const { method, memories: { panel } } = product;
  const here = i32.const(0);
  const store: Store = (offset, quads) => storeBackwards(f, panel, here, quads, place + offset);
  const bands = (source.quads ?? 2) / 2;
  const layout = layoutOf(product, bands);
  storeCodes(f, method, source, layout, store);
  storeScales(product, source, layout, store);
  return groupAt(f, product, here, place, bands);
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

/** A group of the panel at a constant address, of one band or of several side by side. */
export function panelGroup(
  f: FunctionBuilder,
  product: Product,
  group: number,
  bands = 1,
): GroupSource {
  return groupAt(f, product, i32.const(0), group * layoutOf(product, bands).bytes, bands);
}
