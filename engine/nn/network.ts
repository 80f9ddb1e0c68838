// A model's forward step as a list of operations, and the vocabulary in which blocks are written:
// embed, norm, project. Each call makes the values that it needs and appends an operation. When the
// list is complete, values get their memory and operations are bound; a step replays the operations
// in order for its number of rows.

import {
  type Activation,
  type ActivationFunction,
  type Allocator,
  type Columns,
  deferred,
  type Device,
  type ElementwiseOperation,
  type ElementwiseOptions,
  type EmbedOptions,
  type FloatRows,
  GROUP,
  type Matrix,
  type Norm,
  type Operation,
  type OperationMakers,
  padTo,
  type Pass,
  type QuantizedRows,
  ROW_PADDING,
} from "../../kernels/mod.ts";
import type { GatedStack, Placement, Stack } from "../weights/mod.ts";
import { type HandOverMaker, withHandOvers } from "./hand_overs.ts";
import { ImageRows } from "./image_rows.ts";
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

/** An activation in the forms that its readers take: int8 groups where their products allow it. */
export interface Input {
  readonly columns: number;
  readonly floats?: FloatRows;
  readonly quantized?: QuantizedRows;
}

/** Whoever reads an activation decides its forms. */
export interface Reader {
  readonly readers: readonly Matrix[];
  /** Whether it reads f32 besides, for something else than a product. */
  readonly readsFloats?: boolean;
}

/** What a step gives of the rows that are asked for: logits, or the hidden state before them. */
export type OutputKind = "logits" | "hidden";

/** The network that another one is a part of, and the shape of its steps by that of the whole. */
export interface Whole {
  readonly network: Network;
  readonly shapeOf: (step: StepShape) => StepShape;
}

/** A model's forward step, built once and replayed. */
export class Network {
  readonly memory: StepMemory;
  readonly images: ImageRows;
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
    this.images = new ImageRows(state, options.limits.rows, options.wholeImages);
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

  /** The same rows with their memory, once {@linkcode Network.place} has given them any. */
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

  /** Bounds {@linkcode Network.tileRows}. */
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

  /** What {@linkcode Network.output} was told: [outputs, columns], if the model has such an output. */
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

  /** x[row] = scale * table[token], or by position, or added to what is there. */
  embed(table: Matrix, x: FloatRows, options: EmbedOptions = {}): void {
    this.addRows(this.make.embed(table, this.state, x, options));
  }

