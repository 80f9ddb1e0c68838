// Operations over neighbouring rows, in WebAssembly: rows gathered side by side, one item each, and
// attention of a head of a row to a span of rows, by an online softmax (Milakov and Gimelshein 2018).

import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../../ops/activation.ts";
import type { Columns } from "../../ops/elementwise.ts";
import { NO_ROW, type RelativePositions, type SpanAttentionOptions } from "../../ops/spans.ts";
import { exponential } from "../activate/kernel.ts";
import { LOWEST } from "../attention/softmax.ts";
import { layoutOf, ZERO } from "../columns/elementwise.ts";
import { type CpuCore, floatBits } from "../core.ts";
import { keepCall } from "../kept_calls.ts";
import { lanes } from "../formats/scales.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import { forFours, sumOfLanes } from "../vectors.ts";
import { f32, f32x4, type I32, i32, type Memory, type ModuleBuilder } from "../wasm/mod.ts";

const GATHER_ARGUMENTS = ["x", "stride", "sources", "taps", "y"] as const;

function addGather(module: ModuleBuilder, work: Memory): void {
  addKernel(
    module,
    work,
    { name: "gather_rows", takes: GATHER_ARGUMENTS },
    (f, given, first, last) =>
      forItems(f, first, last, (row) => {
        const { taps, stride } = given;
        const columns = f.let(i32.shr_u(stride, 2));
        const source = f.let(i32.add(given.sources, i32.mul(row, i32.mul(taps, 4))));
        const to = f.let(i32.add(given.y, i32.mul(row, i32.mul(taps, stride))));
        const tap = f.let(i32.const(0));
        f.forUpTo(tap, taps, 1, () => {
          const from = f.let(work.i32.load(source));
          f.if(
            i32.eq(from, NO_ROW | 0),
            () => forFours(f, work, columns, (four) => four.store(to, ZERO)),
            () => {
              const at = f.let(i32.add(given.x, i32.mul(from, stride)));
              forFours(f, work, columns, (four) => four.store(to, four.load(at)));
            },
          );
          f.increase(source, 4);
          f.increase(to, stride);
        });
      }),
  );
}

/** y = the rows of x with the row's numbers, side by side. */
export function gatherRows(
  core: CpuCore,
  x: FloatRows,
  sources: Buffer,
  y: FloatRows,
  { taps }: { taps: number },
) {
  const kernels = core.kernels("gather rows", () => workModule(addGather));
  const words = inOrder(GATHER_ARGUMENTS, {
    x: cpu(x.floats).address,
    stride: 4 * x.stride,
    sources: cpu(sources).address,
    taps,
    y: cpu(y.floats).address,
  });
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "gather_rows", arguments: words, items: rows }),
  );
}

const ATTENTION_ARGUMENTS = [
  ...["queries", "queryStride", "keys", "keyStride", "values", "valueStride"] as const,
  ...["spans", "y", "yStride", "heads", "headDim", "valueDim", "scale", "softcap"] as const,
  ...["positions", "positionStride", "table", "tableStride"] as const,
] as const;

interface Shape {
  readonly isRelative: boolean;
  readonly isCapped: boolean;
}

