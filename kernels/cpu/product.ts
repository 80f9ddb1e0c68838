// Products of a weight matrix with int8 activations: y = W x. A tile is some tokens by the eight rows
// of a band; sums of a group are exact integers, which its scales bring together as floats, group
// after group, so that every tile gives the same bits. Few tokens read the codes where they lie; for
// many, a band's codes are spread out in a panel first, which all tokens then read.

import {
  f32x4,
  type FunctionBuilder,
  i32,
  i8x16,
  type Local,
  type Memory,
  type ModuleBuilder,
  type V128,
  v128,
} from "./wasm/mod.ts";
import { activationBytes, codeBytes } from "./activations.ts";
import {
  type Activations,
  type DotPlan,
  type DotProduct,
  planDots,
  sumDots,
  sumWidePairs,
  times,
  widenPairs,
} from "./dot_product.ts";
import {
  BAND,
  blockBytes,
  GROUP,
  groupBytes,
  type PackedFormat,
  type Quads,
  STEPS,
} from "./formats/format.ts";
import { bytes, unpackCodes } from "./formats/planes.ts";

/** Columns whose panel and activations the first cache holds. */
export const PANEL_COLUMNS = 1024;
/** Tokens of a tile: eight sums are what the registers hold beside operands. */
const TILE = 4;

/** What a product reads, as words in memory; `stride` is the bytes of a row of y. */
export const PRODUCT_ARGUMENTS = [
  ...["weights", "x", "y", "blocks", "tokens", "stride", "accumulate"],
] as const;

/** Bytes of scratch memory that a thread needs for products. */
export const PANEL_BYTES = PANEL_COLUMNS / GROUP * (2 * BAND * GROUP + 4 * 32);

/** A format on a machine. */
interface Product {
  readonly format: PackedFormat;
  readonly plan: DotPlan;
  readonly work: Memory;
  readonly weights: Memory;
}

/** Where the codes and scales of a group come from. */
interface GroupSource {
  load(step: number): Quads;
  /** The sums of the steps of a half, or of both. */
  readonly sum: typeof sumDots;
  scales(half: number): Quads;
  minimums(half: number): Quads;
}

/** Whether a format's products read activations of 16 bits on a machine. */
export function readsWide(format: PackedFormat, machine: DotProduct): boolean {
  return planOf(format, machine).isWide;
}

function planOf({ bits, table }: PackedFormat, machine: DotProduct): DotPlan {
  return planDots(machine, table ? Math.max(...table) : 2 ** bits - 1);
}

/**
 * Adds `product(arguments, scratch, first, last)` for bands `first` to `last`, rows of eight.
 * Activations are [tokens, blocks * blockSize], wide where readsWide says so; y is f32 [tokens, rows],
 * rows padded to a multiple of 8. `accumulate` adds to y. Scratch is PANEL_BYTES long.
 */
export function addProduct(
  module: ModuleBuilder,
  work: Memory,
  weights: Memory,
  format: PackedFormat,
  machine: DotProduct,
): void {
  const product: Product = { format, plan: planOf(format, machine), work, weights };
  const { isWide } = product.plan;
  const size = format.source.blockSize;
  const parameters = { arguments: "i32", scratch: "i32", first: "i32", last: "i32" } as const;
  module.function("product", parameters, (f, { arguments: record, scratch, first, last }) => {
    const [matrix, x, y, blocks, tokens, stride, accumulate] = PRODUCT_ARGUMENTS.map((_, i) =>
      f.let(work.i32.load(record, 4 * i))
    );
    const rowBytes = f.let(i32.mul(blocks, size / GROUP * activationBytes(isWide)));
    const bandBytes = f.let(i32.mul(blocks, blockBytes(format)));
    const chunkBlocks = f.let(i32.const(Math.max(1, PANEL_COLUMNS / size)));
    const isFew = f.let(i32.le_u(tokens, TILE));
    f.if(isFew, () => f.set(chunkBlocks, blocks));
    const constants = { ones: f.let(ONES) };
    const walk = { rowBytes, stride, tokens };
    const band = f.let(first);
    f.forUpTo(band, last, 1, () => {
      const at = f.let(i32.add(matrix, i32.mul(band, bandBytes)));
      const out = f.let(i32.add(y, i32.mul(band, 4 * BAND)));
      const input = f.let(x);
      const rest = f.let(blocks);
      const adds = f.let(accumulate);
      f.doWhile(() => {
        const count = f.let(chunkBlocks);
        f.if(i32.lt_u(rest, count), () => f.set(count, rest));
        const end = f.let(i32.add(at, i32.mul(count, blockBytes(format))));
        const tile = { ...walk, input, out, adds, ...constants };
        f.if(isFew, () => {
          forTokens(
            f,
            tile,
            (pointers, outputs) =>
              addTile(f, product, tile, pointers, outputs, (body) => {
                walkBlocks(f, product, at, end, body);
              }),
          );
        }, () => {
          const panelEnd = fillPanel(f, product, at, end, scratch);
          forTokens(
            f,
            tile,
            (pointers, outputs) =>
              addTile(f, product, tile, pointers, outputs, (body) => {
                walkPanel(f, product, scratch, panelEnd, body);
              }),
          );
        });
        f.set(at, end);
        f.increase(input, i32.mul(count, size / GROUP * activationBytes(isWide)));
        f.set(rest, i32.sub(rest, count));
        f.set(adds, 1);
      }, rest);
    });
  });
}

