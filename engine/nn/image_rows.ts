// Rows of images, whose embeddings an encoder made: they stand in a step where tokens would, and are
// looked up as tokens are, in tables that are written for the step. A model's first layers may add
// more of an image to its rows (deepstack, Meng et al. 2024): each of them has a table of its own.
// Nothing is allocated before the first image, unless it is asked for.

import {
  type Device,
  type FloatRows,
  floatRows,
  IMAGE_TOKEN,
  NO_WORK,
  type Operation,
  type OperationMakers,
} from "../../kernels/mod.ts";
import type { ImageRun } from "../prompt/mod.ts";
import { countsOf, type StepOperation, type StepState } from "./step.ts";

/** Columns of the embeddings that go to one place. */
interface Slice {
  /** That place: where the first slice is all there is, and others are added. */
  readonly x: FloatRows;
  /** The device of that place, and its operations on rows of a step. */
  readonly device: Device;
  readonly make: OperationMakers;
  /** The first of the columns. */
  readonly first: number;
  /** Made with the first image. */
  lookUp?: { readonly table: FloatRows; readonly embed: Operation };
}

/** The rows of a step that are of images. */
export class ImageRows {
  readonly #state: StepState;
  readonly #most: number;
  readonly #slices: Slice[] = [];

  /**
   * @param most most rows of a step
   * @param areWhole whether rows of an image see all of it, so that it has to run in one step
   */
  constructor(state: StepState, most: number, readonly areWhole = false) {
    this.#state = state;
    this.#most = most;
  }

  /** Floats of a row: those of all slices. */
  get columns(): number {
    return this.#slices.reduce((sum, { x }) => sum + x.columns, 0);
  }

  /** The operation that puts the next slice of the embeddings in x, or adds it: in rows of images only. */
  next(x: FloatRows, device: Device, make: OperationMakers): StepOperation {
    const slice: Slice = { x, device, make, first: this.columns };
    this.#slices.push(slice);
    return {
      name: "embed images",
      reads: [this.#state.rows, ...slice.first > 0 ? [x.floats] : []],
      writes: [x.floats],
      encode: (pass, step) => {
        if (step.imageRows > 0) this.#lookUp(slice).embed.encode(pass, step.rows);
      },
      work: (step) => {
        const counts = { ...countsOf(step), rows: step.imageRows };
        return step.imageRows > 0 ? this.#lookUp(slice).embed.work(counts) : NO_WORK;
      },
    };
  }

  /** Makes all tables, as the first image would. */
  allocate(): void {
    for (const slice of this.#slices) this.#lookUp(slice);
  }

  /** Writes the embeddings of a step's images and their M-RoPE positions, one after the other. */
  write(runs: readonly ImageRun[], mropePositions: Uint32Array<ArrayBuffer>): void {
    this.#slices[0].device.write(this.#state.mropePositions, 0, mropePositions);
    for (const slice of this.#slices) {
      const { table } = this.#lookUp(slice);
      let row = 0;
      for (const run of runs) {
        const rows = rowsOf(run, slice.first, table);
        slice.device.write(table.floats, row * table.stride * 4, rows);
        row += run.count;
      }
    }
  }

  #lookUp(slice: Slice): NonNullable<Slice["lookUp"]> {
    if (slice.lookUp) return slice.lookUp;
    const table = floatRows(slice.device, "image rows", this.#most, slice.x.columns);
    const matrix = slice.device.tableOf(table, this.#most, IMAGE_TOKEN);
    const options = { by: "token", accumulate: slice.first > 0 } as const;
    const embed = slice.make.embed(matrix, this.#state, slice.x, options);
    return slice.lookUp = { table, embed };
  }
}

/** The columns from `from` on of a run's embeddings, as rows of a table. */
function rowsOf(
  { image: { embeddings, tokens }, first, count }: ImageRun,
  from: number,
  { columns, stride }: FloatRows,
): Float32Array<ArrayBuffer> {
  const width = embeddings.length / tokens;
  const rows = new Float32Array(count * stride);
  for (let row = 0; row < count; row++) {
    const at = (first + row) * width + from;
    rows.set(embeddings.subarray(at, at + columns), row * stride);
  }
  return rows;
}