  /** Puts the next part of images' embeddings in their rows of x, or adds it; see ImageRows. */
  addImages(x: FloatRows): void {
    this.add(this.images.next(x, this.#device, this.make));
  }

  /** The norm of every row, for the matrices that read it. `label` says what it is. */
  norm(x: FloatRows, norm: Norm, readers: Reader | readonly Reader[], label = "normed"): Input {
    return this.produce(
      label,
      x.columns,
      readers,
      (y) => overRows(this.make.norm(x, y, norm)),
    );
  }

  /** Appends an operation that writes new rows, in the forms that their readers take. */
  produce(
    label: string,
    columns: number,
    readers: Reader | readonly Reader[],
    operation: (y: Activation) => StepOperation,
  ): Input {
    const { integer, float } = this.#formsFor(readers);
    if (integer && !float) {
      const quantized = this.quantizedScratch(label, columns);
      this.add(operation(quantized));
      return { columns, quantized };
    }
    const y = this.scratch(label, columns);
    this.add(operation(y));
    return this.input(y, readers, label);
  }

  /** Rows as they are, for the matrices that read them. @param rows most rows; default: of a step */
  input(
    x: FloatRows,
    readers: Reader | readonly Reader[],
    label = "rows",
    rows?: number,
  ): Input {
    if (!this.#formsFor(readers).integer) return { columns: x.columns, floats: x };
    const quantized = this.quantizedScratch(label, x.columns, rows);
    this.addRows(this.make.quantize(x, quantized));
    return { columns: x.columns, floats: x, quantized };
  }

  /** y = norm(x), in place where y is x; or y += norm(x). */
  normInto(x: FloatRows, y: FloatRows, norm: Norm, { accumulate = false } = {}): void {
    this.addRows(this.make.norm(x, y, norm, { accumulate }));
  }

  /** The norm of vectors within each row, such as heads, in place. */
  normVectors(
    x: FloatRows,
    norm: Norm,
    vectors: { first: number; count: number; columns: number },
  ): void {
    this.addRows(this.make.norm(x, x, norm, { vectors }));
  }

  /** x W^T as new rows. `label` says what they are. */
  linear(x: Input, stack: Stack, label: string): FloatRows {
    const y = this.scratch(label, stack.columns);
    this.project(x, stack, y);
    return y;
  }

  /** y += x W^T: back onto the residual stream; y += norm(x W^T) where a block has a norm at its end. */
  addLinear(x: Input, stack: Stack, y: FloatRows, postNorm?: Norm): void {
    if (!postNorm) return this.project(x, stack, y, { accumulate: true });
    this.normInto(this.linear(x, stack, "projected"), y, postNorm, { accumulate: true });
  }

  /** y = x W^T or y += x W^T, LoRA included. */
  project(
    x: Input,
    stack: Stack,
    y: FloatRows,
    { accumulate = false, rows }: { accumulate?: boolean; rows?: number } = {},
  ): void {
    for (const { matrix, first } of stack.parts) {
      this.addRows(this.make.linear(matrix, this.formOf(x, matrix), y, { accumulate, first }));
    }
    for (const { down, up, first } of stack.adapters) {
      const low = this.scratch("low rank", down.rows, rows);
      this.addRows(this.make.linear(down, this.formOf(x, down), low));
      this.addRows(this.make.linear(up, low, y, { accumulate: true, first }));
    }
  }

  /** f(x W_gate^T) * (x W_up^T), for the matrix that reads it. */
  gated(x: Input, weights: GatedStack, activation: ActivationFunction, reader: Reader): Input {
    if (!("paired" in weights)) {
      const { columns } = weights;
      const both = this.scratch("gate and up", 2 * padTo(columns, GROUP), undefined, columns);
      this.project(x, weights.stack, both);
      return this.activate(both, weights.columns, activation, reader, { gated: true });
    }
    const form = this.formOf(x, weights.paired);
    return this.produce(
      "hidden",
      weights.columns,
      reader,
      (y) => overRows(this.make.linear(weights.paired, form, y, { activation })),
    );
  }

  /** f(x), or f(gate) * up of the two halves of x, for the matrix that reads it. */
  activate(
    x: FloatRows,
    columns: number,
    activation: ActivationFunction,
    reader: Reader,
    { gated = false } = {},
  ): Input {
    return this.produce(
      "hidden",
      columns,
      reader,
      (y) => overRows(this.make.activate(x, y, { activation, gated })),
    );
  }

  /** A small operation on columns of every row, in place. */
  elementwise(
    operation: ElementwiseOperation,
    y: Columns,
    options: ElementwiseOptions = {},
  ): void {
    this.addRows(this.make.elementwise(operation, y, options));
  }

  /**
   * Ends the step: norm(x) of the rows asked for, through the dense layers of an encoder, is the
   * hidden state, and times the head, held to +-softcap, the logits.
   */
  output(
    x: FloatRows,
    norm: Norm,
    { head, softcap = 0, dense = [] }: {
      head?: Stack | undefined;
      softcap?: number;
      dense?: readonly Stack[];
    } = {},
  ): void {
    const rows = padTo(this.options.limits.outputs, ROW_PADDING);
    /** The last of them is what the host may read. */
    const rowsAfter = (layers: number, label: string, columns: number) =>
      layers === dense.length
        ? this.memory.floats(label, columns, rows)
        : this.scratch(label, columns, rows);
    let hidden = rowsAfter(0, "hidden output", x.columns);
    const options = { source: this.state.outputs };
    const first = this.make.norm(x, hidden, norm, options);
    const operations = this.#onOutputs(() => this.addRows(first));
    for (const [i, stack] of dense.entries()) {
      const y = rowsAfter(i + 1, "dense output", stack.columns);
      const input = hidden;
      operations.push(...this.#onOutputs(() => this.#projectOutputs(input, stack, y)));
      hidden = y;
    }
    this.#outputs.hidden = { rows: hidden, operations };
    if (!head) return;
    // Not padded to groups: no product reads it, and the sampler takes rows as they are.
    const { columns } = head;
    const floats = this.#device.buffer("logits", rows * columns * 4, "scratch");
    const logits: FloatRows = { columns, stride: columns, floats };
    const product = this.#onOutputs(() => {
      this.#projectOutputs(hidden, head, logits);
      if (softcap !== 0) this.elementwise("softcap", { rows: logits }, { factor: softcap });
    });
    this.#outputs.logits = { rows: logits, operations: [...operations, ...product] };
  }

  /** The form of an activation that a matrix multiplies. */
  formOf(x: Input, matrix: Matrix): FloatRows | QuantizedRows {
    return matrix.format.kind === "integer" && x.quantized ? x.quantized : x.floats!;
  }

  /** Whether a matrix multiplies int8 activations. */
  multipliesInteger(matrix: Matrix): boolean {
    return this.options.integer && matrix.format.kind === "integer";
  }

  /** Which forms of an activation these matrices read. */
  #formsFor(readers: Reader | readonly Reader[]): { integer: boolean; float: boolean } {
    const { integer } = this.options;
    const all = [readers].flat();
    const matrices = all.flatMap((reader) => reader.readers);
    const integers = matrices.filter(({ format }) => format.kind === "integer").length;
    const float = integers < matrices.length || all.some(({ readsFloats }) => readsFloats);
    return { integer: integer && integers > 0, float: !integer || float };
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

  #projectOutputs(x: FloatRows, stack: Stack, y: FloatRows): void {
    const { outputs: rows } = this.options.limits;
    this.project(this.input(x, stack, "output rows", rows), stack, y, { rows });
  }

  /** What is added meanwhile, over the rows asked for, instead of adding it. */
  #onOutputs(add: () => void): StepOperation[] {
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