const ONES = v128.const(Array.from({ length: 16 }, (_, i) => 1 - i % 2));

interface Walk {
  readonly input: Local<"i32">;
  readonly out: Local<"i32">;
  readonly tokens: Local<"i32">;
  readonly rowBytes: Local<"i32">;
  readonly stride: Local<"i32">;
  /** Whether y is added to. */
  readonly adds: Local<"i32">;
  readonly ones: Local<"v128">;
}

/** Tiles of four tokens, then of one. */
function forTokens(
  f: FunctionBuilder,
  { input, out, tokens, rowBytes, stride }: Walk,
  body: (inputs: Local<"i32">[], outputs: Local<"i32">[]) => void,
): void {
  const rest = f.let(tokens);
  const nextInput = f.let(input);
  const nextOut = f.let(out);
  for (const count of [TILE, 1]) {
    f.while(i32.ge_u(rest, count), () => {
      const take = (next: Local<"i32">, bytes: Local<"i32">) =>
        Array.from({ length: count }, () => {
          const pointer = f.let(next);
          f.increase(next, bytes);
          return pointer;
        });
      body(take(nextInput, rowBytes), take(nextOut, stride));
      f.set(rest, i32.sub(rest, count));
    });
  }
}

/** One tile over the groups that `walk` goes through. */
function addTile(
  f: FunctionBuilder,
  { format, plan, work }: Product,
  { adds, ones }: Walk,
  inputs: readonly Local<"i32">[],
  outputs: readonly Local<"i32">[],
  walk: (body: (group: GroupSource) => void) => void,
): void {
  const meta = codeBytes(plan.isWide);
  const tokens = inputs.map((x): Activations => ({
    step: (step) => work.v128.load32_splat(x, 4 * step),
    pair: (pair) => work.v128.load32_splat(x, 4 * pair),
    wideStep: (step) => work.v128.load64_splat(x, 8 * step),
  }));
  const totals = inputs.map(() => [f.let(ZERO), f.let(ZERO)]);
  f.if(
    adds,
    () =>
      outputs.forEach((out, t) =>
        totals[t].forEach((total, quad) => f.set(total, work.v128.load(out, 16 * quad)))
      ),
  );
  walk((group) => {
    const { halves, hasMinimum } = format.scales;
    const steps = halves ? STEPS / 2 : STEPS;
    for (let half = 0; half < (halves ? 2 : 1); half++) {
      const sumAt = meta + (halves ? 4 + 4 * half : 12);
      const codeSum = (t: number) => work.v128.load32_splat(inputs[t], sumAt);
      const sums = group.sum(f, plan, {
        tokens,
        first: half * steps,
        end: (half + 1) * steps,
        load: group.load,
        start: (t) => times(codeSum(t), plan.isSigned ? 0 : format.offset),
      }, ones);
      const scales = group.scales(half);
      const minimums = hasMinimum ? group.minimums(half) : undefined;
      inputs.forEach((x, t) => {
        const scale = f.let(work.v128.load32_splat(x, meta));
        const sum = minimums && f.let(f32x4.mul(scale, f32x4.convert_i32x4_s(codeSum(t))));
        totals[t].forEach((total, quad) => {
          const dot = f32x4.convert_i32x4_s(sums[t][quad]);
          f.set(total, multiplyAdd(plan, f32x4.mul(scales[quad], scale), dot, total));
          if (minimums && sum) f.set(total, multiplyAdd(plan, minimums[quad], sum, total));
        });
      });
    }
    for (const x of inputs) f.increase(x, activationBytes(plan.isWide));
  });
  outputs.forEach((out, t) =>
    totals[t].forEach((total, quad) => f.do(work.v128.store(out, total, 16 * quad)))
  );
}

