// The steps of running sequences: plans them, submits them and hands out their tokens. Sequences that
// decode freely get several tokens per submit. Those with a constraint, or whose logits are wanted, get
// one: its mask is made while the device runs the step. Which sequences run is decided in scheduler.ts,
// what is drafted in drafts.ts.

import { NO_TOKEN } from "../../kernels/mod.ts";
import { NotFiniteError, TapError } from "../errors.ts";
import type { Drafts } from "./drafts.ts";
import { MOST_REPEATS, type Sampled, type StepPlan } from "./step_plan.ts";
import { PlanCache } from "./plan_cache.ts";
import type { PacedStep, PromptPace } from "./prompt_pace.ts";
import { chooseChunks, type Chunk } from "./planner.ts";
import type { Sequence, SequenceEnd, SequenceRequest, TokenConstraint } from "./sequence.ts";
import type { SequencePool } from "./sequence_pool.ts";
import type { StepExecutor } from "./step_executor.ts";
import { type SubmitAlarm, type TimedSubmit } from "./submit_alarm.ts";

/** Tokens per submit are chosen so that a submit takes about this long: an abort waits for one. */
const SUBMIT_MILLISECONDS = 40;

/** A step that was submitted, once or several times over. */
export interface Submit {
  chunks: Chunk[];
  plan: StepPlan;
  repeats: number;
  /** When it was made. */
  began: number;
  /** How long that took: as long as the device computed, if it is the host's thread that computes. */
  milliseconds: number;
  /** When the device computed it, as far as the host can tell; once it was read. */
  computed?: { began: number; ended: number };
  read: () => Promise<Sampled>;
  /** Of an observed step, which only runs when it is read: puts its blocks into the prefix cache. */
  keep?: () => void;
}

/** The owner of the sequences. */
export interface StepsOwner {
  /** Preempts a running sequence, because another one needs memory to go on. */
  preempt(): void;
  end(sequence: Sequence, reason: SequenceEnd): void;
}

/** What the steps of a model need. */
export interface StepsOptions {
  readonly executor: StepExecutor;
  readonly pool: SequencePool;
  /** Most prompt tokens per step. */
  readonly chunkSize: number;
  readonly owner: StepsOwner;
  readonly pace: PromptPace;
  readonly drafts: Drafts;
  readonly alarm: SubmitAlarm;
  /** In milliseconds. */
  readonly clock: () => number;
}

/** The steps of a model. */
export class Steps {
  readonly #executor: StepExecutor;
  readonly #pool: SequencePool;
  readonly #plans: PlanCache;
  readonly #chunkSize: number;
  readonly #owner: StepsOwner;
  readonly #pace: PromptPace;
  #stepMilliseconds = Infinity;
  /** Most tokens of the next submit; set with the submit before, when the next one is recorded. */
  #tokensPerSubmit = 1;
  readonly #drafts: Drafts;
  readonly #alarm: SubmitAlarm;
  readonly #clock: () => number;
  /** When the last submit ended. */
  #ended = 0;
  /** When the device had computed it. */
  #computed = 0;

  constructor({ executor, pool, chunkSize, owner, pace, drafts, alarm, clock }: StepsOptions) {
    this.#executor = executor;
    this.#pool = pool;
    this.#plans = new PlanCache(executor.tileRows);
    this.#chunkSize = chunkSize;
    this.#owner = owner;
    this.#pace = pace;
    this.#drafts = drafts;
    this.#alarm = alarm;
    this.#clock = clock;
  }

  /** Whether the host has to read the next token of a sequence before another step can be made. */
  awaitsToken(sequence: Sequence): boolean {
    const { decoding, underWay, isSteered } = sequence;
    if (!decoding || underWay === 0) return false;
    return isSteered || this.#drafts.awaitsToken(sequence);
  }

