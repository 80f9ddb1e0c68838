// Runs sequences together (continuous batching, Yu et al. 2022): admits them to slots, feeds
// prompts in chunks beside sequences that decode, and reads the tokens of a step while the next one
// runs. When the KV cache is full, the youngest sequence is preempted and prefilled again later (Kwon
// et al. 2023). One loop, which ends when there is nothing to do.

import { nextTask, untilAborted } from "../async.ts";
import { ModelClosedError } from "../errors.ts";
import { DeviceLock } from "./device_lock.ts";
import { evaluate, type Evaluation, type TakeTurn } from "./evaluation.ts";
import { PromptPace } from "./prompt_pace.ts";
import { Sequence, type SequenceEnd, type SequenceRequest } from "./sequence.ts";
import { SequencePool } from "./sequence_pool.ts";
import type { StepExecutor } from "./step_executor.ts";
import { Steps, type UnderWay } from "./steps.ts";

/** Who waits is told at most so often how many come before it, in milliseconds. */
const TELLING_INTERVAL = 500;

/** All sequences of a model. */
export class Scheduler {
  readonly #executor: StepExecutor;
  readonly #pool: SequencePool;
  readonly #steps: Steps;
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

  /** @param chunk most prompt tokens per step */
  constructor(
    executor: StepExecutor,
    cacheBlocks: number,
    chunk: number,
    pace: PromptPace = new PromptPace(),
  ) {
    this.#executor = executor;
    this.#pool = new SequencePool(executor, cacheBlocks);
    this.#chunk = chunk;
    this.#steps = new Steps(executor, this.#pool, chunk, {
      preempt: () => this.#preempt(),
      end: (sequence, reason) => this.#end(sequence, reason),
    }, pace);
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
          await this.#steps.finish(before);
          before = undefined;
        }
        await this.#lock.lend();
        const started = performance.now(); // The time of others is no step's.
        this.#dropAborted();
        this.#admit();
        this.#tellWaiting();
        if (before && this.#running.some(({ awaitsToken }) => awaitsToken)) {
          await this.#steps.finish(before);
          before = undefined;
        }
        if (!before) this.#steps.begin();
        const submit = this.#steps.submit(() => this.#running);
        if (before) await this.#steps.finish(before);
        // Without an evaluation, what has just been given back is there for the next time around.
        this.#isBlocked = this.#evaluations > 0 && this.load > 0 && !submit && !before;
        if (!submit && !before) return;
        // Reading begins only now: in Deno the call blocks until this submit is done, and its tail
        // (a sleep) then overlaps the next one.
        before = submit && { submit, sampled: submit.read() };
        if (submit) this.#steps.measure(submit, performance.now() - started);
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
      if (sequence.isCalledOff) this.#end(sequence, "aborted");
    }
  }

  #attempt(sequence: Sequence, action: (request: SequenceRequest) => void): void {
    sequence.attempt(action, (reason) => this.#end(sequence, reason));
  }

  /**
   * Gives waiting sequences a slot and blocks while a step has rows left for them. Later would do
   * for the others: by then, running sequences may have filled blocks that they can begin with.
   */
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

  /** The youngest sequence gives up its blocks and waits to be prefilled again. */
  #preempt(): void {
    const sequence = this.#running.pop()!;
    this.#release(sequence);
    this.#waiting.unshift(sequence);
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
