// Observers of steps: tracers, which are told the time and the work of each operation, and taps, which
// read or change what an operation has written before the next one runs. While there are any, a step
// runs in pieces, and the next one waits for it; where all taps only look, a step of few rows runs whole
// (step_copies.ts). Without observers steps run as if this file did not exist.

import { type Device, type FloatRows, type Pass, STEP_ROW } from "../../kernels/mod.ts";
import { TapError } from "../errors.ts";
import {
  type Network,
  type OutputKind,
  RowReadback,
  type StepOperation,
  type StepShape,
  type StepState,
} from "../nn/mod.ts";
import {
  isChosen,
  nothingToTap,
  type OperationInfo,
  type OperationTrace,
  type OperationVisit,
  type StepRow,
  type StepTrace,
  type TappedOperations,
  type TapSelection,
  type TapVisit,
  type VisitTools,
} from "./observation.ts";
import { OpenedOperations } from "./opened_operations.ts";
import { type CopiedStep, StepCopies } from "./step_copies.ts";
import { resolvedRows, type StepPlan } from "./step_plan.ts";

interface Tap extends TappedOperations {
  readonly visit: OperationVisit;
  readonly readbacks: Map<FloatRows, RowReadback>;
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
  /** Copies for the taps that are set, once a step needed them, and for those that were before. */
  #copies: StepCopies | undefined;
  readonly #oldCopies = new Set<StepCopies>();
  /** The tapped operations that have to be open for that. */
  readonly #opened: OpenedOperations;
  #rows: RowReadback | undefined;
  /** The rows of the step that runs, once they were read: the same at all its operations. */
  #stepRows: readonly StepRow[] | undefined;
  #isRunning = false;

  constructor(device: Device, network: Network, state: StepState) {
    this.#device = device;
    this.network = network;
    this.#state = state;
    this.#opened = new OpenedOperations(device, network);
  }

  /** Whether there are tracers or taps. */
  get isActive(): boolean {
    return this.#tracers.size + this.#taps.size > 0;
  }

