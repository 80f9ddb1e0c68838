// Rows of weights are packed as they are read: which ones at a time, and in how much memory.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { type Packer, WeightMatrix, WeightWriter } from "../../../kernels/cpu/matrix.ts";
import { formatNamed } from "../weights.ts";

const BAND = 8;
const FORMAT = formatNamed("Q8_0");
const [ROWS, COLUMNS, UNIT] = [60, 64, 20];
const ROW_BYTES = COLUMNS / FORMAT.blockSize * FORMAT.blockBytes;
/** Bytes of row r are r. */
const FILE = Uint8Array.from({ length: ROWS * ROW_BYTES }, (_, i) => Math.floor(i / ROW_BYTES));

/** A packer that only notes what it is given. */
class Notes implements Packer {
  readonly runs: { first: number; rows: number[] }[] = [];
  completed = 0;
  mostStaged = 0;
  readonly #memory = new Uint8Array(new SharedArrayBuffer(FILE.length));

  reserve() {
    return { memory: 0, address: 0, unitBytes: 0 };
  }

  staging(bytes: number) {
    this.mostStaged = Math.max(this.mostStaged, bytes);
    return this.#memory.subarray(0, bytes);
  }

  pack(...[, , , first, rows]: Parameters<Packer["pack"]>) {
    this.runs.push({ first, rows: Array.from(rows).filter((_, i) => i % ROW_BYTES === 0) });
  }

  packFile() {
    return false;
  }

  /** What other operations do between two pieces. */
  spoil() {
    this.#memory.fill(255);
  }
}

function write(pieces: readonly number[], inPlace: boolean): Notes {
  const notes = new Notes();
  const matrix = new WeightMatrix("w", FORMAT, { rows: ROWS, columns: COLUMNS, unit: UNIT });
  const writer = new WeightWriter(matrix, 0, notes, () => notes.completed++);
  let at = 0;
  for (const count of pieces) {
    const piece = FILE.subarray(at, at += count * ROW_BYTES);
    const rows = inPlace ? writer.target(piece.length) : piece;
    if (inPlace) rows.set(piece);
    writer.append(rows);
    notes.spoil();
  }
  writer.finish();
  return notes;
}

Deno.test("rows are packed in whole bands as soon as they are there, whatever the pieces", () => {
  const numbers = Array.from({ length: ROWS }, (_, i) => i);
  for (const pieces of [[60], [1, 2, 16, 3, 25, 13], new Array(60).fill(1)]) {
    for (const inPlace of [false, true]) {
      const { runs, mostStaged, completed } = write(pieces, inPlace);
      assertEquals(completed, 1);
      assertEquals(runs.flatMap(({ rows }) => rows), numbers);
      for (const { first, rows } of runs) {
        assertEquals(rows[0], first);
        const begin = first % UNIT;
        assert(begin % BAND === 0);
        assert(begin + rows.length === UNIT || rows.length % BAND === 0);
        assert(begin + rows.length <= UNIT);
      }
      assert(mostStaged <= (Math.max(...pieces) + BAND - 1) * ROW_BYTES);
    }
  }
});

Deno.test("a matrix that lacks rows is refused with their number", () => {
  const matrix = new WeightMatrix("short", FORMAT, { rows: ROWS, columns: COLUMNS });
  const notes = new Notes();
  const writer = new WeightWriter(matrix, 0, notes, () => notes.completed++);
  writer.append(FILE.subarray(0, 10 * ROW_BYTES));
  const message = 'Cannot finish "short": it has 60 rows, but 10 were written';
  assertThrows(() => writer.finish(), RangeError, message);
  assertEquals(notes.completed, 0);
});
