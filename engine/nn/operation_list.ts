// A model's forward step as a list of operations over values. While the model loads, operations are
// added to the list; when it is complete, values get their memory and operations are bound to it. A step
// replays the list, in order, for its number of rows. What is added is in network.ts.

import {
  type Allocator,
  deferred,
  type Device,
  type FloatRows,
  type Operation,
  type OperationMakers,
  type Pass,
  type QuantizedRows,
} from "../../kernels/mod.ts";
import type { Placement } from "../weights/mod.ts";
import { type HandOverMaker, withHandOvers } from "./hand_overs.ts";
import { type MemoryOptions, StepMemory } from "./memory.ts";
import { Scratch } from "./scratch.ts";
import { overRows, type StepOperation, type StepShape, type StepState } from "./step.ts";

/** How a model computes. */
export interface NetworkOptions extends MemoryOptions {
  /** int8 activations where weights are quantized. */
  integer: boolean;
  /** Whether rows of an image see each other in both directions. Default: earlier rows only. */
  wholeImages?: boolean;
}

/** What a step gives of the rows that are asked for: logits, or the hidden state before them. */
export type OutputKind = "logits" | "hidden";

/** The network that another one is a part of, and the shape of its steps by that of the whole. */
export interface Whole {
  readonly network: OperationList;
  readonly shapeOf: (step: StepShape) => StepShape;
}

