// Copies of what operations of a step have written, made by the step itself and read with its tokens.
// So steps of few rows do not stop for those who only look at rows; step_observer.ts has the taps for
// which copies are made.

import {
  type Device,
  type FloatRows,
  floatRows,
  GROUP,
  type Operation,
  padTo,
  type Pass,
  type Readback,
  type Recorder,
  STEP_ROW,
} from "../../kernels/mod.ts";
import {
  type Network,
  type OutputKind,
  RowReadback,
  type StepOperation,
  type StepShape,
  type StepState,
} from "../nn/mod.ts";
import type { StepRow } from "./observation.ts";
import { MOST_REPEATS, resolvedRows, type StepPlan } from "./step_plan.ts";

/** Most bytes of copies on their way to the host. */
const MOST_BYTES = 64 << 20;

type Encode = StepOperation["encode"];

/** An operation whose rows are copied. */
export interface CopiedOperation {
  readonly operation: StepOperation;
  readonly rows: FloatRows;
  /** What writes the rows. */
  readonly encode: Encode;
  /** What is left of the operation then. */
  readonly rest?: Encode;
}

/** What a step has written. */
export interface CopiedStep {
  readonly rows: readonly StepRow[];
  /** The rows of an operation, without padding. */
  valuesOf(operation: StepOperation): Float32Array;
}

/** Columns of the copies of a device: those of one operation. */
interface Copy extends CopiedOperation {
  readonly to: Side;
  readonly first: number;
  readonly copying: Operation;
}

/** The copies of one device, side by side in rows: where a step has them, and on their way to the host. */
interface Side {
  readonly device: Device;
  readonly rows: FloatRows;
  readonly readback: RowReadback;
}

/** Copies of what some operations write. One submit at a time. */
export class StepCopies {
  readonly #network: Network;
  readonly #copies = new Map<StepOperation, Copy>();
  readonly #sides: Side[] = [];
  readonly #stepRows: RowReadback;
  /** Most rows of a step. */
  readonly #most: number;

  /** @param operations in the order of steps; `areFew()` has to hold of them */
  constructor(
    device: Device,
    network: Network,
    state: StepState,
    operations: readonly CopiedOperation[],
  ) {
    this.#network = network;
    this.#most = network.options.limits.slots;
    const words = { columns: STEP_ROW.words, stride: STEP_ROW.words, floats: state.rows };
    this.#stepRows = new RowReadback(device, "copied step", words, MOST_REPEATS * this.#most);
    const byDevice = Map.groupBy(operations, ({ operation }) => operation.device ?? device);
    for (const [device, own] of byDevice) this.#addSide(device, own);
  }

  /** Whether copies of these operations are small enough to be made. */
  static areFew(network: Network, operations: readonly CopiedOperation[]): boolean {
    const { slots } = network.options.limits;
    return MOST_REPEATS * slots * 4 * widthOf(operations) <= MOST_BYTES;
  }

  #addSide(device: Device, operations: readonly CopiedOperation[]): void {
    const rows = floatRows(device, "copies", this.#most, widthOf(operations));
    const readback = new RowReadback(device, "copies", rows, MOST_REPEATS * this.#most);
    const to = { device, rows, readback };
    this.#sides.push(to);
    let first = 0;
    for (const copied of operations) {
      const { columns } = copied.rows;
      const x = { rows: copied.rows, columns };
      const copying = device.elementwise("copy", { rows, first, columns }, { x });
      this.#copies.set(copied.operation, { ...copied, to, first, copying });
      first += padTo(columns, GROUP);
    }
  }

  /** The operations that are copied. */
  get operations(): readonly StepOperation[] {
    return [...this.#copies.keys()];
  }

  /** Staging buffers to which rows are copied. */
  get staging(): readonly Readback[] {
    return [this.#stepRows, ...this.#sides.map(({ readback }) => readback)]
      .map(({ staging }) => staging);
  }

  /** Whether there is memory for the rows of such a step. */
  fit({ rows }: StepShape): boolean {
    return rows <= this.#most;
  }

  /** Records all operations of one step, with copies. */
  encode(pass: Pass, step: StepShape, output: OutputKind): void {
    for (const operation of this.#network.observedOperations(output, step.outputs)) {
      const copy = this.#copies.get(operation);
      (copy ?? operation).encode(pass, step);
      copy?.copying.encode(pass, operation.isOverOutputs ? step.outputs : step.rows);
      copy?.rest?.(pass, step);
    }
  }

  /** Records what sends the copies of a step on their way, the `repeat`-th of a submit. */
  send(recorder: Recorder, { rows }: StepShape, repeat = 0): void {
    for (const { readback } of this.#sides) readback.copy(recorder, 0, rows, repeat * rows);
    this.#stepRows.copy(recorder, 0, rows, repeat * rows);
  }

  /** The copies of a plan that was submitted, and ran `repeats` times. */
  async read(plan: StepPlan, repeats: number): Promise<CopiedStep[]> {
    const { rows, outputs } = plan.shape;
    const records = new Uint32Array((await this.#stepRows.read(repeats * rows)).buffer);
    const all = new Map<Side, Float32Array>();
    for (const side of this.#sides) all.set(side, await side.readback.read(repeats * rows));
    return Array.from({ length: repeats }, (_, repeat): CopiedStep => ({
      rows: resolvedRows(plan, records.subarray(repeat * rows * STEP_ROW.words)),
      valuesOf: (operation) => {
        const { to, first, rows: { columns } } = this.#copies.get(operation)!;
        const count = operation.isOverOutputs ? outputs : rows;
        const values = new Float32Array(count * columns);
        for (let row = 0; row < count; row++) {
          const at = (repeat * rows + row) * to.rows.columns + first;
          values.set(all.get(to)!.subarray(at, at + columns), row * columns);
        }
        return values;
      },
    }));
  }

  /** Frees their memory. */
  free(): void {
    for (const { device, rows, readback } of this.#sides) {
      readback.free();
      device.free(rows.floats);
    }
    this.#stepRows.free();
  }
}

/** Columns of copies side by side. */
function widthOf(operations: readonly CopiedOperation[]): number {
  return operations.reduce((sum, { rows }) => sum + padTo(rows.columns, GROUP), 0);
}
