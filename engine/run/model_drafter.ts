// The interface of a drafter, which drafts tokens that do not come from a sequence's own text: a smaller
// model, or a model's head for multi-token prediction.

import { NO_TOKEN } from "../../kernels/mod.ts";
import { PlanCache } from "./plan_cache.ts";
import { byRows, type Chunk } from "./planner.ts";
import { type ConstraintFork, Sequence } from "./sequence.ts";
import { SequencePool } from "./sequence_pool.ts";
import type { StateFeed } from "./state_feed.ts";
import type { StepExecutor } from "./step_executor.ts";
import { MOST_REPEATS, type Sampled } from "./step_plan.ts";

/** A maker of drafts. */
export interface Drafter {
  /**
   * Makes drafts for those running sequences whose next tokens are to be drafted now
   * ({@linkcode Sequence.drafts}), and reads ahead for the others. No other call may be under way.
   *
   * @returns the number of drafting steps, 0 if nothing was drafted, and their milliseconds together;
   * steps that also read a prompt do not count
   */
  prepare(running: readonly Sequence[]): Promise<DraftingTime>;
  /**
   * Takes the hidden states that the model ended with at positions of a sequence, from `first` on:
   * [positions, width]. Missing: they are not needed.
   */
  observe?(sequence: Sequence, first: number, states: Float32Array): void;
  /** Forgets a sequence and frees what was kept for it. */
  release(sequence: Sequence): void;
}

/** What drafts took. */
export interface DraftingTime {
  readonly steps: number;
  readonly milliseconds: number;
}

// Drafts by a smaller model with the same vocabulary (speculative decoding, Leviathan et al. 2023). Each
// sequence has a copy in the smaller model, which follows it: it reads the same prompt, drafts some
// tokens, and goes back to where the sequence really went on. It draws with the sequence's own seed, so
// that it samples the same token if both models agree, and with a constraint under the same masks. The
// smaller model may also be the model's own head for multi-token prediction, which reads a hidden state
// of the model beside each token (state_feed.ts).

/** Most unread tokens of a copy with which the time of a draft counts as the time of drafting. */
const FEW_TOKENS = 16;

/** A sequence of the model, and its copy in the smaller one. */
interface Follower {
  readonly target: Sequence;
  readonly copy: Sequence;
  /** Number of the copy's tokens that are the sequence's; those after them are drafted. */
  known: number;
}

/** A follower that drafts now. */
interface Draft {
  readonly follower: Follower;
  /** Tokens that are wanted. */
  wanted: number;
  readonly tokens: number[];
  /** The state of the constraint after these tokens; missing without a constraint. */
  fork?: ConstraintFork | undefined;
  /** Whether no more tokens can come. */
  isOver: boolean;
}

/** Sizes of the smaller model. */
export interface ModelDrafterOptions {
  /** Blocks of its KV cache. */
  readonly cacheBlocks: number;
  /** Most tokens of prompts that it reads at a time. */
  readonly chunkSize: number;
  /** Tokens that both models have; ids are below it. */
  readonly vocabulary: number;
  /** What a head for multi-token prediction reads besides tokens. Missing: it is a model. */
  readonly states?: StateFeed;
}

/** The callbacks of a copy, whose tokens nobody receives. */
const NOBODY = { accept: () => true, end: () => {} };

/** The smaller model of a model. */
export class ModelDrafter implements Drafter {
  readonly #executor: StepExecutor;
  readonly #pool: SequencePool;
  readonly #plans: PlanCache;
  readonly #options: ModelDrafterOptions;
  readonly #followers = new Map<Sequence, Follower>();

  constructor(executor: StepExecutor, options: ModelDrafterOptions) {
    this.#executor = executor;
    this.#options = options;
    this.#pool = new SequencePool(executor, options.cacheBlocks);
    this.#plans = new PlanCache(executor.tileRows);
  }