  /** Plans and submits the next step, once or repeatedly; undefined where no sequence can run now. */
  submit(running: () => readonly Sequence[]): Submit | undefined {
    for (const sequence of running()) this.#steer(sequence);
    for (;;) {
      const ready = running().filter((sequence) =>
        !sequence.decoding || this.#samplesLeft(sequence) > 0
      );
      const { limits: { rows: most, outputs }, bidirectionalImages } = this.#executor;
      const isAwaited = ready.length > 1 &&
        ready.some(({ decoding, generated }) => decoding || generated > 0);
      const readers = ready.filter(({ isAtEnd }) => !isAtEnd);
      const context = furthest(readers);
      const chunkSize = isAwaited
        ? this.#pace.rowsBeside({ rows: this.#chunkSize, context }, this.#idleSince(ready))
        : this.#chunkSize;
      const ending = ready.filter(({ isAtEnd }) => isAtEnd).length;
      const rows = Math.min(most, chunkSize + ending);
      // Prompts have their part of the rows, however much is drafted.
      const drafts = Math.min(outputs - ready.length, readers.length > 0 ? chunkSize >> 1 : most);
      const stop = (sequence: Sequence) => this.#pool.stop(sequence);
      const wanting = ready.filter(({ request }) => request.wantsLogits).length;
      const draft = (sequence: Sequence, most: number) => this.#drafts.of(sequence, most, wanting);
      const chunks = chooseChunks(ready, { rows, most, bidirectionalImages, stop, drafts, draft });
      if (chunks.length === 0) return undefined;
      // A sequence whose constraint failed during its draft has ended, and has no memory any more.
      if (chunks.some(({ sequence }) => sequence.ended)) continue;
      for (const chunk of chunks) this.#drafts.reserve(chunk);
      const repeats = this.#repeats(chunks);
      const short = chunks.find(({ sequence, count }) =>
        !this.#pool.grow(sequence, sequence.submitted + count * repeats)
      );
      if (short) {
        this.#owner.preempt();
        continue;
      }
      return this.#launch(chunks, repeats);
    }
  }

