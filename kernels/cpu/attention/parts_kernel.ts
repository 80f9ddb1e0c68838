// Adds up the results of a row's parts of positions (softmax.ts), which several items computed, in
// the order of the parts. One item is a query head of a row.

import { f32x4, i32, type Memory, type ModuleBuilder } from "../wasm/mod.ts";
import { RecordLayout } from "../../record.ts";
import { addKernel, forItems } from "../kernel.ts";
import { addPart, clearResults, PART } from "./softmax.ts";
import { clear } from "../vectors.ts";

/** Floats of a part's results beside its values: maximum, sum, and two that fill up a vector of four. */
export const PARTIAL_EXTRA = 4;

/** The positions that a row attends to, which the host writes for each row. */
export const SPAN = new RecordLayout("Span", {
  /** The first position. */
  begin: "u32",
  /** One past the last position. */
  end: "u32",
  /** Address of the sequence's table of blocks. */
  table: "u32",
  /** Factor of the query. */
  scale: "f32",
  /** Position of the row itself. */
  position: "u32",
});

/** The arguments for adding parts; `heads` is per row. */
export const COMBINE_PARTS_ARGUMENTS = [
  ...["spans", "partials", "parts", "heads", "y", "yStride"] as const,
] as const;

/**
 * Adds `combine_parts(record, first, last)` for items row * heads + head: adds up the results of
 * parts in y.
 */
export function addCombineParts(
  module: ModuleBuilder,
  work: Memory,
  panel: Memory,
  valueDim: number,
): void {
  const kernel = { name: "combine_parts", takes: COMBINE_PARTS_ARGUMENTS };
  const origin = i32.const(0);
  const places = { results: 0, maximum: 4 * valueDim, sum: 4 * valueDim + 4 };
  const bytes = 4 * (valueDim + PARTIAL_EXTRA);
  addKernel(module, work, kernel, (f, given, first, last) =>
    forItems(f, first, last, (item) => {
      const row = f.let(i32.div_u(item, given.heads));
      const head = f.let(i32.rem_u(item, given.heads));
      const span = f.let(i32.add(given.spans, i32.mul(row, SPAN.bytes)));
      const begin = f.let(work.i32.load(span, SPAN.byte.begin));
      const end = f.let(work.i32.load(span, SPAN.byte.end));
      const position = f.let(i32.mul(i32.div_u(begin, PART), PART));
      const part = f.let(i32.add(given.partials, i32.mul(item, i32.mul(given.parts, bytes))));
      const earlier = { memory: panel, at: origin, ...places };
      clearResults(f, panel, origin, places, valueDim);
      f.doWhile(() => {
        addPart(f, earlier, { memory: work, at: part, ...places }, valueDim);
        f.increase(part, bytes);
        f.increase(position, PART);
      }, i32.lt_u(position, end));
      const out = f.let(
        i32.add(i32.add(given.y, i32.mul(row, given.yStride)), i32.mul(head, 4 * valueDim)),
      );
      const sum = f.let(panel.v128.load32_splat(origin, places.sum));
      for (let i = 0; i < valueDim; i += 4) {
        f.do(work.v128.store(out, f32x4.div(panel.v128.load(origin, 4 * i), sum), 4 * i));
      }
      f.if(i32.eq(i32.add(head, 1), given.heads), () => {
        const next = i32.mul(i32.add(row, 1), given.yStride);
        clear(f, work, i32.add(out, 4 * valueDim), f.let(i32.add(given.y, next)));
      });
    }));
}