  async prepare(running: readonly Sequence[]): Promise<DraftingTime> {
    const followers = running.flatMap((target) => this.#followerOf(target) ?? []);
    for (const follower of followers) this.#follow(follower);
    const drafts: Draft[] = [];
    for (const follower of followers) {
      const wanted = this.#wanted(follower.target);
      if (wanted > 0) drafts.push({ follower, wanted, tokens: [], isOver: false });
    }
    const { states } = this.#options;
    const reading = followers.filter(({ target, copy }) =>
      this.#isReading(target) || (states?.isFull(copy) ?? false)
    );
    const ready = await this.#read(drafts, reading);
    if (ready.length === 0) return { steps: 0, milliseconds: 0 };
    const unread = Math.max(...ready.map(({ follower: { copy } }) => copy.unfed));
    const began = performance.now();
    const isMasked = ready.some(({ follower }) => follower.target.request.constraint);
    await (isMasked ? this.#draftMasked(ready) : this.#draftFreely(ready));
    for (const { follower: { target }, tokens } of ready) {
      target.drafts.propose(target.tokens.length, tokens);
    }
    if (unread > FEW_TOKENS) return { steps: 0, milliseconds: 0 };
    const steps = Math.max(...ready.map(({ wanted }) => wanted));
    return { steps, milliseconds: performance.now() - began };
  }

  observe(sequence: Sequence, first: number, states: Float32Array): void {
    const follower = this.#followers.get(sequence);
    if (follower) this.#options.states?.add(follower.copy, first, states);
  }

  release(sequence: Sequence): void {
    const follower = this.#followers.get(sequence);
    if (!follower) return;
    this.#followers.delete(sequence);
    this.#options.states?.forget(follower.copy);
    this.#pool.release(follower.copy);
  }

  /** The follower of a sequence, with memory; undefined if there is no memory, or it cannot follow. */
  #followerOf(target: Sequence): Follower | undefined {
    const { tokens, drafts } = target;
    if (!drafts.length) return undefined;
    const { vocabulary } = this.#options;
    const follower = this.#followers.get(target);
    if (!follower && drafts.length.at(tokens.length) === 0) return undefined; // It pauses.
    const known = follower?.known ?? 0; // The tokens before were looked at when they were read.
    if (tokens.slice(known).some((token) => token >= vocabulary)) {
      drafts.decline(); // An image, or a token that the smaller model does not have.
      this.release(target);
      return undefined;
    }
    if (follower) return follower;
    if (tokens.length + 1 >= this.#executor.limits.context) {
      drafts.decline(); // It does not fit into the smaller model's window.
      return undefined;
    }
    const { sampling } = target.request;
    const prompt = [...tokens];
    const copy = new Sequence({ ...NOBODY, prompt, sampling, maxTokens: Infinity });
    if (!this.#pool.takeCached(copy)) {
      drafts.length.pause(tokens.length);
      return undefined;
    }
    this.#executor.assignSlot(copy.memory.slot, sampling);
    // The states of what is under way will come; those before it never will.
    this.#options.states?.begin(copy, target.underWay > 0 ? 0 : target.submitted);
    const made = { target, copy, known: prompt.length };
    this.#followers.set(target, made);
    return made;
  }

  /** Updates a copy to its sequence: removes wrong drafts, and appends new tokens. */
  #follow(follower: Follower): void {
    const { target: { tokens }, copy } = follower;
    let { known } = follower;
    const { states } = this.#options;
    // What a head drafted it read with its own hidden states, not the model's: it reads it again.
    while (!states && known < copy.tokens.length && copy.tokens[known] === tokens[known]) known++;
    const right = Math.min(copy.submitted, known);
    if (copy.memory.isDrafting) this.#pool.endDraft(copy, right);
    else copy.feedFrom(right);
    copy.truncate(known);
    this.#pool.publish(copy);
    for (let at = known; at < tokens.length; at++) copy.append(tokens[at]);
    follower.known = tokens.length;
    states?.learn(copy);
  }

