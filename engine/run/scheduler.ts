// Runs sequences together (continuous batching, Yu et al. 2022): admits them to slots, feeds
// prompts in chunks beside sequences that decode, and reads the tokens of a step while the next one
// runs. When the KV cache is full, the youngest sequence is preempted and prefilled again later (Kwon
// et al. 2023). One loop, which ends when there is nothing to do.

import { nextTask, nextTurn, untilAborted } from "../async.ts";
import { GpuError } from "../../kernels/mod.ts";
import { DeviceFailedError, ModelClosedError } from "../errors.ts";
import { DeviceLock } from "./device_lock.ts";
import { Drafts } from "./drafts.ts";
import { EvaluationQueue } from "./evaluation_queue.ts";
import type { Drafter } from "./model_drafter.ts";
import { evaluate, type Evaluation, type EvaluationPace, type RunLocked } from "./evaluation.ts";
import type { TokenKey } from "../prompt/mod.ts";
import type { KeptTokens, Occupancy } from "../types/mod.ts";
import type { BlockTiers } from "./offload.ts";
import { FairShares } from "./fair_shares.ts";
import { PromptPace } from "./prompt_pace.ts";
import { Sequence, type SequenceEnd, type SequenceRequest } from "./sequence.ts";
import { SequencePool } from "./sequence_pool.ts";
import type { StepExecutor } from "./step_executor.ts";
import { Steps, type Submit } from "./steps.ts";
import { SubmitAlarm } from "./submit_alarm.ts";

/** Least time between two messages to a waiting sequence about its place in the queue, in milliseconds. */
const TELLING_INTERVAL = 500;

/** Longest that a sequence is held back while others run that go first, in milliseconds. */
const LONGEST_BEHIND = 60_000;

/** Milliseconds of a step of an evaluation while sequences decode, which may wait for one of a prompt, too. */
const EVALUATION_STEP = 40;

/** How a scheduler runs. */
export interface SchedulerOptions {
  /** Blocks of the KV cache. */
  readonly cacheBlocks: number;
  /** Most prompt tokens per step. */
  readonly chunkSize: number;
  /** Keep what leaves the KV cache. Missing: nothing does; see {@linkcode Scheduler.openTiers}. */
  readonly tiers?: BlockTiers | undefined;
  /** Missing: tokens are drafted from a sequence's own text alone. */
  readonly drafter?: Drafter | undefined;
  /** The clock by which prompts and evaluations leave time to sequences that decode, in milliseconds. */
  readonly clock?: () => number;
  /** Wakes the host shortly before the device is done. */
  readonly alarm?: SubmitAlarm;
}

/** The scheduler of a model: all its sequences. */
export class Scheduler {
  readonly #executor: StepExecutor;
  readonly #pool: SequencePool;
  readonly #steps: Steps;
  readonly #drafts: Drafts;
  readonly #chunkSize: number;
  readonly #shares = new FairShares();
  #waiting: Sequence[] = [];
  /** In order of admission. */
  #running: Sequence[] = [];
  /** Sequences that were admitted before, even if they wait again. */
  readonly #begun = new WeakSet<Sequence>();
  /** The last message to each about the number of sequences before it, and its time. */
  readonly #told = new WeakMap<Sequence, { ahead: number; at: number }>();
  /** Since when those have waited that others may hold back. */
  readonly #behindSince = new WeakMap<Sequence, number>();
  #loop: Promise<void> | undefined;
  /** Evaluations that run or wait. */
  #evaluations = 0;
  readonly #evaluationQueue: EvaluationQueue;
  /** Whether an evaluation waits for memory: until it has some, no sequence is admitted. */
  #isShort = false;
  /** Whether an evaluation holds the memory that the next sequence needs: the loop pauses until it ends. */
  #isBlocked = false;
  /** Settles when the next sequence can be admitted, which waits for blocks on their way. */
  #arriving: Promise<void> | undefined;
  /** Settles when a sequence gives memory back. */
  #freed = Promise.withResolvers<void>();
  /** The lock that work between two steps holds. */
  readonly #lock = new DeviceLock();
  #failure: ModelClosedError | undefined;
  readonly #lost = Promise.withResolvers<DeviceFailedError>();