  /** Milliseconds since the last submit was read, unless the device works on another one. */
  #idleSince(sequences: readonly Sequence[]): number {
    const isBusy = sequences.some(({ underWay }) => underWay > 0);
    return isBusy ? 0 : this.#clock() - this.#ended;
  }

  #launch(chunks: Chunk[], repeats: number): Submit {
    const began = this.#clock();
    const plan = this.#plans.layOut(chunks);
    plan.shape.decodeContext += repeats - 1;
    for (const { sequence, output } of chunks) {
      const { tokens, memory: { slot }, request: { biases } } = sequence;
      if (!output || !biases) continue;
      this.#attempt(sequence, () => this.#executor.writeBiases(slot, biases.after(tokens)));
    }
    const isStepwise = chunks.some(({ sequence, output }) => output && sequence.isStepwise);
    const isUnwanted = () => chunks.every(({ sequence }) => sequence.isCancelled);
    const { isObserved, isTapped } = this.#executor;
    const keeps: (() => void)[] = [];
    const fitting = Math.floor(SUBMIT_MILLISECONDS / this.#stepMilliseconds);
    this.#tokensPerSubmit = Math.max(1, Math.min(MOST_REPEATS, fitting));
    const read = isStepwise
      ? this.#submitStep(plan, chunks, isUnwanted)
      : this.#executor.submit(plan, repeats, isUnwanted);
    const milliseconds = this.#clock() - began;
    for (const chunk of chunks) {
      const { sequence, count, output } = chunk;
      chunk.end = sequence.submitted + count;
      sequence.beginSubmit();
      if (isTapped) sequence.keepPrivate();
      // Its mask could not be made, or it was cancelled.
      if (sequence.ended || sequence.isCancelled) continue;
      const stop = this.#pool.stop(sequence);
      sequence.advance(count * repeats);
      if (output) sequence.decode();
      const { submitted } = sequence;
      keeps.push(() => {
        const { slot, isDrafting } = sequence.memory;
        if (slot < 0) return;
        if (submitted === stop && !isDrafting) this.#pool.checkpoint(sequence);
        this.#pool.publish(sequence);
      });
    }
    const keep = () => keeps.forEach((keepOne) => keepOne());
    if (isObserved) return { chunks, plan, repeats, began, milliseconds, read, keep };
    keep();
    return { chunks, plan, repeats, began, milliseconds, read };
  }

  /** Submits a step whose masks are made while the GPU runs it. */
  #submitStep(
    plan: StepPlan,
    chunks: Chunk[],
    isUnwanted: () => boolean,
  ): () => Promise<Sampled> {
    this.#executor.forward(plan);
    const masks = new Map<number, Uint32Array<ArrayBuffer>>();
    const wanted = new Set<number>();
    let first = 0;
    for (const chunk of chunks) {
      const { sequence, output, draft } = chunk;
      if (!output) continue;
      const { constraint, wantsLogits } = sequence.request;
      if (wantsLogits) draft.concat(0).forEach((_, i) => wanted.add(first + i));
      const made = constraint && this.#attempt(sequence, () => this.#masksOf(constraint, chunk));
      made?.forEach((mask, i) => masks.set(first + i, mask));
      first += 1 + draft.length;
    }
    return this.#executor.sample(plan, masks, wanted, isUnwanted);
  }

  /** The masks for the token after a sequence, and for those after each token of its draft. */
  #masksOf(constraint: TokenConstraint, chunk: Chunk): Uint32Array<ArrayBuffer>[] {
    const { draft } = chunk;
    const masks = [constraint.mask()];
    if (draft.length === 0) return masks;
    masks[0] = masks[0].slice(); // It is valid until the next one is made.
    const fork = constraint.fork!();
    for (const token of draft) {
      const mask = fork.accept(token) ? fork.mask() : [];
      if (mask.length === 0) break; // Its budget of work was used up.
      masks.push(mask.slice() as typeof masks[0]);
    }
    chunk.reliable = masks.length;
    return masks;
  }

  #samplesLeft(sequence: Sequence): number {
    return sequence.freeLimit(this.#executor.limits.context) - (sequence.submitted + 1);
  }

  /** Tokens per submit: one if a sequence prefills, else as many as the time allows. */
  #repeats(chunks: Chunk[]): number {
    const isFree = ({ sequence, draft }: Chunk) =>
      sequence.decoding && !sequence.isStepwise && draft.length === 0;
    if (!chunks.every(isFree)) return 1;
    const left = chunks.map(({ sequence }) =>
      Math.min(this.#samplesLeft(sequence), this.#pool.stop(sequence) - sequence.submitted)
    );
    return Math.max(1, Math.min(this.#tokensPerSubmit, ...left));
  }

  /** Prepares for the end of the submit that runs. Where reading blocks, it first sleeps until shortly before. */
  async approachEnd(submit: Submit): Promise<void> {
    if (this.#executor.readsBlock) await this.#alarm.sleep(this.#timed(submit));
    this.#executor.prepareNext();
  }

  #timed({ chunks, repeats, began, keep }: Submit): TimedSubmit {
    const isSteady = !keep && chunks.every(({ count, draft }) => count === 1 && draft.length === 0);
    return {
      sequences: isSteady ? chunks.length : undefined,
      repeats,
      // Where reading blocks, a submit is held back until the one before has ended.
      began: Math.max(began, this.#ended),
    };
  }

  /** Notes the time of a submit, from which the number of tokens of the next ones follows. */
  #measure(submit: Submit, asked: number): void {
    const { repeats, chunks, milliseconds: submitting } = submit;
    const timed = this.#timed(submit);
    this.#ended = this.#clock();
    const reading = this.#ended - asked;
    const began = Math.max(submit.began, this.#computed);
    // A device that computes as it is submitted to may have been done before the one before was read.
    const ended = submitting > reading ? submit.began + submitting : this.#ended;
    submit.computed = { began, ended: Math.max(began, ended) };
    this.#computed = submit.computed.ended;
    this.#alarm.ended(timed, reading);
    if (chunks.some(({ draft }) => draft.length > 0)) return;
    const { readsBlock } = this.#executor;
    // Elsewhere, either of both waits for the device.
    const milliseconds = readsBlock ? this.#ended - timed.began : Math.max(submitting, reading);
    // A submit that was held up by something else at most halves the number.
    this.#stepMilliseconds = Math.min(milliseconds / repeats, 2 * this.#stepMilliseconds);
  }

  /** Waits for a submit and takes its tokens. If a tap failed, only the submit's sequences end. */
  async finish(submit: Submit): Promise<void> {
    let tokens: Sampled;
    try {
      const asked = this.#clock();
      tokens = await submit.read();
      this.#measure(submit, asked);
    } catch (error) {
      if (!(error instanceof TapError)) throw error;
      for (const { sequence } of submit.chunks) {
        sequence.endSubmit();
        this.#owner.end(sequence, { error });
      }
      return;
    }
    const { chunks, repeats, began } = submit;
    if (chunks.some(isDecoded)) {
      const { began, ended } = submit.computed!;
      this.#pace.measured(addedPart(chunks), (ended - began) / repeats);
    }
    if (chunks.every(isDecoded)) this.#drafts.measure(chunks, repeats, began, this.#ended);
    submit.keep?.();
    await this.#collect(submit, tokens);
  }

  /** Tells a sequence of a step that it took part in. */
  #tellOf({ chunks, repeats, computed }: Submit, { sequence, count }: Chunk): void {
    if (sequence.ended || !sequence.request.stepped) return;
    const prefill = sequence.generated === 0;
    const step = { ...computed!, prefill, steps: repeats, tokens: count * repeats };
    this.#attempt(sequence, ({ stepped }) => stepped!({ ...step, sequences: chunks.length }));
  }

  async #collect(submit: Submit, sampled: Sampled): Promise<void> {
    const { chunks, plan, repeats } = submit;
    const { logits } = sampled;
    const givers = chunks.filter(({ output }) => output);
    const tokens = await this.#process(givers, plan, sampled);
    for (const chunk of chunks) {
      const { sequence, end = 0 } = chunk;
      sequence.endSubmit();
      this.#tellOf(submit, chunk);
      // A sequence that was preempted reads its answer again, which is no part of its prompt.
      if (sequence.ended || sequence.generated > 0 || !sequence.request.progress) continue;
      this.#attempt(sequence, (request) => request.progress!(Math.min(end, sequence.promptLength)));
    }
    let output = 0;
    for (let i = 0; i < repeats; i++) {
      for (const chunk of givers) {
        const { sequence, draft } = chunk;
        const takeOutput = async (at: number) => {
          const isHosts = sequence.request.choose !== undefined && tokens[at] !== NO_TOKEN;
          const own = logits.get(at);
          const first = isHosts ? await this.#choose(sequence, tokens[at], own!) : tokens[at];
          const other = this.#maskInstead(sequence, first);
          const again = async (mask: Uint32Array<ArrayBuffer>) =>
            isHosts
              ? await this.#choose(sequence, tokens[at], own!, mask)
              : (await this.#executor.resample(plan, { masks: new Map([[at, mask]]) }))[at];
          this.#take(sequence, other ? await again(other) : first, own);
          if (isHosts) sequence.feedFrom(sequence.submitted);
          this.#takeForced(sequence);
        };
        if (draft.length > 0) await this.#drafts.verify(chunk, output, takeOutput);
        else await takeOutput(output);
        output += 1 + draft.length;
      }
    }
    if (sampled.states) this.#drafts.observe(chunks, repeats, sampled.states);
  }

  /** The tokens of a step, chosen again where sequences give other logits; those have no drafts. */
  async #process(
    givers: readonly Chunk[],
    plan: StepPlan,
    { tokens, logits }: Sampled,
  ): Promise<Uint32Array> {
    let output = 0;
    const rows = new Map<number, Float32Array>();
    await Promise.all(givers.map(async ({ sequence, draft }) => {
      const at = output;
      output += 1 + draft.length;
      const own = logits.get(at);
      if (!sequence.request.process || !own || tokens[at] === NO_TOKEN) return;
      if (sequence.ended || sequence.isCancelled) return;
      const row = await sequence.attemptAsync(
        ({ process, constraint }) => process!(sequence.tokens, own, constraint?.mask()),
        (reason) => this.#owner.end(sequence, reason),
      );
      if (row) rows.set(at, row);
    }));
    return rows.size > 0 ? await this.#executor.resample(plan, { logits: rows }) : tokens;
  }

  /**
   * The choice of a sequence's token on the host; NO_TOKEN if the sequence is over.
   * @param mask missing: that of its constraint
   */
  async #choose(
    sequence: Sequence,
    drawn: number,
    logits: Float32Array,
    mask?: Uint32Array,
  ): Promise<number> {
    if (sequence.ended || sequence.isCancelled) return NO_TOKEN;
    const token = await sequence.attemptAsync(
      ({ choose, constraint }) =>
        choose!(drawn, sequence.tokens, logits, mask ?? constraint?.mask()),
      (reason) => this.#owner.end(sequence, reason),
    );
    return token ?? NO_TOKEN;
  }

  /**
   * The mask under which the token of a sequence is chosen again; undefined if it may stay. A
   * constraint is awaited before the next submit, so the logits of its step are still there.
   */
  #maskInstead(sequence: Sequence, token: number): Uint32Array<ArrayBuffer> | undefined {
    const { constraint } = sequence.request;
    if (!constraint?.instead || sequence.ended || token === NO_TOKEN) return undefined;
    const remaining = this.#remaining(sequence);
    return this.#attempt(sequence, () => constraint.instead!(token, remaining));
  }

  /** Tokens that may still come. */
  #remaining(sequence: Sequence): number {
    return sequence.limit(this.#executor.limits.context) - sequence.tokens.length;
  }

  #take(sequence: Sequence, token: number, logits?: Float32Array): void {
    if (sequence.ended || sequence.isCancelled) return;
    if (token === NO_TOKEN) {
      return this.#owner.end(sequence, { error: new NotFiniteError("logits") });
    }
    sequence.append(token);
    const goesOn = this.#attempt(sequence, (request) => request.accept(token, logits));
    if (goesOn === false) this.#owner.end(sequence, "stop");
    else if (this.#remaining(sequence) <= 0) {
      this.#owner.end(sequence, "length");
    }
  }

  /** Appends what the host inserts into an answer, once all tokens before it are known. */
  #steer(sequence: Sequence): void {
    const { generated, request: { steering } } = sequence;
    if (!steering || sequence.underWay > 0 || generated < Math.max(1, steering.freeUntil)) return;
    this.#insert(sequence, this.#attempt(sequence, () => steering.interject()));
    this.#takeForced(sequence);
  }

  /**
   * Tokens that a constraint forces are fed like a prompt, with the token that was just sampled. Where
   * logits are wanted, every token is sampled.
   */
  #takeForced(sequence: Sequence): void {
    const { constraint, wantsLogits } = sequence.request;
    if (!constraint || wantsLogits || sequence.ended) return;
    const most = this.#remaining(sequence);
    this.#insert(sequence, this.#attempt(sequence, () => constraint.forced(most)));
  }

  /** Takes tokens that the device has not sampled: they are fed from the host. */
  #insert(sequence: Sequence, tokens: readonly number[] = []): void {
    for (const token of tokens) {
      this.#take(sequence, token);
      sequence.feedFrom(sequence.submitted);
    }
  }

  #attempt<T>(sequence: Sequence, action: (request: SequenceRequest) => T): T | undefined {
    return sequence.attempt(action, (reason) => this.#owner.end(sequence, reason));
  }
}

/** Whether a chunk is one row, and perhaps a draft. */
function isDecoded({ count, draft }: Chunk): boolean {
  return count - draft.length === 1;
}

/** What a step has besides a row of each sequence that decodes: rows of prompts and of drafts. */
function addedPart(chunks: readonly Chunk[]): PacedStep {
  const added = chunks.filter((chunk) => !isDecoded(chunk) || chunk.draft.length > 0);
  return {
    rows: added.reduce((sum, one) => sum + (isDecoded(one) ? one.draft.length : one.count), 0),
    context: Math.max(0, ...added.map(({ count, end = count }) => end - count)),
  };
}

/** Positions before the furthest of some sequences' next rows. */
function furthest(sequences: readonly Sequence[]): number {
  return Math.max(0, ...sequences.map(({ submitted }) => submitted));
}
