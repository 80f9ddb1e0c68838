// The rows of images and sounds in a step. An encoder made their embeddings, which are written into
// tables for the step and then looked up like those of tokens. The first layers may add more of an image
// to its rows (deepstack, Meng et al. 2024); each has a table of its own. Memory is allocated
// with the first of them, or at load on request.

import {
  type Device,
  type FloatRows,
  floatRows,
  MEDIA_TOKEN,
  NO_WORK,
  type Operation,
  type OperationMakers,
} from "../../kernels/mod.ts";
import type { MediaRun } from "../prompt/mod.ts";
import { countsOf, type StepOperation, type StepState } from "./step.ts";

/** The columns of the embeddings that one layer takes. */
interface Slice {
  /** The rows that the embeddings go to. The first slice is written, others are added. */
  readonly x: FloatRows;
  /** The device of these rows, and its operations. */
  readonly device: Device;
  readonly make: OperationMakers;
  /** Index of the first column. */
  readonly first: number;
  /** Made with the first image. */
  lookUp?: { readonly table: FloatRows; readonly embed: Operation };
}

/** The rows of images and sounds in a step. */
export class MediaRows {
  readonly #state: StepState;
  readonly #most: number;
  readonly #slices: Slice[] = [];

  /**
   * @param most most rows of a step
   * @param areBidirectional whether rows of an image attend to each other in both directions, so that
   *   the image has to run in one step
   */
  constructor(state: StepState, most: number, readonly areBidirectional = false) {
    this.#state = state;
    this.#most = most;
  }

  /** Floats of a row, in all slices together. */
  get columns(): number {
    return this.#slices.reduce((sum, { x }) => sum + x.columns, 0);
  }

  /**
   * The operation that writes or adds the next slice of the embeddings to the rows of media in x.
   */
  next(x: FloatRows, device: Device, make: OperationMakers): StepOperation {
    const slice: Slice = { x, device, make, first: this.columns };
    this.#slices.push(slice);
    return {
      name: "embed media",
      reads: [this.#state.rows, ...slice.first > 0 ? [x.floats] : []],
      writes: [x.floats],
      encode: (pass, step) => {
        if (step.mediaRows > 0) this.#lookUp(slice).embed.encode(pass, step.rows);
      },
      work: (step) => {
        const counts = { ...countsOf(step), rows: step.mediaRows };
        return step.mediaRows > 0 ? this.#lookUp(slice).embed.work(counts) : NO_WORK;
      },
    };
  }

  /** Makes all tables, as the first image would. */
  allocate(): void {
    for (const slice of this.#slices) this.#lookUp(slice);
  }

  /** Writes the embeddings of a step's media, one after the other. */
  write(runs: readonly MediaRun[]): void {
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
    const table = floatRows(slice.device, "media rows", this.#most, slice.x.columns);
    const matrix = slice.device.tableOf(table, this.#most, MEDIA_TOKEN);
    const options = { by: "token", accumulate: slice.first > 0 } as const;
    const embed = slice.make.embed(matrix, this.#state, slice.x, options);
    return slice.lookUp = { table, embed };
  }
}

/** The columns of a run's embeddings from `from` on, as rows of a table. */
function rowsOf(
  { media: { embeddings, tokens }, first, count }: MediaRun,
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
