// Rows of an activation on their way to the host. On the device rows may be padded; the result is
// not. The caller submits the recorded copies, and a read waits only for the last submit.

import type { Device, FloatRows, Readback, Recorder } from "../../kernels/mod.ts";
import type { Config } from "./config.ts";

/** A staging buffer for rows. One read at a time. */
export class RowReadback {
  /** The buffer to which rows are copied. */
  readonly staging: Readback;
  readonly #rows: FloatRows;

  /** @param most most rows of one read */
  constructor(device: Device, label: string, rows: FloatRows, most: number) {
    this.#rows = rows;
    this.staging = device.readback(`${label} readback`, most * rows.stride * 4);
  }

  /**
   * Records the copy of `count` rows from `first` on. They become the rows from `at` on of the
   * result.
   */
  copy(recorder: Recorder, first: number, count: number, at = 0): void {
    const { floats, stride } = this.#rows;
    const bytes = stride * 4;
    const { buffer } = this.staging;
    recorder.copy(floats, first * bytes, buffer, at * bytes, count * bytes);
  }

  /** Frees its memory. */
  free(): void {
    this.staging.free();
  }

  /** The copied rows, after the copies were submitted: [count, columns]. */
  async read(count: number): Promise<Float32Array> {
    const { columns, stride } = this.#rows;
    const padded = new Float32Array(await this.staging.readNow(count * stride * 4));
    if (columns === stride) return padded;
    const values = new Float32Array(count * columns);
    for (let row = 0; row < count; row++) {
      values.set(padded.subarray(row * stride, row * stride + columns), row * columns);
    }
    return values;
  }
}

// How the embedding of a text follows from the states of its tokens: `<architecture>.pooling_type`,
// numbered as in llama.h. model/embed.ts does the pooling.

/** The mean of all states, the state of the first token, or that of the last. */
export type Pooling = "mean" | "first" | "last";

/**
 * Poolings by their number. A model without pooling gives the last state, a rank model that of CLS.
 */
const POOLING: readonly Pooling[] = ["last", "mean", "first", "last", "first"];

/** The number of models that rank, which have a head. */
const RANK = 4;

/** -1, read as unsigned: unspecified. */
const UNSAID = 2 ** 32 - 1;

/** Whether a file says that its model ranks. */
export function isRanking(config: Config): boolean {
  return config.numberOr("pooling_type", 0) === RANK;
}

/** The pooling of a model's file. Errors: GgufError for an unknown number. */
export function poolingOf(config: Config): Pooling {
  const number = config.numberOr("pooling_type", 0);
  const pooling = number === -1 || number === UNSAID ? POOLING[0] : POOLING[number];
  if (pooling) return pooling;
  throw config.error("pooling_type", `${number} is no pooling that is known here`);
}