  constructor(executor: StepExecutor, options: SchedulerOptions) {
    const { cacheBlocks, chunkSize, tiers, drafter } = options;
    const { alarm = new SubmitAlarm(), clock = () => performance.now() } = options;
    const pool = new SequencePool(executor, cacheBlocks);
    if (tiers) pool.openTiers(tiers);
    const end = (sequence: Sequence, reason: SequenceEnd) => this.#end(sequence, reason);
    const owner = { preempt: () => this.#preempt(), end };
    const drafts = new Drafts({ executor, pool, end, drafter });
    this.#executor = executor;
    this.#pool = pool;
    this.#chunkSize = chunkSize;
    this.#drafts = drafts;
    const pace = new PromptPace();
    this.#steps = new Steps({ executor, pool, chunkSize, owner, pace, drafts, alarm, clock });
    const evaluations = this.#paceOfEvaluations(clock);
    this.#evaluationQueue = new EvaluationQueue((evaluation) => {
      const runLocked: RunLocked = (part) => this.#runLocked(part, evaluation.signal);
      return evaluate(executor, pool, evaluation, runLocked, evaluations);
    }, executor.limits.slots);
  }

  #paceOfEvaluations(clock: () => number): EvaluationPace {
    const pace = new PromptPace(EVALUATION_STEP);
    const isAwaited = () =>
      this.#running.some(({ decoding, generated }) => decoding || generated > 0);
    let began = 0;
    return {
      rows: (step) => isAwaited() ? pace.rowsBeside(step) : step.rows,
      begin: () => void (began = clock()),
      end: (step) => isAwaited() && pace.measured(step, clock() - began),
    };
  }

  /** Sequences that run or wait. */
  get load(): number {
    return this.#running.length + this.#waiting.length;
  }

  /** Whether it was closed, or has failed. */
  get isClosed(): boolean {
    return this.#failure !== undefined;
  }

  /** Keeps what leaves the KV cache from now on. */
  openTiers(tiers: BlockTiers): void {
    this.#pool.openTiers(tiers);
  }

  /** Puts a new sequence into the queue: before those in the background, unless it is one. */
  #queue(sequence: Sequence): void {
    const isPassed = (other: Sequence) => other.isBehind && !this.#begun.has(other);
    const index = sequence.isBehind ? -1 : this.#waiting.findIndex(isPassed);
    this.#waiting.splice(index < 0 ? this.#waiting.length : index, 0, sequence);
    this.#behindSince.set(sequence, performance.now());
  }

  /**
   * Whether a sequence still waits for others: in the background for all that run, beside a session's
   * main conversation for all of that.
   */
  #isHeldBack(sequence: Sequence): boolean {
    const { isBehind, besideSession } = sequence;
    if (performance.now() >= this.#behindSince.get(sequence)! + LONGEST_BEHIND) return false;
    if (isBehind) return this.#running.some((other) => !other.isBehind);
    if (besideSession === undefined) return false;
    const isOfMain = ({ mainOfSession }: Sequence) => mainOfSession === besideSession;
    return this.#running.some(isOfMain) || this.#waiting.some(isOfMain);
  }

  /** The use of the slots and of the KV cache, evaluations included. */
  get occupancy(): Occupancy {
    const { slots } = this.#executor.limits;
    const { freeSlots, blockCounts: { free, idle, used } } = this.#pool;
    const count = (sequences: readonly Sequence[]) =>
      sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
    return {
      slots: { used: slots - freeSlots, free: freeSlots },
      blocks: { used, cached: idle, free },
      blockTokens: this.blockSize,
      tokens: { running: count(this.#running), waiting: count(this.#waiting) },
    };
  }

  /** Tokens of a block of the KV cache. */
  get blockSize(): number {
    return this.#executor.blockSize;
  }

  /** How many of a text's tokens are kept, and where. */
  kept(keys: readonly TokenKey[]): KeptTokens {
    return this.#pool.kept(keys);
  }

  /** Queues a sequence. Its `end` is called whatever happens. */
  add(request: SequenceRequest): Sequence {
    if (this.#failure) throw this.#failure;
    const sequence = new Sequence(request);
    this.#drafts.add(sequence);
    this.#queue(sequence);
    // A prefill may take long, so a sequence that has to wait for it is told now.
    const isReading = this.#running.some(({ decoding }) => !decoding);
    if (isReading || this.#waiting.length > 1 || this.#isShort || this.#isBlocked) {
      this.#tellWaiting();
    }
    this.#wake();
    return sequence;
  }

  /** Most rows and sequences of a step of an evaluation. */
  get evaluationLimits(): { rows: number; sequences: number } {
    const { rows, slots } = this.#executor.limits;
    return { rows, sequences: slots };
  }

  /**
   * Evaluates fresh sequences, several in a step, between the steps of others. Errors: RangeError
   * if a sequence does not fit into memory; ModelClosedError; the signal's reason.
   */
  async evaluate(evaluation: Evaluation): Promise<Float32Array[]> {
    this.#evaluations++;
    try {
      return await this.#evaluationQueue.evaluate(evaluation);
    } finally {
      this.#evaluations--;
      this.#isBlocked = false;
      this.#wake();
    }
  }

  async #runLocked(part: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
    const attempt = async () => {
      const isDone = await part();
      this.#isShort = !isDone;
      if (isDone || this.#running.length > 0) return isDone;
      throw new RangeError("Cannot evaluate: a sequence fits nowhere");
    };
    try {
      for (;;) {
        const { promise: freed } = this.#freed;
        await nextTask(); // A driver on the CPU may never yield to the event loop: aborts arrive here.
        if (await this.between(attempt, signal)) return;
        await untilAborted(freed, signal);
      }
    } finally {
      this.#isShort = false;
    }
  }

  /** Runs work between two steps. Errors: its own; ModelClosedError; the signal's reason. */
  async between<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#failure) throw this.#failure;
    const result = this.#lock.hold(work, signal);
    this.#wake();
    return await result;
  }

  /** Settles when the device fails; then everything is refused. */
  get lost(): Promise<DeviceFailedError> {
    return this.#lost.promise;
  }

  /** Ends every sequence with ModelClosedError, or DeviceFailedError, and refuses new ones. */
  async close(cause?: unknown): Promise<void> {
    const error = this.#fail(cause);
    while (this.#loop) await this.#loop;
    for (const sequence of [...this.#running, ...this.#waiting]) this.#end(sequence, { error });
    await this.#pool.close();
  }

  #wake(): void {
    if (this.#loop || this.#failure) return;
    const canAdmit = this.#waiting.length > 0 && !this.#isShort && !this.#isBlocked &&
      !this.#arriving;
    if (this.#running.length === 0 && !canAdmit && !this.#lock.isWanted) return;
    this.#loop = this.#run().finally(() => this.#rest());
  }

  #rest(): void {
    this.#loop = undefined;
    this.#wake();
  }

  async #run(): Promise<void> {
    /** The submit that runs, and whose tokens were not read yet. */
    let before: Submit | undefined;
    const finish = async (next?: Submit) => {
      const submit = before;
      before = next;
      if (submit) await this.#steps.finish(submit);
    };
    try {
      while (!this.#failure) {
        if (before) await this.#steps.approachEnd(before);
        const isObserved = this.#executor.isObserved || before?.keep !== undefined;
        if (this.#lock.isWanted || isObserved) await finish();
        await this.#lock.grantAll();
        this.#dropAborted();
        this.#admit();
        this.#tellWaiting();
        const isAwaited = this.#running.some((sequence) => this.#steps.awaitsToken(sequence));
        if (before && isAwaited) await finish();
        await this.#drafts.prepare(this.#running);
        // What follows is planned and recorded while the device works. Where reading blocks, that is
        // shortly before the device is done, and it goes out with the read.
        const submit = this.#steps.submit(() => this.#shares.order(this.#running));
        const isIdle = !submit && !before;
        await finish(submit);
        // Where submits block, its tokens are there: they wait for nobody who uses the thread.
        if (this.#executor.submitsBlock) await finish();
        // Without an evaluation, memory that was just freed is there in the next round.
        this.#isBlocked = this.#evaluations > 0 && this.load > 0 && isIdle;
        if (isIdle) return;
        // Whoever else uses the thread has a turn, in which the device works.
        await (this.#executor.submitsBlock ? nextTurn() : nextTask());
      }
    } catch (cause) {
      const error = this.#fail(cause);
      for (const sequence of [...this.#running, ...this.#waiting]) this.#end(sequence, { error });
    } finally {
      // The GPU may still be writing: its buffers must live until it is done.
      await before?.read().catch(() => {});
    }
  }

  /** Closes the model after its device failed, because its memory cannot be trusted. */
  #fail(cause: unknown): ModelClosedError {
    const message = cause instanceof Error ? cause.message : "Cannot go on: the model was closed";
    if (!this.#failure && cause instanceof GpuError) {
      this.#lost.resolve(this.#failure = new DeviceFailedError(cause));
    }
    this.#failure ??= new ModelClosedError(message, { cause });
    this.#lock.refuse(this.#failure);
    this.#freed.resolve();
    return this.#failure;
  }

  #dropAborted(): void {
    for (const sequence of [...this.#running, ...this.#waiting]) {
      if (sequence.isCancelled) this.#end(sequence, "aborted");
    }
  }

  #attempt(sequence: Sequence, action: (request: SequenceRequest) => void): void {
    sequence.attempt(action, (reason) => this.#end(sequence, reason));
  }

  /**
   * Admits waiting sequences: gives them a slot and blocks as long as the step has rows left for them.
   * The others wait, because running sequences may fill blocks of a common prefix in the meantime.
   * Whoever asks on its own behalf waits for its own sequences alone.
   */
  #admit(): void {
    this.#shares.update(this.#running, this.#waiting);
    while (!this.#isShort && !this.#arriving && this.#waiting.length > 0) {
      const sequence = this.#shares.order(this.#waiting).find((one) => !this.#isHeldBack(one));
      if (!sequence || this.#unfedOf(sequence) >= this.#chunkSize) return;
      if (sequence.underWay > 0 || this.#awaits(sequence)) return;
      if (!this.#pool.takeCached(sequence) && !this.#makeRoom(sequence)) return;
      this.#waiting = this.#waiting.filter((other) => other !== sequence);
      this.#running.push(sequence); // It is always in one of both lists, so that a failure ends it.
      this.#shares.admitted(sequence);
      this.#executor.assignSlot(sequence.memory.slot, sequence.request.sampling);
      if (!this.#begun.has(sequence)) {
        this.#begun.add(sequence);
        const { submitted, memory: { restored } } = sequence;
        this.#attempt(sequence, (request) => request.begin?.(submitted, restored));
      }
    }
  }

  /** The tokens that are not fed yet of the sequences that run on a sequence's behalf. */
  #unfedOf({ share: { id } }: Sequence): number {
    return this.#running.reduce(
      (sum, { share, unfed }) => share.id === id ? sum + unfed : sum,
      0,
    );
  }

  /** Preempts one of whoever has more than its share of the slots; whether that gave the sequence one. */
  #makeRoom(sequence: Sequence): boolean {
    if (this.#pool.freeSlots > 0) return false;
    const victim = this.#shares.victim(sequence, this.#running, this.#executor.limits.slots);
    if (!victim) return false;
    this.#setBack(victim);
    return this.#pool.takeCached(sequence);
  }

  /** Whether a sequence has to wait for blocks; the loop continues when they have arrived. */
  #awaits(sequence: Sequence): boolean {
    const arriving = this.#pool.prepare(sequence);
    if (!arriving) return false;
    this.#arriving = arriving.catch(() => {}).then(() => {
      this.#arriving = undefined;
      this.#wake();
    });
    return true;
  }

  /** Tells waiting sequences how many come before them: are read first, or have to free memory first. */
  #tellWaiting(): void {
    const reading = this.#running.filter(({ decoding }) => !decoding).length;
    const before = Math.max(reading, Math.min(1, this.#running.length));
    const now = performance.now();
    for (const [index, sequence] of this.#waiting.entries()) {
      const ahead = before + index;
      const told = this.#told.get(sequence);
      // The first in the queue is admitted at once, unless an evaluation holds the memory.
      const isNext = ahead === 0 && !this.#isShort && !this.#isBlocked;
      if (this.#begun.has(sequence) || sequence.ended || isNext || told?.ahead === ahead) continue;
      if (told && now < told.at + TELLING_INTERVAL) continue;
      this.#told.set(sequence, { ahead, at: now });
      this.#attempt(sequence, (request) => request.wait?.(ahead));
    }
  }

  /**
   * The youngest sequence, of those in the background first, then of those beside a main conversation,
   * gives up its blocks and waits to be prefilled again.
   */
  #preempt(): void {
    const behind = this.#running.findLastIndex(({ isBehind }) => isBehind);
    const beside = this.#running.findLastIndex((one) => one.besideSession !== undefined);
    this.#setBack(this.#running.at(behind < 0 ? beside : behind)!);
  }

  /** Takes a running sequence's memory, and has it prefilled again before others that wait. */
  #setBack(sequence: Sequence): void {
    this.#running = this.#running.filter((other) => other !== sequence);
    this.#release(sequence);
    this.#waiting.unshift(sequence);
  }

  #end(sequence: Sequence, reason: SequenceEnd): void {
    if (sequence.ended) return;
    sequence.end();
    this.#waiting = this.#waiting.filter((other) => other !== sequence);
    this.#running = this.#running.filter((other) => other !== sequence);
    this.#release(sequence);
    try {
      sequence.request.end(reason);
    } catch {
      // The request is over either way, and the other sequences go on.
    }
  }

  /** Gives back the memory of a sequence, whose full blocks the prefix cache may keep. */
  #release(sequence: Sequence): void {
    this.#drafts.release(sequence);
    this.#pool.publish(sequence);
    this.#pool.release(sequence);
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }
}
