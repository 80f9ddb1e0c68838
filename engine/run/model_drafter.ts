// Drafts by a smaller model with the same vocabulary (speculative decoding, Leviathan et al. 2023). Each
// sequence has a copy in the smaller model, which follows it: it reads the same prompt, drafts some
// tokens, and goes back to where the sequence really went on. It draws with the sequence's own seed, so
// that it chooses alike where both models agree; with a constraint it chooses from the same masks.

import { NO_TOKEN } from "../../kernels/mod.ts";
import type { Drafter, DraftingTime } from "./drafter.ts";
import { PlanCache } from "./plan_cache.ts";
import { byRows, type Chunk } from "./planner.ts";
import { type ConstraintFork, Sequence } from "./sequence.ts";
import { SequencePool } from "./sequence_pool.ts";
import type { StepExecutor } from "./step_executor.ts";
import { MOST_REPEATS, type Sampled } from "./step_plan.ts";

/** Tokens that a copy may have to read for the time of a draft to say what drafting takes. */
const FEW_TOKENS = 16;

/** A sequence of the model, and its copy in the smaller one. */
interface Follower {
  readonly target: Sequence;
  readonly copy: Sequence;
  /** Tokens of the copy that are the sequence's; those after them were drafted. */
  known: number;
}

/** A follower that drafts now. */
interface Draft {
  readonly follower: Follower;
  /** Tokens that are wanted. */
  wanted: number;
  readonly tokens: number[];
  /** The place in the constraint after these tokens; missing where there is no constraint. */
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
}

