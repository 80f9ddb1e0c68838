// Helpers of kernels over rows of floats: loops over a vector by four elements at a time (fewer at its
// end), loops over a constant number of columns, and the sum of a vector's lanes.

import {
  type Expression,
  f32,
  f32x4,
  type FunctionBuilder,
  type I32,
  i32,
  i32x4,
  type Local,
  type Memory,
  shuffleLanes,
  type V128,
  v128,
} from "./wasm/mod.ts";

/** Four elements of a vector, or fewer at its end. */
export interface Four {
  /** Bytes from the beginning of the vectors. */
  readonly at: Local<"i32">;
  /** Loads the elements of the vector at an address, with zeros past its end. */
  load(address: I32, offset?: number): V128;
  store(address: I32, value: V128): void;
  /** A value with zeros past the end. */
  kept(value: V128): V128;
}

/**
 * Adds code that runs `body` for every four of `count` elements.
 *
 * @param parts how many fours a round of the loop takes, which then have the numbers 0 to `parts` - 1,
 *   so that each can have a sum of its own: an addition waits for the one before it to the same sum
 */
export function forFours(
  f: FunctionBuilder,
  memory: Memory,
  count: I32,
  body: (four: Four, part: number) => void,
  parts = 1,
): void {
  const at = f.let(i32.const(0));
  const addressOf = (address: I32) => i32.add(address, at);
  const whole = (part: number): Four => ({
    at,
    load: (address, offset = 0) => memory.v128.load(addressOf(address), offset + 16 * part),
    store: (address, value) => f.do(memory.v128.store(addressOf(address), value, 16 * part)),
    kept: (value) => value,
  });
  if (parts > 1) {
    const rounds = f.let(i32.mul(i32.div_u(count, 4 * parts), 16 * parts));
    f.forUpTo(at, rounds, 16 * parts, () => {
      for (let part = 0; part < parts; part++) body(whole(part), part);
    });
  }
  const end = f.let(i32.shl(i32.shr_u(count, 2), 4));
  f.forUpTo(at, end, 16, () => body(whole(0), 0));
  const rest = f.let(i32.and(count, 3));
  f.if(rest, () => {
    const mask = f.let(
      i32x4.gt_s(i32x4.splat(rest), f.constant(new Uint8Array(Int32Array.of(0, 1, 2, 3).buffer))),
    );
    body({
      at,
      load: (address, offset = 0) => v128.and(memory.v128.load(addressOf(address), offset), mask),
      store(address, value) {
        const own = f.let(value);
        const to = f.let(addressOf(address));
        for (let lane = 0; lane < 3; lane++) {
          f.if(i32.gt_u(rest, lane), () => {
            f.do(memory.f32.store(to, f32x4.extract_lane(own, lane), 4 * lane));
          });
        }
      },
      kept: (value) => v128.and(value, mask),
    }, 0);
  });
}

/** The sum of four lanes. */
export function sumOfLanes(f: FunctionBuilder, sums: Local<"v128">): Expression<"f32"> {
  const two = f.let(f32x4.add(sums, shuffleLanes(sums, sums, [2, 3, 0, 1])));
  return f32.add(f32x4.extract_lane(two, 0), f32x4.extract_lane(two, 1));
}

/** Writes zeros from an address up to another. */
export function clear(f: FunctionBuilder, memory: Memory, from: I32, end: I32): void {
  const at = f.let(typeof from === "number" ? i32.const(from) : from);
  f.forUpTo(at, end, 4, () => f.do(memory.f32.store(at, f32.const(0))));
}

/** Stores the floats of some vectors, or only those before the row's end. */
export type StorePart = (memory: Memory, address: Local<"i32">, values: readonly V128[]) => void;

/**
 * Adds code for `count` floats of a row, and code for fewer at the row's end: `body` is added twice, with
 * a function that stores all floats, or only those before the end.
 */
export function forWholeAndPart(
  f: FunctionBuilder,
  left: Local<"i32">,
  count: number,
  body: (store: StorePart) => void,
): void {
  f.if(
    i32.ge_s(left, count),
    () =>
      body((memory, address, values) =>
        values.forEach((value, i) => f.do(memory.v128.store(address, value, 16 * i)))
      ),
    () =>
      body((memory, address, values) => {
        for (let float = 0; float < count - 1; float++) {
          const value = f32x4.extract_lane(values[float >> 2], float % 4);
          f.if(i32.gt_s(left, float), () => f.do(memory.f32.store(address, value, 4 * float)));
        }
      }),
  );
}

/**
 * Adds code that goes through columns by a number of vectors of four at a time, in a loop if that takes
 * more than one round. `body` receives the number of vectors, and the first column.
 */
export function forColumns(
  f: FunctionBuilder,
  columns: number,
  atOnce: number,
  body: (vectors: number, column: Local<"i32">) => void,
): void {
  const vectors = columns / 4;
  const column = f.let(i32.const(0));
  const whole = vectors - vectors % atOnce;
  if (whole > atOnce) f.forUpTo(column, 4 * whole, 4 * atOnce, () => body(atOnce, column));
  else if (whole > 0) {
    body(atOnce, column);
    f.set(column, i32.const(4 * whole));
  }
  if (vectors > whole) body(vectors - whole, column);
}
