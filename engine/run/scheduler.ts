// Runs sequences together (continuous batching, Yu et al. 2022): admits them to slots, feeds
// prompts in chunks beside sequences that decode, submits several tokens at a time and reads them
// while the next submit runs. Sequences whose tokens are restricted, or whose logits are wanted, take
// a token at a time: its mask is made while the GPU runs the step. When the KV cache is full, the
// youngest sequence steps back and is prefilled again later (Kwon et al. 2023). One loop, which ends
// when there is nothing to do.

import { NO_TOKEN } from "../../kernels/mod.ts";
import { nextTask, untilAborted } from "../async.ts";
import { cancellable, CancelledError } from "../cancellation.ts";
import { ModelClosedError, NotFiniteError, TapError } from "../errors.ts";
import { DeviceLock } from "./device_lock.ts";
import { evaluate, type Evaluation, type TakeTurn } from "./evaluation.ts";
import { PlanCache } from "./plan_cache.ts";
import { type Share, shareOut } from "./planner.ts";
import { Sequence, type SequenceEnd, type SequenceRequest } from "./sequence.ts";
import { SequencePool } from "./sequence_pool.ts";
import { MOST_REPEATS, type Sampled, type StepPlan } from "./step_plan.ts";
import type { StepExecutor } from "./step_executor.ts";

/** Tokens per submit are chosen so that a submit takes about this long: an abort waits for one. */
const SUBMIT_MILLISECONDS = 40;

/** Who waits is told at most so often how many come before it, in milliseconds. */
const TELLING_INTERVAL = 500;

interface Submit {
  shares: Share[];
  repeats: number;
  read: () => Promise<Sampled>;
  /** Of a step that is watched, which the device has not been given yet: remembers what it computes. */
  keep?: () => void;
}

/** A submit whose tokens are being read. */
interface UnderWay {
  submit: Submit;
  sampled: Promise<Sampled>;
}

/** All sequences of a model. */
export class Scheduler {
  readonly #executor: StepExecutor;
  readonly #pool: SequencePool;
  readonly #plans: PlanCache;
  readonly #chunk: number;
  #waiting: Sequence[] = [];
  /** In order of admission. */
  #running: Sequence[] = [];
  #loop: Promise<void> | undefined;
  /** Evaluations that run or wait. */
  #evaluations = 0;
  /** Settles when the last of the evaluations is over: they run one after the other. */
  #evaluated = Promise.resolve();
  /** Whether an evaluation waits for memory, so that nothing new gets any. */
  #isShort = false;
  /** Whether an evaluation has what the next sequence would need, so that the loop would go around idly. */
  #isBlocked = false;
  /** Settles when a sequence gives memory back. */
  #freed = Promise.withResolvers<void>();
  /** Of work between two steps. */
  readonly #lock = new DeviceLock();
  #failure: ModelClosedError | undefined;
  #stepMilliseconds = Infinity;

  /** @param chunk most prompt tokens per step */
  constructor(executor: StepExecutor, cacheBlocks: number, chunk: number) {
    this.#executor = executor;
    this.#pool = new SequencePool(executor, cacheBlocks);
    this.#plans = new PlanCache(executor.tileRows);
    this.#chunk = chunk;
  }

  /** Sequences that run or wait. */
  get load(): number {
    return this.#running.length + this.#waiting.length;
  }