/** The operations of a step, and the values that they work on. */
export abstract class OperationList {
  readonly memory: StepMemory;
  #tileRows = Infinity;
  #operations: StepOperation[] = [];
  #layer: number | undefined;
  #device: Device;
  #recording = this.#operations;
  readonly #scratch: Scratch;
  readonly #makers = new Map<Device, OperationMakers>();
  readonly #whole: Whole | undefined;
  readonly #outputs: Record<OutputKind, { rows?: FloatRows; operations: StepOperation[] }> = {
    logits: { operations: [] },
    hidden: { operations: [] },
  };

  /** @param whole the network whose operations those of this one are among; default: none */
  constructor(
    readonly placement: Placement,
    readonly state: StepState,
    readonly options: NetworkOptions,
    whole?: Whole,
  ) {
    this.#device = placement.top;
    this.#whole = whole;
    this.#scratch = whole ? whole.network.#scratch : new Scratch(placement.top);
    this.memory = whole?.network.memory ?? new StepMemory(() => this.#device, options);
  }

  /** Makes operations of the device that computes what is added now, on values too. */
  get make(): OperationMakers {
    const device = this.#device;
    let makers = this.#makers.get(device);
    makers ??= deferred(device, (value) => this.#scratch.memoryOf(value));
    this.#makers.set(device, makers);
    return makers;
  }

  /**
   * New rows of f32 that live within a step.
   * @param label what they are to the model
   * @param padded columns that get written, if those before the last are padding too
   */
  scratch(
    label: string,
    columns: number,
    rows = this.options.limits.rows,
    padded = columns,
  ): FloatRows {
    return this.#scratch.floats(label, rows, columns, padded);
  }

  /** New rows of int8 groups, likewise. */
  quantizedScratch(
    label: string,
    columns: number,
    rows = this.options.limits.rows,
  ): QuantizedRows {
    return this.#scratch.quantized(label, rows, columns);
  }

  /** Makes other values of a step. */
  get scratchAllocator(): Allocator {
    return this.#scratch.allocator();
  }

  /** Lets rows live to the end of a step, where the host reads them. */
  keep(rows: FloatRows): void {
    this.#scratch.keep(rows.floats);
  }

  /** The same rows with their memory, once {@linkcode OperationList.place} has given them any. */
  placed(rows: FloatRows): FloatRows {
    return { ...rows, floats: this.#scratch.memoryOf(rows.floats) };
  }

  /**
   * Gives the values of a step their memory, and binds its operations, which are complete. Errors:
   * ScratchError for an operation that reads what none before it writes; GpuError, GpuMemoryError.
   */
  place(): void {
    if (this.#scratch.isPlaced) return;
    this.#handOver();
    const { hidden, logits } = this.#outputs;
    // What logits need gives the hidden state too, but for what devices hand over to each other.
    const ends = logits.operations.filter((operation) => !hidden.operations.includes(operation));
    this.#scratch.place([...this.#operations, ...hidden.operations, ...ends]);
    for (const operation of [...this.#operations, ...hidden.operations, ...ends]) {
      operation.bind?.();
      if (operation.output) operation.output = this.placed(operation.output);
    }
  }

  /** Query rows per workgroup of prefill attention: what every attention layer can do. */
  get tileRows(): number {
    return Number.isFinite(this.#tileRows) ? this.#tileRows : 1;
  }

  /** Bounds {@linkcode OperationList.tileRows}. */
  boundTileRows(most: number): void {
    this.#tileRows = Math.min(this.#tileRows, most);
  }

  /** Makes all that steps can want ready, so that the first is as fast as others. Errors: see place(). */
  async prepare(): Promise<void> {
    this.place();
    const operations = new Set([...this.operations("logits"), ...this.operations("hidden")]);
    for (const operation of operations) operation.prepare?.(this.options.limits);
    await this.placement.top.prepare();
  }

  /** Records all operations of one step. */
  encode(pass: Pass, step: StepShape, output: OutputKind): void {
    for (const operation of this.#operations) operation.encode(pass, step);
    if (step.outputs === 0) return;
    for (const operation of this.#outputs[output].operations) operation.encode(pass, step);
  }

  /** Tells what a kind of output is, and what has to run for it besides the operations of all steps. */
  protected setOutput(kind: OutputKind, rows: FloatRows, operations: StepOperation[]): void {
    this.#outputs[kind] = { rows, operations };
  }

  /** The rows of an output: [outputs, columns], if the model has such an output. */
  outputRows(kind: OutputKind): FloatRows | undefined {
    return this.#outputs[kind].rows;
  }

  /** Names the layer that operations belong to from now on, if any, and that is on their device. */
  beginLayer(layer?: number): void {
    this.#layer = layer;
    const { placement } = this;
    this.#device = layer === undefined ? placement.top : placement.deviceOf(`blk.${layer}.`);
  }

  /** The device that computes what is added now. */
  get device(): Device {
    return this.#device;
  }

  /** Adds operations on a device, whichever the layer is on. */
  on<T>(device: Device, add: () => T): T {
    const before = this.#device;
    this.#device = device;
    try {
      return add();
    } finally {
      this.#device = before;
    }
  }

  /** What a step of this shape runs, in order. */
  operationsOf(step: StepShape, output: OutputKind): readonly StepOperation[] {
    return step.outputs > 0 ? this.operations(output) : this.#operations;
  }

  /** Appends an operation. */
  add(operation: StepOperation): void {
    const outputName = operation.output?.floats.label;
    const own = { layer: this.#layer, device: this.#device, outputName, ...operation };
    if (!this.#whole) return void this.#recording.push(own);
    const { network, shapeOf } = this.#whole;
    const { limits } = this.options;
    network.add({
      ...operation,
      prepare: () => operation.prepare?.(limits),
      encode: (pass, step) => operation.encode(pass, shapeOf(step)),
      work: (step) => operation.work(shapeOf(step)),
    });
  }

  /** Appends an operation over all rows of a step. */
  addRows(operation: Operation): void {
    this.add(overRows(operation));
  }

  /** What a step runs, in order. */
  operations(output: OutputKind): readonly StepOperation[] {
    return [...this.#operations, ...this.#outputs[output].operations];
  }

  /** Adds what devices have to hand over to each other. Once all operations are there. */
  #handOver(): void {
    const { options: { limits } } = this;
    const placement: HandOverMaker = {
      handOver: (buffer, to) => this.placement.handOver(this.#scratch.memoryOf(buffer), to),
    };
    const { operations, after } = withHandOvers(this.#operations, placement, limits);
    this.#operations = this.#recording = operations;
    for (const output of Object.values(this.#outputs)) {
      ({ operations: output.operations } = withHandOvers(
        output.operations,
        placement,
        limits,
        after,
      ));
    }
  }

  /** What is added meanwhile, over the rows asked for, instead of adding it. */
  protected onOutputs(add: () => void): StepOperation[] {
    const operations: StepOperation[] = [];
    this.#recording = operations;
    add();
    this.#recording = this.#operations;
    return operations.map(overOutputs);
  }
}

/** The same operation over the rows that are asked for. */
function overOutputs(operation: StepOperation): StepOperation {
  const { prepare, encode, work } = operation;
  return {
    ...operation,
    isOverOutputs: true,
    prepare: (most) => prepare?.({ ...most, rows: most.outputs }),
    encode: (pass, step) => encode(pass, { ...step, rows: step.outputs }),
    work: (step) => work({ ...step, rows: step.outputs }),
  };
}