function addSpanAttention(
  module: ModuleBuilder,
  work: Memory,
  { isRelative, isCapped }: Shape,
): void {
  const kernel = { name: "span_attention", takes: ATTENTION_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) => {
    const scale = f.let(f32x4.splat(f32.reinterpret_i32(given.scale)));
    const softcap = f.let(f32x4.splat(f32.reinterpret_i32(given.softcap)));
    forItems(f, first, last, (item) => {
      const { heads, headDim, valueDim } = given;
      const row = f.let(i32.div_u(item, heads));
      const head = f.let(i32.rem_u(item, heads));
      const byte = f.let(i32.mul(head, i32.mul(headDim, 4)));
      const place = (base: I32, index: I32, stride: I32, column: I32 = byte) =>
        f.let(i32.add(i32.add(base, i32.mul(index, stride)), column));
      const valueByte = f.let(i32.mul(head, i32.mul(valueDim, 4)));
      const query = place(given.queries, row, given.queryStride);
      const asked = isRelative ? place(given.positions, row, given.positionStride) : undefined;
      const to = place(given.y, row, given.yStride, valueByte);
      forFours(f, work, valueDim, (four) => four.store(to, ZERO));
      const span = f.let(i32.add(given.spans, i32.mul(row, 8)));
      const key = f.let(work.i32.load(span));
      const end = f.let(work.i32.load(span, 4));
      const peak = f.let(f32x4.splat(f32.const(LOWEST)));
      const total = f.let(ZERO);
      f.forUpTo(key, end, 1, () => {
        const sums = f.let(ZERO);
        const addProducts = (x: I32, y: I32) =>
          forFours(f, work, headDim, (four) => {
            f.set(sums, f32x4.add(sums, f32x4.mul(four.load(x), four.load(y))));
          });
        addProducts(query, place(given.keys, key, given.keyStride));
        if (asked) {
          const distance = f.let(i32.sub(row, key));
          const entry = f.let(i32.mul(distance, -2));
          f.if(i32.gt_s(distance, 0), () => f.set(entry, i32.sub(i32.mul(distance, 2), 1)));
          addProducts(asked, place(given.table, entry, given.tableStride));
        }
        const score = f.let(f32x4.mul(f32x4.splat(sumOfLanes(f, sums)), scale));
        if (isCapped) {
          // tanh(u) = 1 - 2 / (e^2u + 1).
          const [one, two] = [1, 2].map((value) => lanes(f, Float32Array.of(value)));
          const power = exponential(f, f.let(f32x4.div(f32x4.mul(score, two), softcap)));
          const less = f32x4.div(two, f32x4.add(power, one));
          f.set(score, f32x4.mul(softcap, f32x4.sub(one, less)));
        }
        const highest = f.let(f32x4.max(peak, score));
        const correction = f.let(exponential(f, f.let(f32x4.sub(peak, highest))));
        const weight = f.let(exponential(f, f.let(f32x4.sub(score, highest))));
        f.set(peak, highest);
        f.set(total, f32x4.add(f32x4.mul(total, correction), weight));
        const value = place(given.values, key, given.valueStride, valueByte);
        forFours(f, work, valueDim, (four) => {
          const earlier = f32x4.mul(four.load(to), correction);
          four.store(to, f32x4.add(earlier, f32x4.mul(four.load(value), weight)));
        });
      });
      f.if(f32.gt(f32x4.extract_lane(total, 0), 0), () => {
        forFours(f, work, valueDim, (four) => four.store(to, f32x4.div(four.load(to), total)));
      });
    });
  });
}

/** Attention of each row to the rows of its span. */
export function spanAttention(
  core: CpuCore,
  queries: Columns,
  keys: Columns,
  values: Columns,
  spans: Buffer,
  y: FloatRows,
  { heads, headDim, valueDim, scale, softcap }: SpanAttentionOptions,
  positions?: RelativePositions,
) {
  const shape: Shape = { isRelative: positions !== undefined, isCapped: softcap !== undefined };
  const kernels = core.kernels(
    `span attention ${Object.values(shape)}`,
    () => workModule((module, work) => addSpanAttention(module, work, shape)),
  );
  const [q, k, v] = [queries, keys, values].map(layoutOf);
  const asked = positions && layoutOf(positions.queries);
  const words = inOrder(ATTENTION_ARGUMENTS, {
    queries: q.address,
    queryStride: q.stride,
    keys: k.address,
    keyStride: k.stride,
    values: v.address,
    valueStride: v.stride,
    spans: cpu(spans).address,
    y: cpu(y.floats).address,
    yStride: 4 * y.stride,
    ...{ heads, headDim, valueDim },
    scale: floatBits(scale),
    softcap: floatBits(softcap ?? 0),
    positions: asked?.address ?? 0,
    positionStride: asked?.stride ?? 0,
    table: positions ? cpu(positions.table.floats).address : 0,
    tableStride: positions ? 4 * positions.table.stride : 0,
  });
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "span_attention", arguments: words, items: rows * heads }),
  );
}
