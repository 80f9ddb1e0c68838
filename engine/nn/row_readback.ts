// Rows of an activation on their way to the host. On the GPU they are padded to a stride; what is read
// is not. Commands are the caller's: this records copies, and waits for nobody's submit but the last.

import type { Device, FloatRows, Readback, Recorder } from "../../kernels/mod.ts";

/** A staging buffer for rows. One read at a time. */
export class RowReadback {
  readonly #rows: FloatRows;
  readonly #readback: Readback;

  /** @param most most rows that one read takes */
  constructor(device: Device, label: string, rows: FloatRows, most: number) {
    this.#rows = rows;
    this.#readback = device.readback(`${label} readback`, most * rows.stride * 4);
  }

  /** Records the copy of `count` rows from `first` on; they become the rows from `at` on. */
  copy(recorder: Recorder, first: number, count: number, at = 0): void {
    const { floats, stride } = this.#rows;
    const bytes = stride * 4;
    const { buffer } = this.#readback;
    recorder.copy(floats, first * bytes, buffer, at * bytes, count * bytes);
  }

  /** Gives its memory back. */
  free(): void {
    this.#readback.free();
  }

  /** What was copied, once it is submitted: [count, columns]. */
  async read(count: number): Promise<Float32Array> {
    const { columns, stride } = this.#rows;
    const padded = new Float32Array(await this.#readback.readNow(count * stride * 4));
    if (columns === stride) return padded;
    const values = new Float32Array(count * columns);
    for (let row = 0; row < count; row++) {
      values.set(padded.subarray(row * stride, row * stride + columns), row * columns);
    }
    return values;
  }
}