  /** Queues a sequence. Its `end` is called whatever happens. */
  add(request: SequenceRequest): Sequence {
    if (this.#failure) throw this.#failure;
    const sequence = new Sequence(request);
    this.#waiting.push(sequence);
    // The step that runs now may take long: who cannot be next is told before it ends.
    const isReading = this.#running.some(({ decoding }) => !decoding);
    if (isReading || this.#waiting.length > 1 || this.#isShort || this.#isBlocked) {
      this.#tellWaiting();
    }
    this.#wake();
    return sequence;
  }

  /** Most rows and sequences of a step of an evaluation. */
  get evaluationRoom(): { rows: number; sequences: number } {
    const { rows, outputs, slots } = this.#executor.limits;
    return { rows: Math.min(rows, outputs), sequences: slots };
  }

  /**
   * Evaluates fresh sequences, whose rows share steps, between the steps of others. Errors: RangeError
   * where they fit nowhere; ModelClosedError; the signal's reason.
   */
  async evaluate(evaluation: Evaluation): Promise<Float32Array[]> {
    const { signal } = evaluation;
    const before = this.#evaluated;
    const ended = Promise.withResolvers<void>();
    this.#evaluated = before.then(() => ended.promise);
    this.#evaluations++;
    try {
      await untilAborted(before, signal);
      const takeTurn: TakeTurn = (part) => this.#takeTurn(part, signal);
      return await evaluate(this.#executor, this.#pool, evaluation, takeTurn);
    } finally {
      ended.resolve();
      this.#evaluations--;
      this.#isBlocked = false;
      this.#wake();
    }
  }

  async #takeTurn(part: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
    const attempt = async () => {
      const isDone = await part();
      this.#isShort = !isDone;
      if (isDone || this.#running.length > 0) return isDone;
      throw new RangeError("Cannot evaluate: a sequence fits nowhere");
    };
    try {
      for (;;) {
        const { promise: freed } = this.#freed;
        await nextTask(); // The driver may be done at once each time: an abort has to be heard.
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

  /** Ends every sequence with ModelClosedError, and refuses new ones. */
  async close(cause?: unknown): Promise<void> {
    const error = this.#fail(cause);
    while (this.#loop) await this.#loop;
    for (const sequence of [...this.#running, ...this.#waiting]) this.#end(sequence, { error });
  }

  #wake(): void {
    if (this.#loop || this.#failure) return;
    const canAdmit = this.#waiting.length > 0 && !this.#isShort && !this.#isBlocked;
    if (this.#running.length === 0 && !canAdmit && !this.#lock.isWanted) return;
    this.#loop = this.#run().finally(() => this.#rest());
  }

  #rest(): void {
    this.#loop = undefined;
    this.#wake();
  }

  async #run(): Promise<void> {
    let before: UnderWay | undefined;
    try {
      while (!this.#failure) {
        if (before && (this.#lock.isWanted || this.#executor.isObserved)) {
          await this.#finish(before);
          before = undefined;
        }
        await this.#lock.lend();
        const started = performance.now(); // The time of others is no step's.
        this.#dropAborted();
        this.#admit();
        this.#tellWaiting();
        if (before && this.#running.some(({ awaitsToken }) => awaitsToken)) {
          await this.#finish(before);
          before = undefined;
        }
        const submit = this.#submit();
        if (before) await this.#finish(before);
        // Without an evaluation, what has just been given back is there for the next time around.
        this.#isBlocked = this.#evaluations > 0 && this.load > 0 && !submit && !before;
        if (!submit && !before) return;
        // Reading begins only now: in Deno the call blocks until this submit is done, and its tail
        // (a sleep) then overlaps the next one.
        before = submit && { submit, sampled: submit.read() };
        if (submit) this.#stepMilliseconds = (performance.now() - started) / submit.repeats;
      }
    } catch (cause) {
      const error = this.#fail(cause);
      for (const sequence of [...this.#running, ...this.#waiting]) this.#end(sequence, { error });
    } finally {
      // The GPU may still write what nobody waits for; its buffers must outlive that.
      await before?.sampled.catch(() => {});
    }
  }

  /** A model whose GPU failed is as good as closed: what it holds there is not to be trusted. */
  #fail(cause: unknown): ModelClosedError {
    const message = cause instanceof Error ? cause.message : "Cannot go on: the model was closed";
    this.#failure ??= new ModelClosedError(message, { cause });
    this.#lock.refuse(this.#failure);
    this.#freed.resolve();
    return this.#failure;
  }

  #dropAborted(): void {
    for (const sequence of [...this.#running, ...this.#waiting]) {
      if (isCalledOff(sequence)) this.#end(sequence, "aborted");
    }
  }

  /** What a request does for its sequence. Where it fails, that ends this sequence alone. */
  #attempt<T>(sequence: Sequence, action: (request: SequenceRequest) => T): T | undefined {
    const { request } = sequence;
    try {
      return cancellable(request.flags ?? [], () => action(request));
    } catch (error) {
      this.#end(sequence, error instanceof CancelledError ? "aborted" : { error });
      return undefined;
    }
  }

  /** None is admitted before there are rows for it: what others feed until then, it need not. */
  #admit(): void {
    let unfed = this.#running.reduce((sum, sequence) => sum + sequence.unfed, 0);
    while (!this.#isShort && this.#waiting.length > 0 && unfed < this.#chunk) {
      const [sequence] = this.#waiting;
      if (sequence.underWay > 0 || !this.#pool.takeCached(sequence)) return;
      this.#waiting.shift();
      this.#running.push(sequence); // In either list at all times: whatever fails ends it.
      this.#executor.assignSlot(sequence.slot, sequence.request.sampling);
      unfed += sequence.unfed;
      if (!sequence.begun) {
        sequence.begun = true;
        this.#attempt(sequence, (request) => request.begin?.(sequence.submitted));
      }
    }
  }

  /** Tells those that have not begun how many are read before them, or have to make room for them. */
  #tellWaiting(): void {
    const reading = this.#running.filter(({ decoding }) => !decoding).length;
    const before = Math.max(reading, Math.min(1, this.#running.length));
    const now = performance.now();
    for (const [index, sequence] of this.#waiting.entries()) {
      const ahead = before + index;
      const { begun, ended, told } = sequence;
      // The first of all begins at once, where no evaluation has what it needs.
      const isNext = ahead === 0 && !this.#isShort && !this.#isBlocked;
      if (begun || ended || isNext || told?.ahead === ahead) continue;
      if (told && now < told.at + TELLING_INTERVAL) continue;
      sequence.told = { ahead, at: now };
      this.#attempt(sequence, (request) => request.wait?.(ahead));
    }
  }

  /** Plans and submits the next step or steps; undefined where nothing can be done now. */
  #submit(): Submit | undefined {
    for (;;) {
      const ready = this.#running.filter((sequence) =>
        !sequence.decoding || this.#samplesLeft(sequence) > 0
      );
      const { limits: { rows: most, outputs }, wholeImages } = this.#executor;
      const rows = Math.min(most, this.#chunk + ready.length);
      const drafts = outputs - ready.length;
      const stop = (sequence: Sequence) => this.#pool.stop(sequence);
      const draft = (sequence: Sequence, room: number) => this.#draft(sequence, room);
      const shares = shareOut(ready, { rows, most, wholeImages, stop, drafts, draft });
      if (shares.length === 0) return undefined;
      for (const share of shares) this.#checkDraft(share);
      const repeats = this.#repeats(shares);
      const short = shares.find(({ sequence, count }) =>
        !this.#pool.grow(sequence, sequence.submitted + count * repeats)
      );
      if (short) {
        this.#preempt();
        continue;
      }
      return this.#launch(shares, repeats);
    }
  }

  /** Guesses at what follows a sequence, where the host knows all that it has. */
  #draft(sequence: Sequence, room: number): readonly number[] {
    if (sequence.underWay > 0 || this.#executor.isObserved) return [];
    const { submitted } = sequence;
    const left = sequence.limit(this.#executor.limits.context) - sequence.tokens.length - 1;
    // The step that ends where states are kept has to be right.
    const before = this.#pool.stop(sequence) - submitted - 2;
    return sequence.draft(Math.min(room, left, before));
  }

  /** Leaves a draft out for which there is no memory: it is not worth anybody's place. */
  #checkDraft(share: Share): void {
    const { sequence, count, draft } = share;
    if (draft.length === 0) return;
    const hasRoom = this.#pool.grow(sequence, sequence.submitted + count);
    if (hasRoom && this.#pool.beginDraft(sequence)) return;
    share.draft = [];
    share.count = 1;
  }

  #launch(shares: Share[], repeats: number): Submit {
    const plan = this.#plans.layOut(shares);
    plan.shape.decodeContext += repeats - 1;
    const isStepwise = shares.some(({ sequence, output }) => output && sequence.isStepwise);
    const isUnwanted = () => shares.every(({ sequence }) => isCalledOff(sequence));
    const { isObserved, isTapped } = this.#executor;
    const keeps: (() => void)[] = [];
    const read = isStepwise
      ? this.#submitStep(plan, shares, isUnwanted)
      : this.#executor.submit(plan, repeats, isUnwanted);
    for (const { sequence, count, output } of shares) {
      sequence.underWay++;
      sequence.wasTapped ||= isTapped;
      // Its mask could not be made, or its step was left out.
      if (sequence.ended || isCalledOff(sequence)) continue;
      const stop = this.#pool.stop(sequence);
      sequence.submitted += count * repeats;
      if (output) sequence.decoding = true;
      const { submitted } = sequence;
      keeps.push(() => {
        if (sequence.slot < 0) return;
        if (submitted === stop && !sequence.isDrafting) this.#pool.checkpoint(sequence);
        this.#pool.publish(sequence);
      });
    }
    const keep = () => keeps.forEach((keepOne) => keepOne());
    if (isObserved) return { shares, repeats, read, keep };
    keep();
    return { shares, repeats, read };
  }

  /** Masks are made while the GPU runs the step, and others are heard before its tokens are read. */
  #submitStep(
    plan: StepPlan,
    shares: Share[],
    isUnwanted: () => boolean,
  ): () => Promise<Sampled> {
    this.#executor.forward(plan);
    const masks = new Map<number, Uint32Array<ArrayBuffer>>();
    const wanted = new Set<number>();
    for (const { sequence, output } of shares) {
      if (!output) continue;
      const { constraint, wantsLogits } = sequence.request;
      if (wantsLogits) wanted.add(sequence.slot);
      const remaining = sequence.limit(this.#executor.limits.context) - sequence.tokens.length;
      const mask = constraint && this.#attempt(sequence, () => constraint.mask(remaining));
      if (mask) masks.set(sequence.slot, mask);
    }
    const read = this.#executor.sample(plan, masks, wanted, isUnwanted);
    return async () => {
      await nextTask();
      return await read();
    };
  }

  #samplesLeft(sequence: Sequence): number {
    return sequence.limit(this.#executor.limits.context) - (sequence.submitted + 1);
  }

  /** Tokens per submit: one while anything prefills, else as many as the time allows. */
  #repeats(shares: Share[]): number {
    const isFree = ({ sequence, draft }: Share) =>
      sequence.decoding && !sequence.isStepwise && draft.length === 0;
    if (!shares.every(isFree)) return 1;
    const wanted = Math.floor(SUBMIT_MILLISECONDS / this.#stepMilliseconds);
    const left = shares.map(({ sequence }) =>
      Math.min(this.#samplesLeft(sequence), this.#pool.stop(sequence) - sequence.submitted)
    );
    return Math.max(1, Math.min(MOST_REPEATS, wanted, ...left));
  }

  /** The youngest sequence gives up its blocks and waits to be prefilled again. */
  #preempt(): void {
    const sequence = this.#running.pop()!;
    this.#release(sequence);
    this.#waiting.unshift(sequence);
  }

  /** Collects a submit once it is done. Where a tap failed, that ends the submit's sequences alone. */
  async #finish({ submit, sampled }: UnderWay): Promise<void> {
    let tokens: Sampled;
    try {
      tokens = await sampled;
    } catch (error) {
      if (!(error instanceof TapError)) throw error;
      for (const { sequence } of submit.shares) {
        sequence.underWay--;
        this.#end(sequence, { error });
      }
      return;
    }
    submit.keep?.();
    this.#collect(submit, tokens);
  }

  #collect({ shares, repeats }: Submit, { tokens, logits }: Sampled): void {
    const givers = shares.filter(({ output }) => output);
    for (const { sequence } of shares) sequence.underWay--;
    let output = 0;
    for (let i = 0; i < repeats; i++) {
      for (const { sequence, draft } of givers) {
        const given = tokens.subarray(output, output += 1 + draft.length);
        if (draft.length > 0) this.#verify(sequence, draft, given);
        else this.#take(sequence, given[0], logits.get(sequence.slot));
        this.#takeForced(sequence);
      }
    }
  }

  /**
   * Takes the tokens of a draft's rows as far as the draft was right, and the one after. Each was
   * chosen as it would have been without a draft: from the same logits, for the same position.
   */
  #verify(sequence: Sequence, draft: readonly number[], given: Uint32Array): void {
    if (sequence.ended) return;
    let accepted = 0;
    sequence.submitted = sequence.tokens.length; // What is right of the draft counts from here on.
    for (const token of given) {
      this.#take(sequence, token);
      if (sequence.ended || token !== draft[accepted]) break;
      accepted++;
      sequence.submitted++;
    }
    sequence.drafted += draft.length;
    sequence.draftsAccepted += accepted;
    if (sequence.ended) return;
    sequence.lookup.learn(sequence.tokens, draft.length, accepted);
    this.#pool.endDraft(sequence, accepted === draft.length);
  }

  #take(sequence: Sequence, token: number, logits?: Float32Array): void {
    if (sequence.ended || isCalledOff(sequence)) return;
    if (token === NO_TOKEN) return this.#end(sequence, { error: new NotFiniteError("logits") });
    sequence.tokens.push(token);
    const goesOn = this.#attempt(sequence, (request) => request.accept(token, logits));
    if (goesOn === false) this.#end(sequence, "stop");
    else if (sequence.tokens.length >= sequence.limit(this.#executor.limits.context)) {
      this.#end(sequence, "length");
    }
  }

  /**
   * What can only come is fed as a prompt is, beside the token that has just been sampled. Where its
   * logits are wanted, it is sampled like any other.
   */
  #takeForced(sequence: Sequence): void {
    const { constraint, wantsLogits } = sequence.request;
    if (!constraint || wantsLogits || sequence.ended) return;
    const most = sequence.limit(this.#executor.limits.context) - sequence.tokens.length;
    for (const token of this.#attempt(sequence, () => constraint.forced(most)) ?? []) {
      this.#take(sequence, token);
      sequence.decoding = false;
    }
  }

  #end(sequence: Sequence, reason: SequenceEnd): void {
    if (sequence.ended) return;
    sequence.ended = true;
    this.#waiting = this.#waiting.filter((other) => other !== sequence);
    this.#running = this.#running.filter((other) => other !== sequence);
    this.#release(sequence);
    try {
      sequence.request.end(reason);
    } catch {
      // There is nobody else to tell, and the others have to go on.
    }
  }

  /** Tokens that came after the last launch may have filled blocks. */
  #release(sequence: Sequence): void {
    this.#pool.publish(sequence);
    this.#pool.release(sequence);
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }
}

/** Whether nobody wants a sequence any more; its flags are set by other threads, at any time. */
function isCalledOff({ aborted, request: { flags = [] } }: Sequence): boolean {
  return aborted || flags.some(({ isSet }) => isSet);
}
