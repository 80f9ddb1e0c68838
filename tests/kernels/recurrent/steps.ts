// Feeding sequences to a recurrent kernel in steps of several rows each, as the engine does: the
// rows of all sequences side by side, one segment for each, their states in slots.

import { assert } from "@std/assert";
import {
  type Buffer,
  type Device,
  type FloatRows,
  floatRows,
  type Pass,
  STEP_ROW,
  STEP_SEGMENT,
  type StepSegments,
} from "../../../kernels/mod.ts";
import { readFloats, submit, upload, write } from "../../gpu.ts";
import { randomFloats } from "../../numbers.ts";
import { assertClose, type Tolerance, writeRows } from "../close.ts";

/** Rows and slot of each sequence. */
export const SEQUENCES = [{ rows: 23, slot: 2 }, { rows: 9, slot: 0 }];
/** Slots, one of which belongs to nobody. */
export const SLOTS = 3;
/** Most rows of a sequence in a step: all of them, some, and one as in decode. */
const CHUNKS = [23, 7, 1];

/** The values of one sequence's rows, by the name of the activation that holds them. */
export type Sequence = Record<string, Float32Array>;

/** A kernel under test, its inputs and its output bound. */
export interface Bound {
  encode(pass: Pass, segments: number, longest: number): void;
}

/** Seeded values for every sequence: `columns` of each activation, times a factor. */
export function randomSequences(columns: Record<string, [count: number, factor: number]>) {
  return SEQUENCES.map(({ rows }, sequence): Sequence => {
    const entries = Object.entries(columns).map(([name, [count, factor]], i) => {
      const values = randomFloats(rows * count, 7 * i + sequence + 1);
      return [name, values.map((value) => value * factor)];
    });
    return Object.fromEntries(entries);
  });
}

/** Columns `from` to `to` of rows of `width`. */
export function columnsOf(rows: Float32Array, width: number, from: number, to: number) {
  return rows.filter((_, i) => i % width >= from && i % width < to);
}

/** Runs sequences through a kernel in every chunking, and holds its results against `expected`. */
export async function assertSteps(
  device: Device,
  sequences: Sequence[],
  { columns, stateBytes, bind, expected, tolerance }: {
    /** Columns of y. */
    columns: number;
    stateBytes: number;
    bind(
      inputs: Record<string, FloatRows>,
      y: FloatRows,
      step: StepSegments,
      state: Buffer,
    ): Bound;
    /** Rows of y for each sequence. */
    expected: Float32Array[];
    /** For each sequence. */
    tolerance(sequence: number): Tolerance;
  },
): Promise<void> {
  const most = SEQUENCES.reduce((sum, { rows }) => sum + rows, 0);
  const inputs = Object.fromEntries(
    Object.entries(sequences[0]).map(([name, values]) =>
      [name, floatRows(device, name, most, values.length / SEQUENCES[0].rows)] as const
    ),
  );
  const y = floatRows(device, "y", most, columns);
  const step = {
    rows: upload(device, new Uint32Array(most * STEP_ROW.words)),
    segments: upload(device, new Uint32Array(SEQUENCES.length * STEP_SEGMENT.words)),
  };
  // What a sequence before left in the slots: nothing may come of it, not even of what is not finite.
  const stale = new Float32Array(stateBytes / 4).map((_, i) => i % 3 === 0 ? NaN : 12345);
  const state = upload(device, stale);
  const kernel = bind(inputs, y, step, state);

  const results: Float32Array[][] = [];
  for (const chunk of CHUNKS) {
    const outputs = SEQUENCES.map(({ rows }) => new Float32Array(rows * columns));
    for (let from = 0; from < SEQUENCES[0].rows; from += chunk) {
      const shares = SEQUENCES.flatMap(({ rows, slot }, sequence) => {
        const count = Math.min(chunk, rows - from);
        return count > 0 ? [{ sequence, slot, count }] : [];
      });
      const rows = shares.flatMap(({ slot, count }) =>
        Array.from({ length: count }, (_, i) => {
          return { token: 0, position: from + i, slot, time: 0, height: 0, width: 0 };
        })
      );
      let first = 0;
      const segments = shares.map(({ count }) => {
        return { firstRow: (first += count) - count, rows: count };
      });
      write(device, step.rows, STEP_ROW.pack(rows));
      write(device, step.segments, STEP_SEGMENT.pack(segments));
      for (const [name, to] of Object.entries(inputs)) {
        const parts = shares.map(({ sequence, count }) =>
          sequences[sequence][name].subarray(from * to.columns, (from + count) * to.columns)
        );
        writeRows(device, to, Float32Array.from(parts.flatMap((part) => [...part])));
      }
      write(device, y.floats, new Float32Array(y.floats.size / 4).fill(12345));
      submit(device, (pass) => kernel.encode(pass, shares.length, chunk));
      const padded = await readFloats(device, y.floats, first * y.stride);
      shares.forEach(({ sequence, count }, i) => {
        for (let row = 0; row < count; row++) {
          const at = (segments[i].firstRow + row) * y.stride;
          outputs[sequence].set(padded.subarray(at, at + columns), (from + row) * columns);
          const padding = padded.subarray(at + columns, at + y.stride);
          assert(padding.every((value) => value === 0), "the padding is zero");
        }
      });
    }
    results.push(outputs);
  }
  SEQUENCES.forEach((_, sequence) => {
    for (const outputs of results) {
      assertClose(outputs[sequence], expected[sequence], tolerance(sequence));
      // A state goes to memory and back without a change, and no row is computed in another order.
      assertClose(outputs[sequence], results[0][sequence], () => 0);
    }
  });
  // The slot of nobody is as it was.
  const used = SEQUENCES.map(({ slot }) => slot);
  const floats = stateBytes / 4 / SLOTS;
  const after = await readFloats(device, state, stateBytes / 4);
  const untouched = Array.from({ length: SLOTS }, (_, slot) => slot)
    .filter((slot) => !used.includes(slot))
    .every((slot) => {
      const range = [slot * floats, (slot + 1) * floats] as const;
      return after.subarray(...range).every((value, i) => Object.is(value, stale[range[0] + i]));
    });
  assert(untouched, "the state of another slot is left alone");
}
