// Observers of steps: tracers, which are told the time and the work of each operation, and taps, which
// read or change what an operation has written before the next one runs. While there are any, a step
// runs in pieces, and the next one waits for it. Without them steps run as if this file did not exist.

import {
  type Device,
  type FloatRows,
  floatRows,
  IMAGE_TOKEN,
  type Pass,
  PLAN_ROW,
  STEP_ROW,
} from "../../kernels/mod.ts";
import { RequestError, TapError } from "../errors.ts";
import {
  type Network,
  type OpenKeys,
  type OutputKind,
  RowReadback,
  type StepOperation,
  type StepShape,
  type StepState,
} from "../nn/mod.ts";
import type {
  OperationInfo,
  OperationTrace,
  OperationVisit,
  StepRow,
  StepTrace,
  TappedOperations,
  TapSelection,
  TapVisit,
} from "./observation.ts";
import type { StepPlan } from "./step_plan.ts";

interface Tap extends TappedOperations {
  readonly visit: OperationVisit;
  readonly readbacks: Map<FloatRows, RowReadback>;
}

/** How an operation that writes int8 groups can be made again. */
type Groups = NonNullable<StepOperation["groups"]>;

/** An operation that writes int8 groups in two halves: f32, and the int8 groups of that. */
interface OpenOperation {
  /** The f32, in memory of its own. */
  readonly rows: FloatRows;
  readonly encode: Encode;
  readonly quantize: Encode;
}

/** The time of an operation. */
interface TimedOperation extends Pick<OperationTrace, "seconds" | "hostSeconds"> {
  readonly operation: StepOperation;
}

/** The tracers and taps of a model's steps. */
export class StepObserver {
  readonly #device: Device;
  /** The model's operations. */
  readonly network: Network;
  readonly #state: StepState;
  readonly #infos = new Map<StepOperation, OperationInfo>();
  readonly #tracers = new Set<(step: StepTrace) => void>();
  readonly #taps = new Set<Tap>();
  /** Taps that were removed, perhaps in the middle of a step. */
  readonly #left = new Set<Tap>();
  /** Operations on int8 groups that are tapped, with f32 in between. */
  readonly #opened = new Map<StepOperation, OpenOperation>();
  /** Operations whose keys are looked at. */
  readonly #openKeys = new Map<StepOperation, OpenKeys>();
  #rows: RowReadback | undefined;
  /** The rows of the step that runs, once they were read: the same at all its operations. */
  #stepRows: readonly StepRow[] | undefined;
  #isRunning = false;

  constructor(device: Device, network: Network, state: StepState) {
    this.#device = device;
    this.network = network;
    this.#state = state;
  }

  /** Whether there are tracers or taps. */
  get isActive(): boolean {
    return this.#tracers.size + this.#taps.size > 0;
  }

  /** Whether there are taps, which may change what is computed. */
  get isTapped(): boolean {
    return this.#taps.size > 0;
  }