  /** Whether a sequence reads its prompt, or all its tokens again after it was preempted. */
  #isReading({ generated, unfed }: Sequence): boolean {
    return generated === 0 || unfed > this.#executor.blockSize;
  }

  /** Number of tokens to draft for a sequence now. */
  #wanted(target: Sequence): number {
    const { tokens, underWay, isCancelled, drafts, request } = target;
    if (underWay > 0 || this.#isReading(target) || isCancelled || !drafts.length) return 0;
    const { constraint } = request;
    if (constraint && !constraint.fork) return 0;
    if (drafts.fromText(tokens, 1).length > 0) return 0; // Drafts from its own text go first while they pay.
    const left = target.freeLimit(this.#executor.limits.context) - tokens.length - 1;
    return Math.max(0, Math.min(drafts.length.at(tokens.length), left));
  }

  /**
   * Runs tokens that copies have not read yet, first those of copies that will draft; of a prompt, as
   * many as its sequence has read. Returns the drafts that can begin, because the unread rest of their
   * copies fits into a step.
   */
  async #read(drafts: readonly Draft[], reading: readonly Follower[]): Promise<Draft[]> {
    const { limits: { rows }, blockSize } = this.#executor;
    const behind = [
      ...drafts.filter(({ follower: { copy } }) => copy.unfed > blockSize)
        .map(({ follower }) => ({ follower, end: follower.known - 1 })),
      ...reading.map((follower) => {
        const { target, copy, known } = follower;
        const readable = this.#options.states?.readable(copy) ?? target.submitted;
        return { follower, end: Math.min(readable, known - 1) };
      }),
    ];
    for (let left = Math.min(rows, this.#options.chunkSize); left > 0;) {
      const chunks: Chunk[] = [];
      for (const { follower: { copy }, end } of behind) {
        const count = Math.min(end, this.#pool.stop(copy), copy.submitted + left) - copy.submitted;
        if (count <= 0 || !this.#pool.grow(copy, copy.submitted + count)) continue;
        chunks.push({ sequence: copy, count, output: false, draft: [] });
        left -= count;
      }
      if (chunks.length === 0) break;
      await this.#submit(chunks)();
    }
    const ready: Draft[] = [];
    let used = 0;
    for (const draft of drafts) {
      const { target, copy, known } = draft.follower;
      if (!this.#pool.grow(copy, known + draft.wanted)) {
        target.drafts.length?.pause(known);
        continue;
      }
      if (copy.unfed > blockSize || used + copy.unfed > rows) continue;
      used += copy.unfed;
      ready.push(draft);
    }
    return ready;
  }

  /** Drafts without constraints: several steps go into one submit. */
  async #draftFreely(drafts: readonly Draft[]): Promise<void> {
    let givers = byChunk(drafts);
    let [repeats, asked] = [1, 1];
    let read = this.#submit(givers.map(chunkOf));
    this.#protect(drafts);
    for (;;) {
      const going = givers.filter(({ isOver, wanted }) => !isOver && wanted > asked);
      const next = Math.min(MOST_REPEATS, ...going.map(({ wanted }) => wanted - asked));
      for (const { follower: { copy } } of going) copy.decode();
      const readNext = going.length > 0 ? this.#submit(going.map(chunkOf), next) : undefined;
      const { tokens } = await read();
      for (let i = 0; i < repeats; i++) {
        givers.forEach((draft, at) => this.#take(draft, tokens[i * givers.length + at]));
      }
      if (!readNext) return;
      [givers, repeats, asked, read] = [going, next, asked + next, readNext];
    }
  }

  /** Drafts with masks, one step per submit, since a mask depends on the token before it. */
  async #draftMasked(drafts: readonly Draft[]): Promise<void> {
    for (const draft of drafts) {
      const { target } = draft.follower;
      draft.fork = target.attempt(({ constraint }) => constraint?.fork?.(), () => {});
    }
    const isMissing = ({ follower: { target: { request } }, fork }: Draft) =>
      request.constraint !== undefined && !fork;
    let going = byChunk(drafts.filter((draft) => !isMissing(draft)));
    for (let isFirst = true; going.length > 0; isFirst = false) {
      const chunks = going.map(chunkOf);
      const plan = this.#plans.layOut(chunks);
      this.#options.states?.feed(chunks);
      this.#executor.forward(plan);
      const masks = new Map<number, Uint32Array<ArrayBuffer>>();
      for (const [output, draft] of going.entries()) {
        if (draft.fork) masks.set(output, this.#maskOf(draft));
      }
      const read = this.#executor.sample(plan, masks, new Set());
      this.#executor.prepareNext();
      for (const { follower: { copy } } of going) copy.advance(copy.unfed);
      if (isFirst) this.#protect(going);
      const { tokens } = await read();
      going.forEach((draft, at) => {
        this.#take(draft, tokens[at]);
        this.#takeForced(draft);
      });
      going = byChunk(
        going.filter(({ isOver, tokens, wanted }) => !isOver && tokens.length < wanted),
      );
    }
  }

  /** The mask after a draft so far. If it cannot be made, the draft ends and its token is ignored. */
  #maskOf(draft: Draft): Uint32Array<ArrayBuffer> {
    const { follower: { target }, fork } = draft;
    const mask = target.attempt(() => fork!.mask(), () => {});
    draft.isOver ||= mask === undefined;
    return mask?.slice() ?? new Uint32Array(Math.ceil(this.#options.vocabulary / 32)).fill(-1);
  }

  #take(draft: Draft, token: number | undefined): void {
    const { follower: { target, copy }, fork, tokens, wanted } = draft;
    if (draft.isOver || tokens.length >= wanted) return;
    const isKnown = token !== undefined && token !== NO_TOKEN && token < this.#options.vocabulary;
    const isAllowed = isKnown && (!fork || target.attempt(() => fork.accept(token), () => {}));
    if (!isAllowed) {
      draft.isOver = true;
      return;
    }
    tokens.push(token);
    copy.append(token);
  }

  /** Appends the tokens that the constraint forces after a draft so far. */
  #takeForced(draft: Draft): void {
    const { follower: { target }, fork, tokens, wanted } = draft;
    // A head has no hidden state for tokens that it did not draft: it chooses each of them itself.
    if (!fork || draft.isOver || target.request.wantsLogits || this.#options.states) return;
    const forced = target.attempt(() => [...fork.forced(wanted - tokens.length)], () => {}) ?? [];
    for (const token of forced) this.#take(draft, token);
  }

  /** Submits a step of copies, `repeats` times over. */
  #submit(chunks: Chunk[], repeats = 1): () => Promise<Sampled> {
    const plan = this.#plans.layOut(chunks.sort(byRows));
    plan.shape.decodeContext += repeats - 1;
    const stops = chunks.map(({ sequence }) => this.#pool.stop(sequence));
    this.#options.states?.feed(chunks);
    const read = this.#executor.submit(plan, repeats);
    for (const [i, { sequence, count, output }] of chunks.entries()) {
      sequence.advance(count * repeats);
      if (output) continue;
      if (sequence.submitted === stops[i]) this.#pool.checkpoint(sequence);
      this.#pool.publish(sequence);
    }
    return read;
  }

  /** Copies the states of followers before drafting. Without room for that a draft has one token. */
  #protect(drafts: readonly Draft[]): void {
    for (const draft of drafts) {
      if (draft.wanted > 1 && !this.#pool.beginDraft(draft.follower.copy)) draft.wanted = 1;
    }
  }
}

/** The drafts in the order of their chunks in a step. */
function byChunk(drafts: readonly Draft[]): Draft[] {
  return drafts.toSorted((a, b) => byRows(chunkOf(a), chunkOf(b)));
}

/** The chunk that a copy feeds for the next token of its draft. */
function chunkOf({ follower: { copy } }: Draft): Chunk {
  return { sequence: copy, count: copy.decoding ? 1 : copy.unfed, output: true, draft: [] };
}