/** The request of a copy: nobody waits for its tokens. */
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
    const reading = followers.filter(({ target }) => this.#isReading(target));
    const ready = await this.#read(drafts, reading);
    if (ready.length === 0) return { steps: 0, milliseconds: 0 };
    const unread = Math.max(...ready.map(({ follower: { copy } }) => copy.unfed));
    const began = performance.now();
    const isMasked = ready.some(({ follower }) => follower.target.request.constraint);
    await (isMasked ? this.#draftMasked(ready) : this.#draftFreely(ready));
    for (const { follower: { target }, tokens } of ready) {
      target.proposal = { after: target.tokens.length, tokens };
    }
    if (unread > FEW_TOKENS) return { steps: 0, milliseconds: 0 };
    const steps = Math.max(...ready.map(({ wanted }) => wanted));
    return { steps, milliseconds: performance.now() - began };
  }

  release(sequence: Sequence): void {
    const follower = this.#followers.get(sequence);
    if (!follower) return;
    this.#followers.delete(sequence);
    this.#pool.release(follower.copy);
  }

  /** The follower of a sequence, which gets memory; undefined where it has none, or cannot follow. */
  #followerOf(target: Sequence): Follower | undefined {
    if (!target.draftLength) return undefined;
    const { vocabulary } = this.#options;
    const follower = this.#followers.get(target);
    const known = follower?.known ?? 0;
    if (target.tokens.some((token, at) => at >= known && token >= vocabulary)) {
      target.draftLength = undefined; // An image, or a token that the smaller model does not have.
      this.release(target);
      return undefined;
    }
    if (follower) return follower;
    if (target.tokens.length + 1 >= this.#executor.limits.context) return undefined;
    const { sampling } = target.request;
    const prompt = [...target.tokens];
    const copy = new Sequence({ ...NOBODY, prompt, sampling, maxTokens: Infinity });
    if (!this.#pool.takeCached(copy)) return undefined;
    this.#executor.assignSlot(copy.slot, sampling);
    const made = { target, copy, known: prompt.length };
    this.#followers.set(target, made);
    return made;
  }

  /** Brings a copy to where its sequence is: forgets what was drafted wrong, learns what is new. */
  #follow(follower: Follower): void {
    const { target: { tokens }, copy } = follower;
    let { known } = follower;
    while (known < copy.tokens.length && copy.tokens[known] === tokens[known]) known++;
    const isRight = copy.submitted <= known;
    if (!isRight && !copy.beforeDraft) copy.submitted = known;
    if (copy.isDrafting) this.#pool.endDraft(copy, isRight);
    copy.tokens.length = known;
    this.#pool.publish(copy);
    for (let at = known; at < tokens.length; at++) copy.tokens.push(tokens[at]);
    follower.known = tokens.length;
  }

  /** Whether a sequence reads its prompt, or after it was preempted all that it had. */
  #isReading({ generated, unfed }: Sequence): boolean {
    return generated === 0 || unfed > this.#executor.blockSize;
  }

  /** How many tokens are to be drafted for a sequence now. */
  #wanted(target: Sequence): number {
    const { tokens, underWay, isCancelled, lookup, draftLength, request } = target;
    if (underWay > 0 || this.#isReading(target) || isCancelled || !draftLength) return 0;
    const { constraint } = request;
    if (constraint && !constraint.fork) return 0;
    if (lookup.draft(tokens, 1).length > 0) return 0; // What stood before goes first while it pays.
    const left = target.freeLimit(this.#executor.limits.context) - tokens.length - 1;
    return Math.max(0, Math.min(draftLength.at(tokens.length), left));
  }

  /**
   * Has copies read what their sequences have, those that are to draft first; of a prompt that is being
   * read, as much as its sequence has read. Gives the drafts that can begin: what is left to their
   * copies fits into a step.
   */
  async #read(drafts: readonly Draft[], reading: readonly Follower[]): Promise<Draft[]> {
    const { limits: { rows }, blockSize } = this.#executor;
    const behind = [
      ...drafts.filter(({ follower: { copy } }) => copy.unfed > blockSize)
        .map(({ follower }) => ({ follower, end: follower.known - 1 })),
      ...reading.map((follower) => {
        return { follower, end: Math.min(follower.target.submitted, follower.known - 1) };
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
      const { copy, known } = draft.follower;
      const isNear = copy.unfed <= blockSize && used + copy.unfed <= rows;
      if (!isNear || !this.#pool.grow(copy, known + draft.wanted)) continue;
      used += copy.unfed;
      ready.push(draft);
    }
    return ready;
  }

  /** Drafts where any token may come: several steps go into one submit. */
  async #draftFreely(drafts: readonly Draft[]): Promise<void> {
    let givers = byChunk(drafts);
    let [repeats, asked] = [1, 1];
    let read = this.#submit(givers.map(chunkOf));
    this.#protect(drafts);
    for (;;) {
      const going = givers.filter(({ isOver, wanted }) => !isOver && wanted > asked);
      const next = Math.min(MOST_REPEATS, ...going.map(({ wanted }) => wanted - asked));
      for (const { follower: { copy } } of going) copy.decoding = true;
      const readNext = going.length > 0 ? this.#submit(going.map(chunkOf), next) : undefined;
      const { tokens } = await read();
      for (let i = 0; i < repeats; i++) {
        givers.forEach((draft, at) => this.#take(draft, tokens[i * givers.length + at]));
      }
      if (!readNext) return;
      [givers, repeats, asked, read] = [going, next, asked + next, readNext];
    }
  }

  /** Drafts with masks, each of which follows from the token before. */
  async #draftMasked(drafts: readonly Draft[]): Promise<void> {
    for (const draft of drafts) {
      const { target } = draft.follower;
      draft.fork = target.attempt(({ constraint }) => constraint?.fork?.(), () => {});
    }
    const isMissing = ({ follower: { target: { request } }, fork }: Draft) =>
      request.constraint !== undefined && !fork;
    let going = byChunk(drafts.filter((draft) => !isMissing(draft)));
    for (let isFirst = true; going.length > 0; isFirst = false) {
      const plan = this.#plans.layOut(going.map(chunkOf));
      this.#executor.forward(plan);
      const masks = new Map<number, Uint32Array<ArrayBuffer>>();
      for (const [output, draft] of going.entries()) {
        if (draft.fork) masks.set(output, this.#maskOf(draft));
      }
      const read = this.#executor.sample(plan, masks, new Set());
      for (const { follower: { copy } } of going) copy.submitted = copy.tokens.length;
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

  /** What may follow a draft so far. Where that cannot be told, no token of it is taken. */
  #maskOf(draft: Draft): Uint32Array<ArrayBuffer> {
    const { follower: { target }, fork, tokens } = draft;
    const remaining = target.limit(this.#executor.limits.context) - target.tokens.length;
    const mask = target.attempt(() => fork!.mask(remaining - tokens.length), () => {});
    draft.isOver ||= mask === undefined;
    return mask?.slice() ?? new Uint32Array(Math.ceil(this.#options.vocabulary / 32)).fill(-1);
  }

  /** Takes a token of a draft. */
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
    copy.tokens.push(token);
  }

  /** Takes the tokens that have to come after a draft so far. */
  #takeForced(draft: Draft): void {
    const { follower: { target }, fork, tokens, wanted } = draft;
    if (!fork || draft.isOver || target.request.wantsLogits) return;
    const forced = target.attempt(() => [...fork.forced(wanted - tokens.length)], () => {}) ?? [];
    for (const token of forced) this.#take(draft, token);
  }

  /** Submits a step of copies, `repeats` times over. */
  #submit(chunks: Chunk[], repeats = 1): () => Promise<Sampled> {
    const plan = this.#plans.layOut(chunks.sort(byRows));
    plan.shape.decodeContext += repeats - 1;
    const stops = chunks.map(({ sequence }) => this.#pool.stop(sequence));
    const read = this.#executor.submit(plan, repeats, 0);
    for (const [i, { sequence, count, output }] of chunks.entries()) {
      sequence.submitted += count * repeats;
      if (output) continue;
      if (sequence.submitted === stops[i]) this.#pool.checkpoint(sequence);
      this.#pool.publish(sequence);
    }
    return read;
  }

  /** Keeps the states of copies as they are before what is drafted; a draft that cannot go back ends. */
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

/** What a copy has to read for the next token of its draft. */
function chunkOf({ follower: { copy } }: Draft): Chunk {
  return { sequence: copy, count: copy.decoding ? 1 : copy.unfed, output: true, draft: [] };
}
