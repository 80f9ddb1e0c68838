// A model's forward step as a list of operations over values. While the model loads, operations are
// added to the list. When it is complete, values get their memory and operations are bound to it. A
// step replays the list, in order, for its number of rows. network.ts has the methods that add
// operations.

import {
  type Allocator,
  deferred,
  type DeferredOperation,
  type Device,
  type FloatRows,
  type MakersOf,
  padTo,
  type Pass,
  type QuantizedRows,
  ROW_PADDING,
} from "../../kernels/mod.ts";
import type { Placement } from "../weights/mod.ts";
import { adapt, type NetworkAdapters } from "./adapt.ts";
import { fuse } from "./fuse.ts";
import { type HandOverMaker, withHandOvers } from "./hand_overs.ts";
import { type MemoryOptions, StepMemory } from "./memory.ts";
import { Scratch } from "./scratch.ts";
import {
  type BlockKind,
  overRows,
  type StepLimits,
  type StepOperation,
  type StepShape,
  type StepState,
} from "./step.ts";

export interface NetworkOptions extends MemoryOptions {
  /** Whether activations are int8 where weights are quantized. */
  integer: boolean;
  /**
   * Whether rows of an image attend to each other in both directions. Default: to earlier rows
   * only.
   */
  bidirectionalImages?: boolean;
  /**
   * Whether the hidden states of all rows before the head are kept for the host, as an MTP head needs
   * them.
   */
  keepsFinalStates?: boolean;
}

/** The output of a step for the rows that need one: logits, or the hidden state before the head. */
export type OutputKind = "logits" | "hidden";

/**
 * The network that contains another one, and how the shape of the inner one's steps follows from
 * that of its own steps.
 */
export interface OuterNetwork {
  readonly network: OperationList;
  readonly shapeOf: (step: StepShape) => StepShape;
}

/** The operations of steps: of all, and those that an output needs besides. */
interface Operations {
  always: StepOperation[];
  readonly outputs: Record<OutputKind, StepOperation[]>;
}

/** The operations of a step, and the values that they work on. */
export abstract class OperationList {
  readonly memory: StepMemory;
  #tileRows = Infinity;
  readonly #plain: Operations = { always: [], outputs: { logits: [], hidden: [] } };
  /** Those of steps in which sequences have adapters, once memory is planned. */
  #adapted: Operations | undefined;
  #adapters: NetworkAdapters | undefined;
  #layer: number | undefined;
  #block: BlockKind | undefined;
  #device: Device;
  #recording = this.#plain.always;
  readonly #scratch: Scratch;
  readonly #makers = new Map<Device, MakersOf<DeferredOperation>>();
  readonly #outer: OuterNetwork | undefined;
  readonly #outputs: Partial<Record<OutputKind, FloatRows>> = {};

