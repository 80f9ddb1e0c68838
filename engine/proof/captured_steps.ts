// Runs steps of some operations on a device as answers run them, fused kernels included, and takes a copy
// of what each has written before the next one can overwrite it.

import type { Device, FloatRows, Readback } from "../../kernels/mod.ts";
import type { StepOperation, StepShape } from "../nn/mod.ts";
import { outputKeys, rowsOf, unpad, type Written } from "./written.ts";

/** Most bytes that are copied before they are read. */
const MOST_BYTES = 32 << 20;

/** Runs steps and reads what their operations write. */
export class CapturedSteps implements Disposable {
  readonly #device: Device;
  readonly #operations: readonly StepOperation[];
  readonly #keys: ReadonlyMap<StepOperation, string>;
  /** Operations whose predecessor, which may do a part of them, is left out. */
  readonly #alone: ReadonlySet<StepOperation>;
  readonly #staging: Readback;

  /**
   * @param all the operations of a step
   * @param operations those of them that run
   */
  constructor(
    device: Device,
    all: readonly StepOperation[],
    operations: readonly StepOperation[],
  ) {
    this.#device = device;
    this.#operations = operations;
    this.#keys = outputKeys(operations);
    const before = new Map(all.map((operation, i) => [operation, all[i - 1]]));
    this.#alone = new Set(
      operations.filter((operation, i) => before.get(operation) !== operations[i - 1]),
    );
    this.#staging = device.readback("proof", MOST_BYTES);
  }

  /** Runs a step whose rows were written. Errors: GpuError, DeviceLostError. */
  async run(shape: StepShape): Promise<Written> {
    const device = this.#device;
    const written = new Map<string, Float32Array>();
    let copied: { key: string; output: FloatRows; rows: number; at: number }[] = [];
    let recorder = device.record();
    let bytes = 0;
    const read = async () => {
      device.submit(recorder.finish());
      const all = new Float32Array(await this.#staging.readNow(Math.max(4, bytes)));
      for (const { key, output, rows, at } of copied) {
        written.set(key, unpad(all.subarray(at / 4), output, rows));
      }
      recorder = device.record();
      copied = [];
      bytes = 0;
    };
    for (const operation of this.#operations) {
      const { encode, encodeAlone = encode, output } = operation;
      recorder.pass((pass) => (this.#alone.has(operation) ? encodeAlone : encode)(pass, shape));
      const key = this.#keys.get(operation);
      if (key === undefined || !output || operation.device !== device) continue;
      const rows = rowsOf(operation, shape);
      const size = rows * output.stride * 4;
      if (size > MOST_BYTES || rows === 0) continue;
      if (bytes + size > MOST_BYTES) await read();
      recorder.copy(output.floats, 0, this.#staging.buffer, bytes, size);
      copied.push({ key, output, rows, at: bytes });
      bytes += size;
    }
    await read();
    return written;
  }

  [Symbol.dispose](): void {
    this.#staging.free();
  }
}