  /** Whether there are taps of all sequences, which may change what is computed. */
  get isTapped(): boolean {
    return this.#taps.values().some(({ isOfSequence }) => !isOfSequence);
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
    this.#opened.open(tapped);
    const tap: Tap = { ...tapped, visit, readbacks: new Map() };
    this.#taps.add(tap);
    this.#forgetCopies();
    return { [Symbol.dispose]: () => this.#remove(tap) };
  }

  #remove(tap: Tap): void {
    if (!this.#taps.delete(tap)) return;
    this.#left.add(tap);
    this.#forgetCopies();
  }

  #forgetCopies(): void {
    if (this.#copies) this.#oldCopies.add(this.#copies);
    this.#copies = undefined;
    this.#freeLeft();
  }

  #freeLeft(): void {
    if (this.#isRunning) return;
    for (const { readbacks } of this.#left) {
      for (const readback of readbacks.values()) readback.free();
    }
    if (this.#left.size > 0) this.#opened.close([...this.#taps]);
    this.#left.clear();
    for (const copies of this.#oldCopies) copies.free();
    this.#oldCopies.clear();
  }

  /**
   * Watches a step that runs whole, with copies; nothing else may be under way. Undefined: it has to run
   * in pieces, or nobody taps it.
   */
  watch(plan: StepPlan): WatchedStep | undefined {
    const taps = [...this.#taps];
    if (taps.length === 0 || this.#tracers.size > 0) return undefined;
    if (!taps.every(({ looksOnly }) => looksOnly)) return undefined;
    const copies = this.#copies ??= this.#newCopies(taps);
    if (!copies?.fit(plan.shape)) return undefined;
    this.#isRunning = true;
    const end = async (repeats: number) => {
      try {
        const steps = repeats > 0 ? await copies.read(plan, repeats) : [];
        const failure = await this.#visitCopies(taps, copies.operations, plan, steps);
        if (failure) throw failure;
      } finally {
        this.#isRunning = false;
        this.#freeLeft();
      }
    };
    return { copies, end };
  }

  /** Calls taps with what steps of a plan have written, operation by operation. */
  async #visitCopies(
    taps: readonly Tap[],
    operations: readonly StepOperation[],
    plan: StepPlan,
    steps: readonly CopiedStep[],
  ): Promise<TapError | undefined> {
    let failure: TapError | undefined;
    for (const step of steps) {
      for (const operation of operations) {
        const rows = writtenRows(operation, plan, step.rows);
        if (rows.length === 0) continue;
        const { columns } = this.#opened.rowsOf(operation)!;
        failure = await this.#visitAll(taps, operation, async ({ visit }, info) => {
          const output = { operation: info, rows, columns, values: step.valuesOf(operation) };
          await visit(operation, output, NO_TOOLS);
        }) ?? failure;
      }
    }
    return failure;
  }

  /** Copies for these taps; undefined if they are too large. */
  #newCopies(taps: readonly Tap[]): StepCopies | undefined {
    const operations = [...this.#infos.keys()].filter((operation) =>
      taps.some(({ selected }) => selected.has(operation))
    );
    const copied = operations.map((operation) => this.#opened.copied(operation));
    if (!StepCopies.areFew(this.network, copied)) return undefined;
    return new StepCopies(this.#device, this.network, this.#state, copied);
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
            const rest = this.#opened.restOf(last);
            await this.#runPiece([...piece.slice(0, -1), this.#opened.alone(last)], plan, timed);
            const visit = (tap: Tap, info: OperationInfo) => this.#visit(tap, last, info, plan);
            failure = await this.#visitAll(taps, last, visit) ?? failure;
            if (rest) this.#submitOne(rest, plan);
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
    visit: (tap: Tap, info: OperationInfo) => Promise<void>,
  ): Promise<TapError | undefined> {
    let failure: TapError | undefined;
    for (const tap of taps) {
      if (!tap.selected.has(operation) || !this.#taps.has(tap)) continue;
      const info = this.#infos.get(operation)!;
      try {
        await visit(tap, info);
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
    const output = this.#opened.rowsOf(operation);
    const { columns = 0 } = output ?? {};
    const all = this.#stepRows ??= await this.#readRows(plan);
    const rows = writtenRows(operation, plan, all);
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
      readKeys: () => readRows(this.#opened.keysOf(operation), rows.length),
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
  async #readRows(plan: StepPlan): Promise<StepRow[]> {
    const { rows: floats } = this.#state;
    const { limits } = this.network.options;
    const rows = { columns: STEP_ROW.words, stride: STEP_ROW.words, floats };
    this.#rows ??= new RowReadback(this.#device, "rows of taps", rows, limits.rows);
    const values = await this.#read(this.#rows, plan.shape.rows);
    return resolvedRows(plan, new Uint32Array(values.buffer));
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

/** A step that runs whole. */
export interface WatchedStep {
  readonly copies: StepCopies;
  /**
   * Calls the taps, when the step has run: once, whatever happens. Errors: TapError.
   * @param repeats how often it has run
   */
  end(repeats: number): Promise<void>;
}

/** A step in pieces. */
export interface ObservedStep {
  /** Runs operations in order, with tracers and taps. */
  run(operations: readonly StepOperation[]): Promise<void>;
}

type Encode = StepOperation["encode"];

/** What a visit may do that only looks. */
const NO_TOOLS: VisitTools = {
  readRows: () => Promise.reject(new RangeError("Cannot read other rows: the step is over")),
  readKeys: () => Promise.reject(new RangeError("Cannot read keys: the step is over")),
};

/** Those rows of a step that an operation writes. */
function writtenRows(
  { isOverOutputs }: StepOperation,
  { outputs }: StepPlan,
  all: readonly StepRow[],
): readonly StepRow[] {
  return isOverOutputs ? Array.from(outputs, (row) => all[row]!) : all;
}

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
