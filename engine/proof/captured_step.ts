// Runs a step of some layers on a device as answers run it, fused kernels included, and takes a copy of
// what each operation has written before the next one can overwrite it.

import type { Device, FloatRows, Readback } from "../../kernels/mod.ts";
import type { Network, OutputKind, StepOperation } from "../nn/mod.ts";
import type { StepPlan, StepRunner } from "../run/mod.ts";

/** Most bytes that are copied before they are read. */
const MOST_BYTES = 32 << 20;

/** What the operations of a step have written: [rows, columns] each, by {@linkcode outputKeys}. */
export type Written = ReadonlyMap<string, Float32Array>;

/** A model that was loaded on the device that is proved. */
export interface Subject {
  readonly device: Device;
  readonly network: Network;
  readonly runner: StepRunner;
}

/** The operations of a step that belong to one of the layers, or to none. */
export function operationsOf(
  network: Network,
  kind: OutputKind,
  layers: readonly number[],
): StepOperation[] {
  return network.operations(kind)
    .filter(({ layer }) => layer === undefined || layers.includes(layer));
}

/**
 * The keys of operations that write rows of floats which other devices write too: layer, meaning, and a
 * number. Rows whose norm is left to their reader are none of these.
 */
export function outputKeys(operations: readonly StepOperation[]): Map<StepOperation, string> {
  const counts = new Map<string, number>();
  return new Map(operations.flatMap((operation) => {
    const { layer, output, outputName } = operation;
    if (!output || outputName === undefined || output.deferredEpsilon !== undefined) return [];
    const name = `${layer ?? "top"} ${outputName}`;
    const number = counts.get(name) ?? 0;
    counts.set(name, number + 1);
    return [[operation, `${name} ${number}`] as const];
  }));
}

/** Runs steps of some layers and reads what their operations write. */
export class CapturedSteps implements Disposable {
  readonly #subject: Subject;
  readonly #layers: readonly number[];
  readonly #operations: readonly StepOperation[];
  readonly #keys: ReadonlyMap<StepOperation, string>;
  readonly #staging: Readback;

  constructor(subject: Subject, kind: OutputKind, layers: readonly number[]) {
    this.#subject = subject;
    this.#layers = layers;
    this.#operations = operationsOf(subject.network, kind, layers);
    this.#keys = outputKeys(this.#operations);
    this.#staging = subject.device.readback("proof", MOST_BYTES);
  }

  /** Runs a step. Errors: GpuError, DeviceLostError. */
  async run(plan: StepPlan): Promise<Written> {
    const { device, runner } = this.#subject;
    runner.write(plan);
    const written = new Map<string, Float32Array>();
    let copied: { key: string; output: FloatRows; rows: number; at: number }[] = [];
    let recorder = device.record();
    let bytes = 0;
    const read = async () => {
      device.submit(recorder.finish());
      const all = new Float32Array(await this.#staging.readNow(Math.max(4, bytes)));
      for (const { key, output, rows, at } of copied) {
        written.set(key, compact(all.subarray(at / 4), output, rows));
      }
      recorder = device.record();
      copied = [];
      bytes = 0;
    };
    for (const [i, operation] of this.#operations.entries()) {
      const encode = this.#followsGap(i)
        ? operation.encodeAlone ?? operation.encode
        : operation.encode;
      recorder.pass((pass) => encode(pass, plan.shape));
      const [key, { output }] = [this.#keys.get(operation), operation];
      if (key === undefined || !output || operation.device !== this.#subject.device) continue;
      const rows = operation.isOverOutputs ? plan.shape.outputs : plan.shape.rows;
      const size = rows * output.stride * 4;
      if (size > MOST_BYTES || rows === 0) continue;
      if (bytes + size > MOST_BYTES) {
        await read();
      }
      recorder.copy(output.floats, 0, this.#staging.buffer, bytes, size);
      copied.push({ key, output, rows, at: bytes });
      bytes += size;
    }
    await read();
    return written;
  }

  /** Whether an operation is the first of a layer whose predecessor, which may do a part of it, is left out. */
  #followsGap(i: number): boolean {
    const { layer } = this.#operations[i]!;
    if (layer === undefined || layer === 0 || this.#layers.includes(layer - 1)) return false;
    return this.#operations[i - 1]?.layer !== layer;
  }

  [Symbol.dispose](): void {
    this.#staging.free();
  }
}

function compact(floats: Float32Array, { columns, stride }: FloatRows, rows: number): Float32Array {
  if (columns === stride) return floats.slice(0, rows * columns);
  const values = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    values.set(floats.subarray(row * stride, row * stride + columns), row * columns);
  }
  return values;
}
