// Keys and values of a block as the products of tiles read them: a step of 16 positions of keys,
// transposed, or of 16 columns of values, as floats in the thread's memory.

import { type FunctionBuilder, i32, type Local, shuffleLanes, v128 } from "../wasm/mod.ts";
import type { CachedHeads } from "./cached_heads.ts";
import { BLOCK } from "../../ops/kv_cache.ts";
import { STEP } from "./tile_products.ts";
import { forColumns } from "../vectors.ts";

const ZERO = v128.const(new Uint8Array(16));
const VECTORS = STEP / 4;

/** Writes STEP positions of a block's keys from a position on, as [columns, positions]. */
export function writeKeys(
  f: FunctionBuilder,
  heads: CachedHeads,
  block: Local<"i32">,
  first: Local<"i32">,
  to: number,
): void {
  const { dim, cellBytes, panel } = heads;
  const cell = f.let(i32.add(block, i32.mul(first, cellBytes)));
  const at = f.let(i32.mul(first, 4));
  const target = f.local("i32");
  f.set(target, i32.const(0));
  f.forUpTo(target, 4 * STEP, 16, () => {
    const cells = [0, 1, 2, 3].map((i) => f.let(i32.add(cell, i * cellBytes)));
    forColumns(f, dim, 2, (vectors, column) => {
      const scales = heads.scaleAt(f, at, column);
      const bytes = f.let(heads.bytesAt(column));
      const rows = cells.map((cell, i) =>
        heads.loadFloats(f, f.let(i32.add(cell, bytes)), vectors, heads.scale(f, scales, 0, i))
      );
      const own = f.let(i32.add(target, i32.mul(column, 4 * STEP)));
      for (let i = 0; i < vectors; i++) {
        transpose(f, rows.map((row) => row[i]!)).forEach((lane, c) =>
          f.do(panel.v128.store(own, lane, to + 4 * STEP * (4 * i + c)))
        );
      }
    });
    f.increase(cell, 4 * cellBytes);
    f.increase(at, 16);
  });
}

/** Four vectors of four lanes, transposed. */
function transpose(f: FunctionBuilder, [a, b, c, d]: readonly Local<"v128">[]) {
  const [low, high] = [[0, 4, 1, 5], [2, 6, 3, 7]].map((order) => [
    f.let(shuffleLanes(a!, b!, order)),
    f.let(shuffleLanes(c!, d!, order)),
  ]);
  return [low!, high!].flatMap(([ab, cd]) => [
    shuffleLanes(ab!, cd!, [0, 1, 4, 5]),
    shuffleLanes(ab!, cd!, [2, 3, 6, 7]),
  ]);
}

/**
 * Writes STEP columns of a block's values from a column on, as [BLOCK, columns]: the positions from `from`
 * up to before `end`, and zeros for the others, which may be of another sequence. Columns from
 * `columns` on are zero, too.
 */
export function writeValues(
  f: FunctionBuilder,
  heads: CachedHeads,
  columns: number,
  { block, column, from, end, to }: {
    block: Local<"i32">;
    column: Local<"i32">;
    from: Local<"i32">;
    end: Local<"i32">;
    to: number;
  },
): void {
  const { cellBytes, panel } = heads;
  const target = f.let(i32.const(0));
  const isWhole = i32.eq(i32.sub(end, from), BLOCK);
  f.if(i32.eqz(isWhole), () => {
    f.forUpTo(target, 4 * STEP * BLOCK, 16, () => f.do(panel.v128.store(target, ZERO, to)));
  });
  const write = (vectors: number) => {
    const at = f.let(i32.mul(from, 4));
    const first = i32.add(i32.mul(from, cellBytes), heads.bytesAt(column));
    const cell = f.let(i32.add(block, first));
    const scales = heads.scaleAt(f, at, column);
    f.set(target, i32.mul(from, 4 * STEP));
    f.forUpTo(target, i32.mul(end, 4 * STEP), 4 * STEP, () => {
      const loaded = heads.loadFloats(f, cell, vectors, heads.scale(f, scales));
      for (let i = 0; i < VECTORS; i++) {
        f.do(panel.v128.store(target, loaded[i] ?? ZERO, to + 16 * i));
      }
      f.increase(cell, cellBytes);
      heads.nextScale(f, scales);
    });
  };
  const rest = columns % STEP / 4;
  if (rest === 0) write(VECTORS);
  else f.if(i32.lt_u(column, columns - columns % STEP), () => write(VECTORS), () => write(rest));
}
