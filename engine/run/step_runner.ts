// Runs forward steps on the device: writes a step's rows, records the network and the choice of tokens
// (step_sampler.ts) as often as tokens are wanted per submit, and reads the tokens back while the next
// submit runs.
// Knows slots and rows, not requests; scheduler.ts decides what runs.

import {
  BLOCK,
  type Commands,
  type Device,
  type FloatRows,
  type Readback,
  type Recorder,
  type ResolvedSampling,
  type TokenBias,
} from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import {
  type Network,
  type OutputKind,
  RowReadback,
  type StepLimits,
  type StepState,
} from "../nn/mod.ts";
import { BlockTransfer } from "./block_transfer.ts";
import { SlotMemory } from "./slot_memory.ts";
import type { ChangedOutputs, StepExecutor } from "./step_executor.ts";
import { MOST_REPEATS, type Sampled, type StepPlan } from "./step_plan.ts";
import { type ObservedStep, StepObserver, type WatchedStep } from "./step_observer.ts";
import { type Choice, StepRecorder } from "./step_recorder.ts";
import { StepSampler } from "./step_sampler.ts";

/** For steps that are never aborted. */
const NEVER = () => false;

/** Submits at a time: one that runs, and one that is being read. */
const IN_FLIGHT = 2;

/** The executor of a model's steps on a device. */
export class StepRunner implements StepExecutor {
  readonly #device: Device;
  readonly #network: Network;
  readonly #state: StepState;
  readonly #limits: StepLimits;
  readonly #sampler: StepSampler;
  readonly #readbacks: Readback[];
  readonly #rowReadbacks = new Map<string, RowReadback>();
  /** Of hidden states, where the network keeps them; in turns, as those of tokens are. */
  readonly #stateReadbacks: readonly RowReadback[];
  #submits = 0;
  /** The staging buffers of each submit that was not read yet, in their order. */
  readonly #unread: Readback[][] = [];
  /** Version of the plan that the device has. */
  #written: number | undefined;
  /** Whether factors of adapters were written that are not all zero. */
  #hasScales = false;
  /** The last plan that sample() was called with, unless what follows was prepared. */
  #sampled: StepPlan | undefined;
  /** What watches steps. */
  readonly observer: StepObserver;
  /** How the plan runs that forward() was called with: in pieces, when sample() is called, or watched. */
  #forwarded: { inPieces: boolean; watched?: WatchedStep | undefined } = { inPieces: false };
  /** Commands that go with the next submit. */
  readonly #held: Commands[] = [];
  readonly #recorder: StepRecorder;
  readonly memory: SlotMemory;
  readonly blocks: BlockTransfer;

