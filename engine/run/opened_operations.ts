// Operations as those need them who look at what is not in memory otherwise: of one that writes int8
// groups the f32 before them, of one that writes to a cache the keys and values before they are rounded.

import { type Device, type FloatRows, floatRows } from "../../kernels/mod.ts";
import type { Network, OpenKeys, StepOperation } from "../nn/mod.ts";
import type { TappedOperations } from "./observation.ts";
import type { CopiedOperation } from "./step_copies.ts";

type Encode = StepOperation["encode"];

/** An operation that writes int8 groups in two halves: f32, and the int8 groups of that. */
interface OpenOperation {
  /** The f32, in memory of its own. */
  readonly rows: FloatRows;
  readonly encode: Encode;
  readonly quantize: Encode;
}

/** The operations that are open, until nobody looks at them any more. */
export class OpenedOperations {
  readonly #device: Device;
  readonly #network: Network;
  readonly #opened = new Map<StepOperation, OpenOperation>();
  /** Operations whose keys are looked at. */
  readonly #keys = new Map<StepOperation, OpenKeys>();

  constructor(device: Device, network: Network) {
    this.#device = device;
    this.#network = network;
  }

  /** Opens what has to be open for a tap. */
  open({ selected, keys = new Set() }: TappedOperations): void {
    for (const operation of selected) {
      const { output, groups, device = this.#device, outputName = "rows" } = operation;
      if (output || !groups || this.#opened.has(operation)) continue;
      const { columns, apart } = groups;
      const rows = floatRows(device, outputName, this.#network.options.limits.rows, columns);
      const [floats, quantize] = apart(rows);
      for (const half of [floats, quantize]) half.bind?.();
      this.#opened.set(operation, { rows, encode: floats.encode, quantize: quantize.encode });
    }
    for (const operation of keys) {
      if (!this.#keys.has(operation)) this.#keys.set(operation, operation.keys!.open());
    }
  }

  /** Frees what these taps do not need. */
  close(taps: readonly TappedOperations[]): void {
    const close = (
      all: Map<StepOperation, OpenOperation | OpenKeys>,
      isUsed: (operation: StepOperation) => boolean,
    ) => {
      for (const [operation, { rows }] of all) {
        if (isUsed(operation)) continue;
        all.delete(operation);
        this.#device.free(rows.floats);
      }
    };
    close(this.#opened, (operation) => taps.some(({ selected }) => selected.has(operation)));
    close(this.#keys, (operation) => taps.some(({ keys }) => keys?.has(operation)));
  }

  /** The f32 that an operation writes; undefined if it writes none. */
  rowsOf(operation: StepOperation): FloatRows | undefined {
    return operation.output ?? this.#opened.get(operation)?.rows;
  }

  /** The keys and values that an open operation has written. */
  keysOf(operation: StepOperation): FloatRows {
    return this.#keys.get(operation)!.rows;
  }

  /** What runs after an open operation and those who look at its f32. */
  restOf(operation: StepOperation): Encode | undefined {
    return this.#opened.get(operation)?.quantize;
  }

  /** An operation as it runs alone, up to its f32. */
  alone(operation: StepOperation): StepOperation {
    const { encode = operation.encodeAlone ?? operation.encode } = this.#opened.get(operation) ??
      {};
    const keys = this.#keys.get(operation);
    const encodeAlone: Encode = !keys ? encode : (pass, step) => {
      keys.before(pass, step);
      encode(pass, step);
      keys.after(pass, step);
    };
    return { ...operation, encodeAlone };
  }

  /** An operation as it runs among others, for copies of its rows. */
  copied(operation: StepOperation): CopiedOperation {
    const { encode } = this.#opened.get(operation) ?? operation;
    const rest = this.restOf(operation);
    return { operation, rows: this.rowsOf(operation)!, encode, ...(rest && { rest }) };
  }
}