  /** The operations of a step, in order. */
  get operations(): readonly OperationInfo[] {
    if (this.#infos.size === 0) {
      const kind: OutputKind = this.network.outputRows("logits") ? "logits" : "hidden";
      for (const operation of this.network.observedOperations(kind)) this.#describe(operation);
    }
    return [...this.#infos.values()];
  }

  #describe(operation: StepOperation): void {
    const { name, layer, output = operation.groups, outputName } = operation;
    this.#infos.set(operation, {
      index: this.#infos.size,
      name,
      ...(layer !== undefined && { layer }),
      ...(output && outputName && { output: outputName, columns: output.columns }),
    });
  }

  /** Traces steps: calls `tell` for each, until the result is disposed of. */
  trace(tell: (step: StepTrace) => void): Disposable {
    const tracer = (step: StepTrace) => tell(step);
    this.#tracers.add(tracer);
    return { [Symbol.dispose]: () => void this.#tracers.delete(tracer) };
  }

  /**
   * Taps steps: calls `visit` with what the selected operations write, until the result is disposed of.
   * Errors: RequestError if there are no such operations.
   */
  tap(selection: TapSelection, visit: TapVisit): Disposable {
    const { operations } = this; // describes them
    const chosen = [...this.#infos].filter(([, info]) => isChosen(info, selection));
    const selected = chosen.filter(([, { output }]) => output).map(([operation]) => operation);
    if (selected.length === 0) throw nothingToTap(selection, operations, chosen.length > 0);
    return this.tapOperations({ selected: new Set(selected) }, (_, output) => visit(output));
  }

  /** Taps operations of the network, as {@linkcode StepObserver.tap} does. */
  tapOperations(tapped: TappedOperations, visit: OperationVisit): Disposable {
    void this.operations; // describes them
    for (const operation of tapped.selected) {
      if (operation.output || !operation.groups || this.#opened.has(operation)) continue;
      this.#opened.set(operation, this.#open(operation, operation.groups));
    }
    for (const operation of tapped.keys ?? []) {
      if (!this.#openKeys.has(operation)) this.#openKeys.set(operation, operation.keys!.open());
    }
    const tap: Tap = { ...tapped, visit, readbacks: new Map() };
    this.#taps.add(tap);
    return { [Symbol.dispose]: () => this.#remove(tap) };
  }

  /** An operation on int8 groups with f32 in between, in memory of its own. */
  #open(operation: StepOperation, { columns, apart }: Groups): OpenOperation {
    const { device = this.#device, outputName = "rows" } = operation;
    const rows = floatRows(device, outputName, this.network.options.limits.rows, columns);
    const [floats, quantize] = apart(rows);
    for (const half of [floats, quantize]) half.bind?.();
    return { rows, encode: floats.encode, quantize: quantize.encode };
  }

  #remove(tap: Tap): void {
    if (!this.#taps.delete(tap)) return;
    this.#left.add(tap);
    this.#freeLeft();
  }

  #freeLeft(): void {
    if (this.#isRunning) return;
    for (const { readbacks, selected } of this.#left) {
      for (const readback of readbacks.values()) readback.free();
      for (const operation of selected) this.#close(operation);
    }
    this.#left.clear();
  }

  #close(operation: StepOperation): void {
    const taps = [...this.#taps];
    const close = (all: Map<StepOperation, OpenOperation | OpenKeys>, isUsed: boolean) => {
      const opened = all.get(operation);
      if (!opened || isUsed) return;
      all.delete(operation);
      this.#device.free(opened.rows.floats);
    };
    close(this.#opened, taps.some(({ selected }) => selected.has(operation)));
    close(this.#openKeys, taps.some(({ keys }) => keys?.has(operation)));
  }

  /**
   * Runs a step; nothing else may be under way. `work` writes the step, runs its operations, and reads
   * its results. A tap or tracer that throws is removed, and the step continues without it, so that the
   * memory of the device stays consistent. Errors: TapError, after the step; what `work` throws.
   */
  async step<T>(plan: StepPlan, work: (step: ObservedStep) => Promise<T>): Promise<T> {
    const started = performance.now();
    const timed: TimedOperation[] | undefined = this.#tracers.size > 0 ? [] : undefined;
    let failure: TapError | undefined;
    const taps = [...this.#taps]; // One that is set meanwhile has to wait for the next step.
    this.#isRunning = true;
    this.#stepRows = undefined;
    try {
      const result = await work({
        run: async (operations) => {
          for (const piece of piecesOf(operations, taps)) {
            const last = piece.at(-1)!;
            const opened = this.#opened.get(last);
            await this.#runPiece([...piece.slice(0, -1), this.#openedOf(last)], plan, timed);
            failure = await this.#visitAll(taps, last, plan) ?? failure;
            if (opened) this.#submitOne(opened.quantize, plan);
          }
        },
      });
      const seconds = (performance.now() - started) / 1000;
      if (timed) failure = this.#tell(plan, seconds, timed) ?? failure;
      if (failure) throw failure;
      return result;
    } finally {
      this.#isRunning = false;
      this.#freeLeft();
    }
  }

  #tell(
    { shape }: StepPlan,
    seconds: number,
    timed: readonly TimedOperation[],
  ): TapError | undefined {
    const { rows, decodeRows, outputs } = shape;
    const operations = timed.map(
      ({ operation: { name, layer, work }, ...times }): OperationTrace => {
        return { name, ...(layer !== undefined && { layer }), ...times, ...work(shape) };
      },
    );
    let failure: TapError | undefined;
    for (const tell of [...this.#tracers]) {
      try {
        tell({ rows, decodeRows, outputs, seconds, operations });
      } catch (cause) {
        this.#tracers.delete(tell);
        failure = new TapError("the trace of a step", cause);
      }
    }
    return failure;
  }

  /** The operation as taps need it. */
  #openedOf(operation: StepOperation): StepOperation {
    const { encode = operation.encodeAlone ?? operation.encode } = this.#opened.get(operation) ??
      {};
    const keys = this.#openKeys.get(operation);
    const encodeAlone: Encode = !keys ? encode : (pass, step) => {
      keys.before(pass, step);
      encode(pass, step);
      keys.after(pass, step);
    };
    return { ...operation, encodeAlone };
  }

  async #runPiece(
    piece: readonly StepOperation[],
    { shape }: StepPlan,
    timed: TimedOperation[] | undefined,
  ): Promise<void> {
    if (!timed) {
      const encode: Encode = (pass) => piece.forEach((each) => encodeAlone(each, pass, shape));
      return this.#submitOne(encode, { shape });
    }
    const passes = piece.map((operation) => (pass: Pass) => encodeAlone(operation, pass, shape));
    const { seconds, hostSeconds } = await this.#device.time(passes);
    piece.forEach((operation, i) => {
      timed.push({ operation, seconds: seconds[i]!, hostSeconds: hostSeconds[i]! });
    });
  }

  #submitOne(encode: Encode, { shape }: Pick<StepPlan, "shape">): void {
    const recorder = this.#device.record();
    recorder.pass((pass) => encode(pass, shape));
    this.#device.submit(recorder.finish());
  }

  /** Calls the taps of an operation, one after the other, with what it has written. */
  async #visitAll(
    taps: readonly Tap[],
    operation: StepOperation,
    plan: StepPlan,
  ): Promise<TapError | undefined> {
    let failure: TapError | undefined;
    for (const tap of taps) {
      if (!tap.selected.has(operation) || !this.#taps.has(tap)) continue;
      const info = this.#infos.get(operation)!;
      try {
        await this.#visit(tap, operation, info, plan);
      } catch (cause) {
        this.#device.check(); // A device that failed is no fault of the tap.
        this.#remove(tap);
        const where = info.layer === undefined ? "" : ` of layer ${info.layer}`;
        failure = new TapError(`the tap of "${info.name}"${where}`, cause);
      }
    }
    return failure;
  }

  async #visit(
    { visit, readbacks }: Tap,
    operation: StepOperation,
    info: OperationInfo,
    plan: StepPlan,
  ): Promise<void> {
    const output = operation.output ?? this.#opened.get(operation)?.rows;
    const { columns = 0 } = output ?? {};
    const all = this.#stepRows ??= await this.#readRows(plan);
    const rows = operation.isOverOutputs ? Array.from(plan.outputs, (row) => all[row]!) : all;
    if (rows.length === 0) return;
    const readRows = (given: FloatRows, count: number) => {
      const rows = this.network.allocated(given);
      let readback = readbacks.get(given);
      if (!readback) {
        const { device = this.#device } = operation;
        const { outputs, rows: most } = this.network.options.limits;
        const limit = operation.isOverOutputs ? outputs : most;
        const fitting = Math.min(limit, Math.floor(rows.floats.size / (4 * rows.stride)));
        readbacks.set(given, readback = new RowReadback(device, "tap", rows, fitting));
      }
      return this.#read(readback, count);
    };
    const values = output ? await readRows(output, rows.length) : new Float32Array();
    const changed = await visit(operation, { operation: info, rows, columns, values }, {
      readRows: (others, count = rows.length) => readRows(others, count),
      readKeys: () => readRows(this.#openKeys.get(operation)!.rows, rows.length),
    });
    if (changed && output) this.#write(output, changed, rows.length);
  }

  async #read(readback: RowReadback, count: number): Promise<Float32Array> {
    const recorder = this.#device.record();
    readback.copy(recorder, 0, count);
    this.#device.submit(recorder.finish());
    return await readback.read(count);
  }

  /** The token, position and slot of each row of a step, as the device resolved them. */
  async #readRows({ rows: planned, shape }: StepPlan): Promise<StepRow[]> {
    const { rows: floats } = this.#state;
    const { limits } = this.network.options;
    const rows = { columns: STEP_ROW.words, stride: STEP_ROW.words, floats };
    this.#rows ??= new RowReadback(this.#device, "rows of taps", rows, limits.rows);
    const values = await this.#read(this.#rows, shape.rows);
    const words = new Uint32Array(values.buffer);
    return Array.from({ length: shape.rows }, (_, row): StepRow => {
      const { token, position, slot } = STEP_ROW.read(words, row);
      const isImage = planned[row * PLAN_ROW.words + PLAN_ROW.word.token]! >= IMAGE_TOKEN;
      return { ...(isImage ? {} : { token }), position, slot };
    });
  }

  #write({ floats, columns, stride }: FloatRows, values: Float32Array, rows: number): void {
    if (values.length !== rows * columns) {
      const wanted = `${rows} rows of ${columns} floats`;
      throw new RangeError(`it gave back ${values.length} floats in place of ${wanted}`);
    }
    for (let row = 0; row < rows; row++) {
      const own = values.subarray(row * columns, (row + 1) * columns);
      this.#device.write(floats, row * stride * 4, own);
    }
  }
}

/** A step in pieces. */
export interface ObservedStep {
  /** Runs operations in order, with tracers and taps. */
  run(operations: readonly StepOperation[]): Promise<void>;
}

type Encode = StepOperation["encode"];

function encodeAlone(operation: StepOperation, pass: Pass, shape: StepShape): void {
  (operation.encodeAlone ?? operation.encode)(pass, shape);
}

/** Operations in pieces, each of which ends where a tap is. */
function piecesOf(
  operations: readonly StepOperation[],
  taps: readonly Tap[],
): StepOperation[][] {
  const pieces: StepOperation[][] = [];
  let isOpen = false;
  for (const operation of operations) {
    if (isOpen) pieces.at(-1)!.push(operation);
    else pieces.push([operation]);
    isOpen = !taps.some(({ selected }) => selected.has(operation));
  }
  return pieces;
}

function isChosen(info: OperationInfo, { name, layer, output }: TapSelection): boolean {
  return (name === undefined || info.name === name || info.name.startsWith(`${name} `)) &&
    (layer === undefined || info.layer === layer) &&
    (output === undefined || info.output === output);
}

function nothingToTap(
  { name, layer, output }: TapSelection,
  operations: readonly OperationInfo[],
  isThere: boolean,
): RequestError {
  const what = [
    name === undefined ? "operations" : `"${name}"`,
    ...(layer === undefined ? [] : [`of layer ${layer}`]),
    ...(output === undefined ? [] : [`with output "${output}"`]),
  ].join(" ");
  if (isThere) {
    return new RequestError(
      `Cannot tap ${what}: it writes no floats; load the model with "exact", or tap what reads it`,
    );
  }
  const outputs = [...new Set(operations.flatMap((operation) => operation.output ?? []))];
  return new RequestError(
    `Cannot tap ${what}: the model has none; outputs are ${outputs.join(", ")}`,
  );
}