  constructor(
    device: Device,
    network: Network,
    state: StepState,
    limits: StepLimits,
  ) {
    this.#device = device;
    this.#network = network;
    this.blocks = new BlockTransfer(network.memory, network.options.cacheBlocks);
    this.#recorder = new StepRecorder(device, network);
    this.observer = new StepObserver(device, network, state);
    this.#state = state;
    this.#limits = limits;
    this.memory = new SlotMemory(device, network, state, limits);
    const { outputs, slots } = limits;
    const logits = network.outputRows("logits");
    this.#sampler = new StepSampler(device, logits, state, limits);
    const hidden = network.outputRows("hidden");
    if (hidden && !logits) this.#rowReadback("hidden", hidden, outputs);
    this.#readbacks = Array.from(
      { length: IN_FLIGHT },
      () => device.readback("tokens readback", MOST_REPEATS * outputs * 4),
    );
    const states = network.finalStates;
    // Only steps in which each sequence has one row are repeated.
    const most = Math.max(limits.rows, MOST_REPEATS * slots);
    this.#stateReadbacks = states
      ? this.#readbacks.map(() => new RowReadback(device, "final states", states, most))
      : [];
  }

  /** Prepares for the first step: in Deno the first read of a buffer takes 10 ms. */
  async prepare(): Promise<void> {
    await Promise.all(this.#readbacks.map((readback) => readback.read(4)));
  }

  /** Sets the sampling of a slot, for the sequence that gets it. */
  assignSlot(slot: number, sampling: ResolvedSampling): void {
    this.#sampler.assignSlot(slot, sampling);
  }

  /** Sets what is added to the logits of a slot's sequence. */
  writeBiases(slot: number, biases: readonly TokenBias[]): void {
    this.#sampler.writeBiases(slot, biases);
  }

  /**
   * Submits a plan `repeats` times over: each repeat decodes one more token of every output.
   * Call the result once, between the next submit and the one after that. In Deno that call itself
   * blocks until the GPU is done, and the next submit goes out when it is; see platform.ts.
   */
  submit(plan: StepPlan, repeats: number, isUnwanted = NEVER): () => Promise<Sampled> {
    this.#device.check();
    const watched = this.observer.watch(plan);
    if (this.isObserved && !watched) return () => this.#submitObserved(plan, repeats, isUnwanted);
    this.#holdForRead();
    this.write(plan);
    const commands = this.#recorder.take(plan, repeats, this.#choice(plan), watched?.copies);
    const index = this.#submits++ % IN_FLIGHT;
    const readback = this.#readbacks[index];
    const states = this.#stateReadbacks[index];
    this.#unread.push(stagingOf(readback, states, watched));
    this.#device.unless(isUnwanted, () => {
      if (this.#overlaps) this.#submitAhead(commands);
      else this.#device.submit(...commands);
    });
    return async () => {
      this.#unread.shift();
      const words = repeats * plan.shape.outputs;
      const tokens = new Uint32Array(await readback.readNow(Math.max(1, words) * 4));
      const hidden = await states?.read(repeats * plan.shape.rows);
      await watched?.end(isUnwanted() ? 0 : repeats);
      return {
        tokens: tokens.subarray(0, words),
        logits: new Map(),
        ...(hidden && { states: hidden }),
      };
    };
  }

  /** Whether the device computes beside the host. */
  get #overlaps(): boolean {
    return !this.#device.profile.capabilities.software;
  }

  /** A driver on the CPU computes on the same cores, where no thread can be sure to wake in time. */
  get readsBlock(): boolean {
    return this.#device.readsBlock && this.#overlaps;
  }

  get submitsBlock(): boolean {
    return this.#device.submitsBlock;
  }

  /** Submits the first commands alone, so that an idle GPU begins while the rest is submitted. */
  #submitAhead([first, ...rest]: readonly Commands[]): void {
    this.#device.submit(first);
    if (rest.length > 0) this.#device.submit(...rest);
  }

  /** While a submit is not read, what follows goes out with its read. */
  #holdForRead(): void {
    const [unread] = this.#unread;
    if (unread) this.#device.holdFor(unread);
  }

  /** The sampling of a plan's tokens, which go to the readback buffer of the next submit. */
  #choice(plan: StepPlan): Choice {
    const index = this.#submits % IN_FLIGHT;
    const { outputs } = plan.shape;
    const needs = this.#sampler.needs(plan);
    return {
      needs,
      encode: (pass) => this.#sampler.encode(pass, outputs, needs),
      sampled: this.#sampler.sampled,
      target: this.#readbacks[index].buffer,
      states: this.#stateReadbacks[index],
    };
  }

  /**
   * Submits a plan without the choice of tokens; sample() is to follow. With a driver on the CPU nothing
   * overlaps, and a second submit would wait for the first: both go into one submit there.
   */
  forward(plan: StepPlan): void {
    this.#device.check();
    const watched = this.observer.watch(plan);
    const inPieces = this.isObserved && !watched;
    this.#forwarded = { inPieces, watched };
    if (inPieces) return; // sample() does it all
    this.#holdForRead();
    this.write(plan);
    const commands = this.#recorder.take(plan, 1, undefined, watched?.copies);
    if (this.#overlaps) this.#submitAhead(commands);
    else this.#held.push(...commands);
  }

  /**
   * Submits the choice of tokens for the plan that forward() was called with. The result resolves
   * at once when the GPU is done.
   *
   * @param masks by output, for those of slots whose sampling is masked
   * @param wanted outputs whose logits are wanted too, at most as many as there are slots
   */
  sample(
    plan: StepPlan,
    masks: ReadonlyMap<number, Uint32Array<ArrayBuffer>>,
    wanted: ReadonlySet<number>,
    isUnwanted = NEVER,
  ): () => Promise<Sampled> {
    this.#sampler.writeMasks(masks);
    const { inPieces, watched } = this.#forwarded;
    if (inPieces) return () => this.#sampleObserved(plan, wanted);
    const { outputs } = plan.shape;
    const index = this.#submits++ % IN_FLIGHT;
    const readback = this.#readbacks[index];
    const states = this.#stateReadbacks[index];
    const recorder = this.#device.record();
    // They are copied first, because penalties and masks are written into them.
    const logits = this.#copyLogits(recorder, wanted, index);
    this.#unread.push(stagingOf(readback, states, watched, logits?.readback));
    recorder.pass((pass) => this.#sampler.encode(pass, outputs, this.#sampler.needs(plan)));
    recorder.copy(this.#sampler.sampled, 0, readback.buffer, 0, outputs * 4);
    const { rows } = plan.shape;
    states?.copy(recorder, 0, rows);
    watched?.copies.send(recorder, plan.shape);
    const held = this.#held.splice(0);
    this.#device.unless(isUnwanted, () => this.#device.submit(...held, recorder.finish()));
    this.#sampled = watched ? undefined : plan; // Else the next step waits for this one.
    return async () => {
      this.#unread.shift();
      const tokens = new Uint32Array(await readback.readNow(outputs * 4));
      const hidden = await states?.read(rows);
      const read = await logits?.read();
      await watched?.end(isUnwanted() ? 0 : 1);
      return { tokens, logits: read ?? new Map(), ...(hidden && { states: hidden }) };
    };
  }

  async resample(
    plan: StepPlan,
    { masks = new Map(), logits = new Map() }: ChangedOutputs,
  ): Promise<Uint32Array> {
    this.#device.check();
    this.#sampler.writeMasks(masks);
    this.#sampler.writeLogits(logits);
    const { outputs } = plan.shape;
    const readback = this.#readbacks[this.#submits++ % IN_FLIGHT];
    const recorder = this.#device.record();
    // Penalties and biases are in the logits already. The other outputs get the same tokens again.
    const needs = { ...this.#sampler.needs(plan), penalties: false, biases: false };
    recorder.pass((pass) => this.#sampler.encode(pass, outputs, needs));
    recorder.copy(this.#sampler.sampled, 0, readback.buffer, 0, outputs * 4);
    this.#device.submit(recorder.finish());
    return new Uint32Array(await readback.readNow(outputs * 4));
  }

  prepareNext(): void {
    const plan = this.#sampled;
    this.#sampled = undefined;
    if (plan) this.#recorder.prepare(plan);
  }

  /** Like submit(), but one step after the other, for observers. */
  async #submitObserved(
    plan: StepPlan,
    repeats: number,
    isUnwanted: () => boolean,
  ): Promise<Sampled> {
    const { outputs, decodeContext } = plan.shape;
    const tokens = new Uint32Array(repeats * outputs);
    for (let i = 0; i < repeats && !isUnwanted(); i++) {
      // The plan's context is that of the last repeat.
      const shape = { ...plan.shape, decodeContext: decodeContext - (repeats - 1 - i) };
      const sampled = await this.#sampleObserved({ ...plan, shape }, new Set());
      tokens.set(sampled.tokens, i * outputs);
    }
    return { tokens, logits: new Map() };
  }

  /** Like forward() and sample(), for observers. */
  #sampleObserved(plan: StepPlan, wanted: ReadonlySet<number>): Promise<Sampled> {
    const { outputs } = plan.shape;
    const index = this.#submits++ % IN_FLIGHT;
    return this.observer.step(plan, async (step) => {
      await this.#runObserved(step, plan, "logits");
      if (outputs === 0) return { tokens: new Uint32Array(0), logits: new Map() };
      const copies = this.#device.record();
      const logits = this.#copyLogits(copies, wanted, index);
      this.#device.submit(copies.finish());
      await step.run(this.#sampler.operations(plan));
      const readback = this.#readbacks[index];
      const recorder = this.#device.record();
      recorder.copy(this.#sampler.sampled, 0, readback.buffer, 0, outputs * 4);
      this.#device.submit(recorder.finish());
      const tokens = new Uint32Array(await readback.readNow(outputs * 4));
      return { tokens, logits: await logits?.read() ?? new Map() };
    });
  }

  async #runObserved(step: ObservedStep, plan: StepPlan, output: OutputKind): Promise<void> {
    this.write(plan);
    await step.run(this.#network.observedOperations(output, plan.shape.outputs));
  }

  /** Records the copy of the wanted logits, if there are any, which are read by output. */
  #copyLogits(
    recorder: Recorder,
    wanted: ReadonlySet<number>,
    index: number,
  ): { readback: RowReadback; read(): Promise<Sampled["logits"]> } | undefined {
    const copied = [...wanted];
    if (copied.length === 0) return undefined;
    const rows = this.#network.outputRows("logits")!;
    const readback = this.#rowReadback(`sampled logits ${index}`, rows, this.#limits.slots);
    copied.forEach((output, at) => readback.copy(recorder, output, 1, at));
    const read = async () => {
      const values = await readback.read(copied.length);
      const rowOf = (at: number) => values.subarray(at * rows.columns, (at + 1) * rows.columns);
      return new Map(copied.map((output, at) => [output, rowOf(at)]));
    };
    return { readback, read };
  }

  #rowReadback(label: string, rows: FloatRows, most: number): RowReadback {
    let readback = this.#rowReadbacks.get(label);
    readback ??= new RowReadback(this.#device, label, rows, most);
    this.#rowReadbacks.set(label, readback);
    return readback;
  }

  /** Runs a plan and reads an output of it: [outputs, columns]. No other step may be running. */
  async evaluate(
    plan: StepPlan,
    output: OutputKind,
    isUnwanted = NEVER,
  ): Promise<Float32Array> {
    this.#device.check();
    const rows = this.#network.outputRows(output);
    if (!rows) throw new UnsupportedModelError(`Cannot read ${output}: the model has none`);
    const { outputs } = plan.shape;
    const readback = this.#rowReadback(output, rows, this.#limits.outputs);
    if (this.isObserved) {
      return await this.observer.step(plan, async (step) => {
        await this.#runObserved(step, plan, output);
        const copies = this.#device.record();
        readback.copy(copies, 0, outputs);
        this.#device.submit(copies.finish());
        return outputs === 0 ? new Float32Array(0) : await readback.read(outputs);
      });
    }
    this.write(plan);
    const recorder = this.#device.record();
    recorder.pass((pass) => this.#network.encode(pass, plan.shape, output));
    readback.copy(recorder, 0, outputs);
    this.#device.unless(isUnwanted, () => this.#device.submit(recorder.finish()));
    if (outputs === 0) return new Float32Array(0);
    // The host waits for each result, so there is nothing that the sleep of mapAsync could overlap.
    return await readback.read(outputs);
  }

  get isObserved(): boolean {
    return this.observer.isActive;
  }

  get isTapped(): boolean {
    return this.observer.isTapped;
  }

  /** Whether rows of an image attend to each other in both directions: an image runs in one step. */
  get bidirectionalImages(): boolean {
    return this.#network.media.areBidirectional;
  }

  /** Positions in a block of the KV cache. */
  get blockSize(): number {
    return BLOCK;
  }

  /** Number of blocks that hold `positions` positions. */
  blocksFor(positions: number): number {
    return Math.ceil(positions / BLOCK);
  }

  get limits(): StepLimits {
    return this.#limits;
  }

  /** Most consecutive rows of one sequence in a query tile. */
  get tileRows(): number {
    return this.#network.tileRows;
  }

  /**
   * Writes the rows of a plan, for operations that are submitted after it. A decode step that follows one
   * with the same plan needs nothing from the host.
   */
  write(plan: StepPlan): void {
    if (plan.version === this.#written) return;
    this.#device.write(this.#state.plan, 0, plan.rows);
    this.#device.write(this.#state.outputs, 0, plan.outputs);
    this.#device.write(this.#state.prefillTiles, 0, plan.prefillTiles);
    this.#device.write(this.#state.segments, 0, plan.segments);
    if (plan.media.length > 0) this.#network.media.write(plan.media);
    this.#writeAdapters(plan);
    this.#written = plan.version;
  }

  /** Writes the factors of adapters: zeros for a step without, if others are there. */
  #writeAdapters({ adapterScales, outputs }: StepPlan): void {
    const { adapters } = this.#network;
    if (!adapters || (!adapterScales && !this.#hasScales)) return;
    const { count, scales, outputScales } = adapters;
    const rows = adapterScales ?? new Float32Array(this.#limits.rows * count);
    this.#device.write(scales.floats, 0, rows);
    const ofOutputs = new Float32Array(outputs.length * count);
    outputs.forEach((row, i) =>
      ofOutputs.set(rows.subarray(row * count, (row + 1) * count), i * count)
    );
    this.#device.write(outputScales.floats, 0, ofOutputs);
    this.#hasScales = adapterScales !== undefined;
  }
}

/** The staging buffers of a submit's tokens and rows. */
function stagingOf(
  tokens: Readback,
  states: RowReadback | undefined,
  watched: WatchedStep | undefined,
  logits?: RowReadback,
): Readback[] {
  const rows = [states, logits].flatMap((one) => one ? [one.staging] : []);
  return [tokens, ...rows, ...watched?.copies.staging ?? []];
}
