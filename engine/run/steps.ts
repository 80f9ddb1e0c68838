// The steps of running sequences: plans them, submits them and hands out their tokens. Sequences that
// decode freely get several tokens per submit. Those with a constraint, or whose logits are wanted, get
// one: its mask is made while the device runs the step. A draft is verified in one step (speculative
// decoding, Leviathan et al. 2023). Which sequences run is decided in scheduler.ts.

import { NO_TOKEN } from "../../kernels/mod.ts";
import { NotFiniteError, TapError } from "../errors.ts";
import { DraftCost } from "./draft_cost.ts";
import { DraftLength } from "./draft_length.ts";
import type { Drafter } from "./drafter.ts";
import { PlanCache } from "./plan_cache.ts";
import { chooseChunks, type Chunk } from "./planner.ts";
import type { PromptPace } from "./prompt_pace.ts";
import type { Sequence, SequenceEnd, SequenceRequest, TokenConstraint } from "./sequence.ts";
import type { SequencePool } from "./sequence_pool.ts";
import { MOST_REPEATS, type Sampled, type StepPlan } from "./step_plan.ts";
import type { StepExecutor } from "./step_executor.ts";

/** Tokens per submit are chosen so that a submit takes about this long: an abort waits for one. */
const SUBMIT_MILLISECONDS = 40;

/** A step that was submitted, once or several times over. */
export interface Submit {
  chunks: Chunk[];
  repeats: number;
  /** When it was made. */
  began: number;
  read: () => Promise<Sampled>;
  /** Of an observed step, which runs when it is read: caches what the step computed. */
  keep?: () => void;
}

/** A submit whose tokens are being read. */
export interface UnderWay {
  submit: Submit;
  sampled: Promise<Sampled>;
}

/** The owner of the sequences. */
export interface StepsOwner {
  /** Preempts a running sequence, because another one needs memory to go on. */
  preempt(): void;
  /** Ends a sequence. */
  end(sequence: Sequence, reason: SequenceEnd): void;
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
  /** Most tokens of the next submit: settled with the one before, when the next is recorded. */
  #tokensPerSubmit = 1;
  readonly #draftCost = new DraftCost();
  readonly #drafter: Drafter | undefined;

  /**
   * @param chunkSize most prompt tokens per step
   * @param drafter drafts where nothing stood before that may follow again; missing: nobody
   */
  constructor(
    executor: StepExecutor,
    pool: SequencePool,
    chunkSize: number,
    owner: StepsOwner,
    pace: PromptPace,
    drafter?: Drafter,
  ) {
    this.#executor = executor;
    this.#pool = pool;
    this.#drafter = drafter;
    this.#plans = new PlanCache(executor.tileRows);
    this.#chunkSize = chunkSize;
    this.#owner = owner;
    this.#pace = pace;
  }

  /** Says that the next submit is the first: nothing is under way. */
  begin(): void {
    this.#pace.begin();
  }