const ZERO = v128.const(new Uint8Array(16));

/** a * b + c. */
function multiplyAdd(plan: DotPlan, a: V128, b: V128, c: V128): V128 {
  return plan.kind === "widened" ? f32x4.add(f32x4.mul(a, b), c) : f32x4.relaxed_madd(a, b, c);
}

/** Goes through the blocks of a band where they lie. */
function walkBlocks(
  f: FunctionBuilder,
  product: Product,
  begin: Local<"i32">,
  end: Local<"i32">,
  body: (group: GroupSource) => void,
): void {
  const { format, weights } = product;
  const { scales } = format;
  const at = f.let(begin);
  const place = { memory: weights, address: at };
  f.doWhile(() => {
    const head = scales.loadHead(f, place);
    f.increase(at, scales.headBytes);
    const groupsEnd = f.let(i32.add(at, blockBytes(format) - scales.headBytes));
    f.doWhile(() => {
      const codeEnd = groupBytes(format) - scales.groupBytes;
      const read = (offset: number) => ({ memory: weights, address: i32.add(at, offset) });
      const loaded = scales.load(f, read(codeEnd), head);
      body({
        load: (step) => loadCodes(f, product, at, step),
        sum: sumDots,
        scales: (half) => loaded.scales[half],
        minimums: (half) => loaded.minimums![half],
      });
      f.increase(at, groupBytes(format));
    }, i32.lt_u(at, groupsEnd));
  }, i32.lt_u(at, end));
}

/** The codes of a step as dot products take them. */
function loadCodes(
  f: FunctionBuilder,
  { format, plan, weights }: Product,
  address: Local<"i32">,
  step: number,
): Quads {
  const { bits, table, offset } = format;
  const codes = unpackCodes(f, bits, { memory: weights, address }, step);
  if (!table && !plan.isSigned) return codes;
  const values = v128.const(table ?? new Uint8Array(16));
  const [first, second] = codes.map((quad) => {
    const value = table ? i8x16.swizzle(values, quad) : quad;
    return f.let(plan.isSigned ? i8x16.sub(value, bytes(offset)) : value);
  });
  return [first, second];
}

/** Spreads a band's codes and scales out, and returns where the panel ends. */
function fillPanel(
  f: FunctionBuilder,
  product: Product,
  begin: Local<"i32">,
  end: Local<"i32">,
  panel: Local<"i32">,
): Local<"i32"> {
  const { format, plan, work } = product;
  const layout = panelLayout(product);
  const out = f.let(panel);
  walkBlocks(f, product, begin, end, (group) => {
    for (let step = 0; step < STEPS; step++) {
      group.load(step).forEach((quad, q) => {
        if (!plan.isWide) return f.do(work.v128.store(out, quad, 32 * step + 16 * q));
        widenPairs(f, quad).forEach((pair, i) =>
          f.do(work.v128.store(out, pair, 32 * (2 * step + i) + 16 * q))
        );
      });
    }
    for (let half = 0; half < layout.halves; half++) {
      group.scales(half).forEach((quad, q) =>
        f.do(work.v128.store(out, quad, layout.scales + 32 * half + 16 * q))
      );
      if (!format.scales.hasMinimum) continue;
      group.minimums(half).forEach((quad, q) =>
        f.do(work.v128.store(out, quad, layout.minimums + 32 * half + 16 * q))
      );
    }
    f.increase(out, layout.bytes);
  });
  return out;
}

/** Where things are in a group of a panel. */
function panelLayout({ format, plan }: Product) {
  const halves = format.scales.halves ? 2 : 1;
  const scales = BAND * codeBytes(plan.isWide);
  const minimums = scales + 32 * halves;
  return {
    halves,
    scales,
    minimums,
    bytes: minimums + (format.scales.hasMinimum ? 32 * halves : 0),
  };
}

/** Goes through the groups of a panel. */
function walkPanel(
  f: FunctionBuilder,
  product: Product,
  begin: Local<"i32">,
  end: Local<"i32">,
  body: (group: GroupSource) => void,
): void {
  const { plan, work } = product;
  const layout = panelLayout(product);
  const at = f.let(begin);
  const quads = (offset: number): Quads => [
    f.let(work.v128.load(at, offset)),
    f.let(work.v128.load(at, offset + 16)),
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