  /** @param outer the network that contains this one and its operations; default: none */
  constructor(
    readonly placement: Placement,
    readonly state: StepState,
    readonly options: NetworkOptions,
    outer?: OuterNetwork,
  ) {
    this.#device = placement.top;
    this.#outer = outer;
    this.#scratch = outer ? outer.network.#scratch : new Scratch(placement.top);
    this.memory = outer?.network.memory ?? new StepMemory(() => this.#device, options);
  }

  /** The constructors of operations on the current device, which take values, too. */
  get make(): MakersOf<DeferredOperation> {
    return this.#makersOf(this.#device);
  }

  #makersOf(device: Device): MakersOf<DeferredOperation> {
    let makers = this.#makers.get(device);
    makers ??= deferred(device, (value) => this.#scratch.memoryOf(value));
    this.#makers.set(device, makers);
    return makers;
  }

  /**
   * New rows of f32 that live within a step.
   * @param label their meaning in the model
   * @param padded columns that are written, if some before the last are padding, too
   */
  scratch(
    label: string,
    columns: number,
    rows = this.options.limits.rows,
    padded = columns,
  ): FloatRows {
    return this.#scratch.floats(label, rows, columns, padded);
  }

  /** New rows of int8 groups that live within a step. */
  quantizedScratch(
    label: string,
    columns: number,
    rows = this.options.limits.rows,
  ): QuantizedRows {
    return this.#scratch.quantized(label, rows, columns);
  }

  /** An allocator of other values that live within a step. */
  get scratchAllocator(): Allocator {
    return this.#scratch.allocator();
  }

  /** Lets rows live to the end of a step, so that the host can read them. */
  keep(rows: FloatRows): void {
    this.#scratch.keep(rows.floats);
  }

  /** The rows with their memory, after {@linkcode OperationList.place}. */
  allocated(rows: FloatRows): FloatRows {
    return { ...rows, floats: this.#scratch.memoryOf(rows.floats) };
  }

  /**
   * Completes the list: values get their memory, and operations are bound to it. Errors:
   * ScratchError for an operation that reads what none before it wrote; GpuError, GpuMemoryError.
   */
  allocate(): void {
    if (this.#scratch.isAllocated) return;
    const adapted = this.#adapters && this.#adapt(this.#adapters);
    const lists = [this.#plain, ...adapted ? [adapted] : []];
    for (const list of lists) {
      this.#fuse(list);
      this.#handOver(list);
    }
    this.#adapted = adapted;
    this.#recording = this.#plain.always;
    this.#scratch.allocate(...lists.map(allOf));
    for (const operation of new Set(lists.flatMap(allOf))) {
      operation.bind?.();
      if (operation.output) operation.output = this.allocated(operation.output);
    }
  }

  /** What adapters add to steps. Missing: there are none. */
  get adapters(): NetworkAdapters | undefined {
    return this.#adapters;
  }

  /**
   * Lets sequences have adapters; before {@linkcode OperationList.allocate}.
   * @param adapted what they add, by matrix
   */
  addAdapters(adapted: NetworkAdapters["adapted"], count: number): void {
    const { top } = this.placement;
    const { rows, outputs } = this.options.limits;
    const scales = (label: string, most: number): FloatRows => {
      const floats = top.buffer(label, padTo(most, ROW_PADDING) * count * 4, "scratch");
      return { columns: count, stride: count, floats };
    };
    this.#adapters = {
      adapted,
      count,
      scales: scales("adapter scales", rows),
      outputScales: scales("adapter scales of outputs", outputs),
    };
  }

  /** The operations of steps in which sequences have adapters. */
  #adapt(adapters: NetworkAdapters): Operations {
    const { always, outputs: { logits, hidden } } = this.#plain;
    const { limits } = this.options;
    const makersOf = (device: Device) => this.#makersOf(device);
    const tools = { ...adapters, limits, scratch: this.#scratch, makersOf };
    return {
      always: adapt(always, tools),
      outputs: { logits: adapt(logits, tools), hidden: adapt(hidden, tools) },
    };
  }

  /** Query rows per workgroup of prefill attention, which every attention layer can handle. */
  get tileRows(): number {
    return Number.isFinite(this.#tileRows) ? this.#tileRows : 1;
  }

  /** Sets an upper bound of {@linkcode OperationList.tileRows}. */
  boundTileRows(most: number): void {
    this.#tileRows = Math.min(this.#tileRows, most);
  }

  /**
   * Prepares all variants that steps can need, so that the first step is as fast as later ones.
   * Errors: those of allocate().
   */
  async prepare(): Promise<void> {
    this.allocate();
    const all = [this.#plain, ...this.#adapted ? [this.#adapted] : []].flatMap(allOf);
    for (const operation of new Set(all)) operation.prepare?.(this.options.limits);
    await this.placement.top.prepare();
  }

  /** Records all operations of one step. */
  encode(pass: Pass, step: StepShape, output: OutputKind): void {
    const { adapters } = step;
    const { always, outputs } = adapters !== 0 && this.#adapted || this.#plain;
    const encode = (operation: StepOperation) => {
      const { adapter } = operation;
      if (adapter === undefined || adapters >>> adapter & 1) operation.encode(pass, step);
    };
    always.forEach(encode);
    if (step.outputs > 0) outputs[output].forEach(encode);
  }

  /**
   * Sets the rows of a kind of output, and the operations that it needs besides those of all steps.
   */
  protected setOutput(kind: OutputKind, rows: FloatRows, operations: StepOperation[]): void {
    this.#outputs[kind] = rows;
    this.#plain.outputs[kind] = operations;
  }

  /** The rows of an output: [outputs, columns]; undefined if the model has no such output. */
  outputRows(kind: OutputKind): FloatRows | undefined {
    return this.#outputs[kind];
  }

  /**
   * Sets the layer, if any, of the operations that are added from now on. They run on its device.
   */
  beginLayer(layer?: number): void {
    this.#layer = layer;
    const { placement } = this;
    this.#device = layer === undefined ? placement.top : placement.deviceOf(`blk.${layer}.`);
  }

  /** The device of the operations that are added now. */
  get device(): Device {
    return this.#device;
  }

  /** Adds operations on this device, instead of that of the layer. */
  on<T>(device: Device, add: () => T): T {
    const before = this.#device;
    this.#device = device;
    try {
      return add();
    } finally {
      this.#device = before;
    }
  }

  /** Adds operations that are a part of the layer, which tools for looking into models know by its kind. */
  block<T>(kind: BlockKind, add: () => T): T {
    const before = this.#block;
    this.#block = kind;
    try {
      return add();
    } finally {
      this.#block = before;
    }
  }

  /** The operations of an observed step, in order: with those of all adapters, whose factors may be zero. */
  observedOperations(output: OutputKind, outputs = 1): readonly StepOperation[] {
    const { always, outputs: of } = this.#adapted ?? this.#plain;
    return outputs > 0 ? [...always, ...of[output]] : always;
  }

  /** Appends an operation. The result is the one in the list. */
  add(operation: StepOperation): StepOperation {
    const outputName = operation.output?.floats.label;
    const [layer, block, device] = [this.#layer, this.#block, this.#device];
    const own = { layer, block, device, outputName, ...operation };
    if (this.#outer) return this.#outer.network.add(this.#within(this.#outer, operation));
    this.#recording.push(own);
    return own;
  }

  /** An operation of this network among those of the outer one. */
  #within({ shapeOf }: OuterNetwork, operation: StepOperation): StepOperation {
    const { limits } = this.options;
    return within(operation, { shapeOf, limitsOf: () => limits });
  }

  /** Appends an operation over all rows of a step. */
  addRows(operation: Parameters<typeof overRows>[0]): StepOperation {
    return this.add(overRows(operation));
  }

  /** The operations of a step without adapters, in order. */
  operations(output: OutputKind): readonly StepOperation[] {
    const { always, outputs } = this.#plain;
    return [...always, ...outputs[output]];
  }

  /** Fuses operations that follow each other, when all are there. */
  #fuse(list: Operations): void {
    const { hidden, logits } = list.outputs;
    list.always = fuse(list.always, [...hidden, ...logits], {
      makersOf: (device) => this.#makersOf(device),
      scratch: this.#scratch,
    });
  }

  /** Adds the transfers between devices, when all operations are there. */
  #handOver(list: Operations): void {
    const { options: { limits } } = this;
    const placement: HandOverMaker = {
      handOver: (buffer, to) => this.placement.handOver(this.#scratch.memoryOf(buffer), to),
    };
    const { operations, after } = withHandOvers(list.always, placement, limits);
    list.always = operations;
    for (const kind of ["logits", "hidden"] as const) {
      ({ operations: list.outputs[kind] } = withHandOvers(
        list.outputs[kind],
        placement,
        limits,
        after,
      ));
    }
  }

  /**
   * Collects the operations that `add` adds, over the rows that need an output, without adding them
   * to the list.
   */
  protected onOutputs(add: () => void): StepOperation[] {
    const operations: StepOperation[] = [];
    this.#recording = operations;
    add();
    this.#recording = this.#plain.always;
    return operations.map(overOutputs);
  }
}

/**
 * All operations, in order. Those for logits include those for the hidden state, except for transfers
 * between devices.
 */
function allOf({ always, outputs: { hidden, logits } }: Operations): StepOperation[] {
  return [...always, ...hidden, ...logits.filter((operation) => !hidden.includes(operation))];
}

/** The operation over the rows that need an output, instead of all rows. */
function overOutputs(operation: StepOperation): StepOperation {
  const shapes: Shapes = {
    shapeOf: (step) => ({ ...step, rows: step.outputs }),
    limitsOf: (limits) => ({ ...limits, rows: limits.outputs }),
  };
  return { ...within(operation, shapes), isOverOutputs: true };
}

interface Shapes {
  readonly shapeOf: (step: StepShape) => StepShape;
  readonly limitsOf: (limits: StepLimits) => StepLimits;
}

/** An operation of steps whose shapes follow from those of other steps. */
function within(operation: StepOperation, { shapeOf, limitsOf }: Shapes): StepOperation {
  const { over, prepare, encode, work, rowsOf = ({ rows }: StepShape) => rows } = operation;
  return {
    ...operation,
    groups: undefined,
    over: over && {
      call: over.call,
      shapeOf: (step) => over.shapeOf(shapeOf(step)),
      limitsOf: (limits) => over.limitsOf(limitsOf(limits)),
    },
    rowsOf: (step) => rowsOf(shapeOf(step)),
    prepare: (limits) => prepare?.(limitsOf(limits)),
    encode: (pass, step) => encode(pass, shapeOf(step)),
    work: (step) => work(shapeOf(step)),
  };
}