  /** Prepares a new sequence for drafts, which others make. */
  welcome(sequence: Sequence): void {
    const { draftTokens } = sequence.request;
    if (!this.#drafter || draftTokens === 0) return;
    sequence.draftLength = new DraftLength(() => this.#draftCost.withModel, draftTokens);
  }

  /** Has drafts made for the next step. */
  async draft(running: readonly Sequence[]): Promise<void> {
    if (!this.#drafter || this.#executor.isObserved) return;
    const { steps, milliseconds } = await this.#drafter.prepare(running);
    this.#draftCost.measureDrafting(steps, milliseconds);
  }

  /** Drops what was kept for the drafts of a sequence that gives back its memory. */
  release(sequence: Sequence): void {
    this.#drafter?.release(sequence);
  }

  /** Plans and submits the next step, once or repeatedly; undefined where no sequence can run now. */
  submit(running: () => readonly Sequence[]): Submit | undefined {
    for (const sequence of running()) this.#steer(sequence);
    for (;;) {
      const ready = running().filter((sequence) =>
        !sequence.decoding || this.#samplesLeft(sequence) > 0
      );
      const { limits: { rows: most, outputs }, wholeImages } = this.#executor;
      const isAwaited = ready.some(({ decoding, generated }) => decoding || generated > 0);
      const chunkSize = isAwaited ? this.#pace.rowsBeside(this.#chunkSize) : this.#chunkSize;
      const rows = Math.min(most, chunkSize + ready.length);
      const drafts = outputs - ready.length;
      const stop = (sequence: Sequence) => this.#pool.stop(sequence);
      const told = ready.filter(({ request }) => request.wantsLogits).length;
      const draft = (sequence: Sequence, budget: number) => this.#draft(sequence, budget, told);
      const chunks = chooseChunks(ready, { rows, most, wholeImages, stop, drafts, draft });
      if (chunks.length === 0) return undefined;
      // A sequence ends here if its draft cannot be made: it has no memory left to write to.
      if (chunks.some(({ sequence }) => sequence.ended)) continue;
      for (const chunk of chunks) this.#checkDraft(chunk);
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

  /**
   * A draft of the tokens that follow a sequence, if the host knows all tokens so far.
   * @param told sequences of the step whose logits are wanted
   */
  #draft(sequence: Sequence, budget: number, told: number): readonly number[] {
    if (sequence.underWay > 0 || this.#executor.isObserved) return [];
    const { submitted, request: { constraint, wantsLogits } } = sequence;
    const { slots, context } = this.#executor.limits;
    const left = sequence.freeLimit(context) - sequence.tokens.length - 1;
    // Where states are copied after a step, it must not hold tokens that may be wrong.
    const before = this.#pool.stop(sequence) - submitted - Math.max(1, sequence.unfed) - 1;
    const readable = wantsLogits ? Math.floor(slots / told) - 1 : Infinity;
    const most = Math.min(budget, left, before, readable);
    const guess = sequence.draft(most);
    if (!constraint || guess.length === 0) return guess;
    const walk = () => alongConstraint(constraint, guess, { most, left, forces: !wantsLogits });
    return this.#attempt(sequence, walk) ?? [];
  }

  /** Drops a draft that there is no memory for: no sequence is preempted for it. */
  #checkDraft(chunk: Chunk): void {
    const { sequence, count, draft } = chunk;
    if (draft.length === 0) return;
    const hasRoom = this.#pool.grow(sequence, sequence.submitted + count);
    if (hasRoom && this.#pool.beginDraft(sequence)) return;
    chunk.draft = [];
    chunk.count -= draft.length;
  }

  #launch(chunks: Chunk[], repeats: number): Submit {
    const began = performance.now();
    const plan = this.#plans.layOut(chunks);
    plan.shape.decodeContext += repeats - 1;
    const isStepwise = chunks.some(({ sequence, output }) => output && sequence.isStepwise);
    const isUnwanted = () => chunks.every(({ sequence }) => sequence.isCancelled);
    const { isObserved, isTapped } = this.#executor;
    const keeps: (() => void)[] = [];
    const fitting = Math.floor(SUBMIT_MILLISECONDS / this.#stepMilliseconds);
    this.#tokensPerSubmit = Math.max(1, Math.min(MOST_REPEATS, fitting));
    const read = isStepwise
      ? this.#submitStep(plan, chunks, isUnwanted)
      : this.#executor.submit(plan, repeats, this.#repeatsAfter(chunks, repeats), isUnwanted);
    for (const chunk of chunks) {
      const { sequence, count, output } = chunk;
      chunk.end = sequence.submitted + count;
      sequence.underWay++;
      sequence.wasTapped ||= isTapped;
      // The mask could not be made, or the step was dropped.
      if (sequence.ended || sequence.isCancelled) continue;
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
    if (isObserved) return { chunks, repeats, began, read, keep };
    keep();
    return { chunks, repeats, began, read };
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

  /** The masks of what follows a sequence, and of what follows each token of its draft. */
  #masksOf(constraint: TokenConstraint, chunk: Chunk): Uint32Array<ArrayBuffer>[] {
    const { sequence, draft } = chunk;
    const remaining = sequence.limit(this.#executor.limits.context) - sequence.tokens.length;
    const masks = [constraint.mask(remaining)];
    if (draft.length === 0) return masks;
    masks[0] = masks[0].slice(); // It is valid until the next one is made.
    const fork = constraint.fork!();
    for (const token of draft) {
      const mask = fork.accept(token) ? fork.mask(remaining - masks.length) : [];
      if (mask.length === 0) break; // It took more than is allowed.
      masks.push(mask.slice() as typeof masks[0]);
    }
    chunk.reliable = masks.length;
    return masks;
  }

  #samplesLeft(sequence: Sequence): number {
    return sequence.freeLimit(this.#executor.limits.context) - (sequence.submitted + 1);
  }

  /** Tokens per submit: one while anything prefills, else as many as the time allows. */
  #repeats(chunks: Chunk[]): number {
    const isFree = ({ sequence, draft }: Chunk) =>
      sequence.decoding && !sequence.isStepwise && draft.length === 0;
    if (!chunks.every(isFree)) return 1;
    const left = chunks.map(({ sequence }) =>
      Math.min(this.#samplesLeft(sequence), this.#pool.stop(sequence) - sequence.submitted)
    );
    return Math.max(1, Math.min(this.#tokensPerSubmit, ...left));
  }

  /** How often the same step follows that submit, as far as is known: not at all where a sequence ends. */
  #repeatsAfter(chunks: Chunk[], repeats: number): number {
    const left = chunks.map(({ sequence }) => {
      const untilStop = this.#pool.stop(sequence) - sequence.submitted - repeats;
      // From where states are copied, it is some way to the next such position.
      return Math.min(this.#samplesLeft(sequence) - repeats, untilStop || Infinity);
    });
    return Math.max(0, Math.min(this.#tokensPerSubmit, ...left));
  }

  /** Notes how long a submit took, from which the number of tokens of the next one follows. */
  measure({ repeats, chunks }: Submit, milliseconds: number): void {
    if (chunks.some(({ draft }) => draft.length > 0)) return;
    // One that took long for a reason of its own at most halves the number.
    this.#stepMilliseconds = Math.min(milliseconds / repeats, 2 * this.#stepMilliseconds);
  }

  /** Collects a submit once it is done. Where a tap failed, that ends the submit's sequences alone. */
  async finish({ submit, sampled }: UnderWay): Promise<void> {
    let tokens: Sampled;
    try {
      tokens = await sampled;
    } catch (error) {
      if (!(error instanceof TapError)) throw error;
      for (const { sequence } of submit.chunks) {
        sequence.underWay--;
        this.#owner.end(sequence, { error });
      }
      return;
    }
    const fed = promptRows(submit.chunks);
    this.#pace.end(fed);
    const { chunks, repeats, began } = submit;
    const drafted = chunks.reduce((sum, { draft }) => sum + draft.length, 0);
    if (fed === 0) this.#draftCost.measure(drafted, repeats, began);
    submit.keep?.();
    this.#collect(submit, tokens);
  }

  #collect({ chunks, repeats }: Submit, { tokens, logits }: Sampled): void {
    const givers = chunks.filter(({ output }) => output);
    for (const { sequence, end = 0 } of chunks) {
      sequence.underWay--;
      // A sequence that stepped back reads its answer again, which is none of its prompt.
      if (sequence.ended || sequence.generated > 0 || !sequence.request.progress) continue;
      this.#attempt(sequence, (request) => request.progress!(Math.min(end, sequence.promptLength)));
    }
    let output = 0;
    for (let i = 0; i < repeats; i++) {
      for (const chunk of givers) {
        const { sequence, draft } = chunk;
        const takeOutput = (at: number) => {
          this.#take(sequence, tokens[at], logits.get(at));
          this.#takeForced(sequence);
        };
        if (draft.length > 0) this.#verify(chunk, output, takeOutput);
        else takeOutput(output);
        output += 1 + draft.length;
      }
    }
  }

  /**
   * Takes the tokens of a draft's rows as far as the draft was right, and the one after. Each was
   * chosen as it would have been without a draft: from the same logits and the same mask, for the same
   * position. Rows of what was forced meanwhile give tokens that nobody needs.
   */
  #verify(
    { sequence, draft, reliable = draft.length + 1 }: Chunk,
    firstOutput: number,
    takeOutput: (output: number) => void,
  ): void {
    if (sequence.ended) return;
    const { tokens } = sequence;
    const known = tokens.length;
    let accepted = 0;
    const isOver = () => sequence.ended || sequence.isCancelled || accepted >= reliable;
    while (!isOver() && accepted === tokens.length - known) {
      takeOutput(firstOutput + accepted);
      while (known + accepted < tokens.length && tokens[known + accepted] === draft[accepted]) {
        accepted++;
      }
    }
    // What is right of the draft stays; the last token has to run, for what follows it.
    sequence.submitted = Math.min(known + accepted, tokens.length - 1);
    sequence.drafted += draft.length;
    sequence.draftsAccepted += accepted;
    if (sequence.ended) return;
    if (sequence.isProposed) {
      sequence.draftLength?.learn(sequence.tokens.length, draft.length, accepted);
    } else {
      sequence.lookup.learn(sequence.tokens, draft.length, accepted, this.#draftCost.ofRow);
    }
    this.#pool.endDraft(sequence, sequence.submitted === known + draft.length);
  }

  #take(sequence: Sequence, token: number, logits?: Float32Array): void {
    if (sequence.ended || sequence.isCancelled) return;
    if (token === NO_TOKEN) {
      return this.#owner.end(sequence, { error: new NotFiniteError("logits") });
    }
    sequence.tokens.push(token);
    const goesOn = this.#attempt(sequence, (request) => request.accept(token, logits));
    if (goesOn === false) this.#owner.end(sequence, "stop");
    else if (sequence.tokens.length >= sequence.limit(this.#executor.limits.context)) {
      this.#owner.end(sequence, "length");
    }
  }

  /** Feeds what the host puts into an answer, once all tokens before it are known. */
  #steer(sequence: Sequence): void {
    const { generated, request: { steering } } = sequence;
    if (!steering || sequence.underWay > 0 || generated < Math.max(1, steering.freeUntil)) return;
    for (const token of this.#attempt(sequence, () => steering.interject()) ?? []) {
      this.#take(sequence, token);
      sequence.decoding = false;
    }
    this.#takeForced(sequence);
  }

  /**
   * Tokens that a constraint forces are fed like a prompt, with the token that was just sampled. Where
   * logits are wanted, every token is sampled.
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

  #attempt<T>(sequence: Sequence, action: (request: SequenceRequest) => T): T | undefined {
    return sequence.attempt(action, (reason) => this.#owner.end(sequence, reason));
  }
}

/**
 * The tokens of a guess that a constraint allows, each followed by those that it forces.
 *
 * @param most tokens of the draft @param left tokens that may still come besides one @param forces
 * whether forced tokens are taken as they are
 */
function alongConstraint(
  constraint: TokenConstraint,
  guess: readonly number[],
  { most, left, forces }: { most: number; left: number; forces: boolean },
): number[] {
  const fork = constraint.fork?.();
  const draft: number[] = [];
  if (!fork) return draft;
  for (let isAgreed = true; isAgreed && draft.length < guess.length;) {
    const token = guess[draft.length];
    if (!fork.accept(token)) break;
    draft.push(token);
    const forced = forces ? fork.forced(left + 1 - draft.length) : [];
    for (const next of forced) {
      if (draft.length >= most || !fork.accept(next)) return draft;
      isAgreed &&= draft.length >= guess.length || guess[draft.length] === next;
      draft.push(next);
    }
  }
  return draft;
}

function promptRows(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { count, draft }) => count - draft.length > 1 ? sum + count : sum, 0);
}
