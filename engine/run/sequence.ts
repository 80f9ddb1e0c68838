// One sequence of tokens in the scheduler: its tokens and how many of them were fed to the model. What
// it holds of the model's memory, and how it is drafted for, are parts of it that others own. Whatever
// changes is changed by methods, so that no other file can leave a sequence half changed.

import type { ResolvedSampling, TokenBias } from "../../kernels/mod.ts";
import { type CancelFlag, cancellable, CancelledError } from "../cancellation.ts";
import { type PromptItem, PromptRuns, type TokenKey, tokensOf } from "../prompt/mod.ts";
import type { RequestSession, RequestShare } from "../types/mod.ts";
import { SequenceDrafts } from "./sequence_drafts.ts";

/** The reason why a sequence ended. `aborted`: its client left. */
export type SequenceEnd = "stop" | "length" | "aborted" | { error: unknown };

/** What a constraint allows after the tokens so far. */
export interface ConstraintPlace {
  /**
   * The tokens that may come next: bit t of word t >> 5 for token t, at least one. Valid until
   * the next call.
   */
  mask(): Uint32Array<ArrayBuffer>;
  /**
   * The only possible next tokens, at most as many as may still come. They are fed without being
   * sampled.
   */
  forced(most: number): readonly number[];
}

/** A constraint on the tokens of a sequence, such as a grammar. */
export interface TokenConstraint extends ConstraintPlace {
  /**
   * The tokens to choose from in the place of a sampled one, after which the answer could not end in
   * time any more; undefined if the token may stay. Missing: all may.
   * @param remaining tokens that may still come, this one included
   */
  instead?(token: number, remaining: number): Uint32Array<ArrayBuffer> | undefined;
  /** A copy of its state, which can be advanced along a draft. Missing: nothing is drafted. */
  fork?(): ConstraintFork;
}

/** A copy of a constraint's state that advances along a draft; the constraint itself stays where it is. */
export interface ConstraintFork extends ConstraintPlace {
  /** Advances by a token; false if it is not allowed, or if deciding that exceeds the budget of work. */
  accept(token: number): boolean;
}

/** What is added to the logits of a sequence's tokens. */
export interface Biases {
  /** Whether the next token may change them, so that it has to be read before another one is sampled. */
  readonly areChanging: boolean;
  /**
   * Those of the token after these, the prompt's included: each token once, at most MOST_BIASES; the list
   * itself stays the same while nothing changes.
   */
  after(tokens: readonly number[]): readonly TokenBias[];
}

/** What the host inserts into an answer between two of the model's tokens. */
export interface Steering {
  /** Tokens of the answer before interject() has to be called; the number may decrease at any time. */
  readonly freeUntil: number;
  /** The next tokens, as if the model had sampled them. Afterwards `freeUntil` exceeds the tokens so far. */
  interject(): readonly number[];
}

/** A request for one sequence. An error thrown by a callback ends this sequence alone. */
export interface SequenceRequest {
  /** At least one token. */
  prompt: readonly PromptItem[];
  sampling: ResolvedSampling;
  /** Most tokens to generate. */
  maxTokens: number;
  /** The factor of each of the model's adapters. Undefined: it has none. */
  adapters?: readonly number[] | undefined;
  /** Undefined: any token may come. */
  constraint?: TokenConstraint;
  /** Whether hooks look at it or change it: all of its prompt runs, and others get none of its blocks. */
  isHooked?: boolean;
  /** Undefined: nothing is added to logits. */
  biases?: Biases | undefined;
  /** Undefined: nothing is inserted. */
  steering?: Steering;
  /** Flags by which another thread aborts it. */
  flags?: readonly CancelFlag[];
  /** Whether others come first: to be admitted, and to keep their blocks. Default false. */
  background?: boolean;
  /** The session of a program that it belongs to. Default: none. */
  session?: RequestSession;
  /** On whose behalf it is made. Default: that of all that do not say it. */
  share?: RequestShare;
  /** Whether accept() wants the logits of each token. */
  wantsLogits?: boolean;
  /**
   * Gives other logits of the next token in the place of the model's, after penalties and biases, from which
   * the device chooses under the mask; with `wantsLogits`. Undefined: the model's own.
   * @param logits [vocabulary] before penalties, biases and masks, not to be changed
   * @param mask the tokens that may come; undefined: all
   */
  process?(
    tokens: readonly number[],
    logits: Float32Array,
    mask?: Uint32Array,
  ): Promise<Float32Array>;
  /**
   * Chooses the next token on the host, after the device; with `wantsLogits`. Undefined: the device chooses.
   * @param drawn the device's choice
   * @param logits [vocabulary] before penalties, biases and masks
   * @param mask the tokens that may come; undefined: all
   */
  choose?(
    drawn: number,
    tokens: readonly number[],
    logits: Float32Array,
    mask?: Uint32Array,
  ): number | Promise<number>;
  /**
   * The first token in which its prompt differs from an earlier one that begins alike: later ones will
   * probably part from it there as well. Default: there is none.
   */
  partsAt?: number | undefined;
  /** Most tokens of a draft, all of which a step checks at once. Default: as many as have paid off. */
  draftTokens?: number;
  /** Called while it waits, with the number of sequences before it, whenever that number changes. */
  wait?(ahead: number): void;
  /**
   * Called once, when the prompt is about to run, with the number of tokens found in the prefix cache,
   * and those of them that were restored from memory or disk.
   */
  begin?(cachedTokens: number, restored: RestoredTokens): void;
  /** Called after each step that reads a part of the prompt, with the number of its tokens read so far. */
  progress?(processedTokens: number): void;
  /** Called after each step, or repeated step, that it took part in. */
  stepped?(step: SequenceStep): void;
  /**
   * Takes a token; false ends the sequence.
   * @param logits [vocabulary] from which it was sampled, before penalties and masks; if they are wanted
   */
  accept(token: number, logits?: Float32Array): boolean;
  /** Called once, after the last token. */
  end(reason: SequenceEnd): void;
}

/** A step, or several that were submitted as one, as one of its sequences sees it. */
export interface SequenceStep {
  /** When it was submitted and when it was read, on the clock of performance.now(). */
  readonly began: number;
  readonly ended: number;
  /** Whether it read the prompt. */
  readonly prefill: boolean;
  readonly steps: number;
  /** Rows of the sequence in all of them. */
  readonly tokens: number;
  /** Sequences that shared it. */
  readonly sequences: number;
}

/** Tokens of a prompt whose keys and values were restored to the device. */
export interface RestoredTokens {
  readonly fromMemory: number;
  readonly fromDisk: number;
}

/** What a sequence holds of a model's memory. The pool that gave it changes it, nobody else. */
export interface HeldMemory {
  /** Slot in the step buffers while it runs; -1: it holds nothing. */
  readonly slot: number;
  /** KV blocks, in order of position. */
  readonly blocks: readonly number[];
  /** How many of the first blocks are full and in the prefix cache, so that they are read-only. */
  readonly knownBlocks: number;
  /** Tokens that were restored for it when it was admitted. */
  readonly restored: RestoredTokens;
  /** Whether a draft is under way: only when its tokens are read it is known what was right. */
  readonly isDrafting: boolean;
}

/** The memory of a sequence that holds none. */
export const NO_MEMORY: HeldMemory = {
  slot: -1,
  blocks: [],
  knownBlocks: 0,
  restored: { fromMemory: 0, fromDisk: 0 },
  isDrafting: false,
};

/** A sequence: its request, its tokens, and how far the device is with them. */
export class Sequence {
  readonly request: SequenceRequest;
  /** The prompt and the generated tokens that were read back; see tokensOf() for rows of images. */
  readonly tokens: readonly number[];
  readonly runs: PromptRuns;
  /** On whose behalf it is made, "" for nobody's in particular, and the weight of that. */
  readonly share: Readonly<Required<RequestShare>>;
  readonly promptLength: number;
  /** Its drafts, whose owner is Drafts. */
  readonly drafts: SequenceDrafts;
  readonly #tokens: number[];
  #memory = NO_MEMORY;
  #submitted = 0;
  #decoding = false;
  #underWay = 0;
  #isPrivate: boolean;
  #isAborted = false;
  #ended = false;

  constructor(request: SequenceRequest) {
    this.request = request;
    this.#isPrivate = this.isHooked;
    const { id = "", weight = 1 } = request.share ?? {};
    this.share = { id, weight };
    this.#tokens = tokensOf(request.prompt);
    this.tokens = this.#tokens;
    this.runs = new PromptRuns(request.prompt);
    this.promptLength = this.tokens.length;
    this.drafts = new SequenceDrafts(request.draftTokens);
  }

  /** What it holds of the model's memory, whose owner is SequencePool. */
  get memory(): HeldMemory {
    return this.#memory;
  }

  /** Positions submitted to the device, whether they have run yet or not. */
  get submitted(): number {
    return this.#submitted;
  }

  /** Whether all known tokens are submitted, so that the next one comes from the device. */
  get decoding(): boolean {
    return this.#decoding;
  }

  /** Submits that are running and will give it tokens. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Whether no other sequence may use its blocks, as where it ran while steps were tapped. */
  get isPrivate(): boolean {
    return this.#isPrivate;
  }

  /** Whether hooks look at it or change it. */
  get isHooked(): boolean {
    return this.request.isHooked ?? false;
  }

  /** Whether others come first. */
  get isBehind(): boolean {
    return this.request.background ?? false;
  }

  /** The session beside whose main conversation it stands; undefined if it stands beside none. */
  get besideSession(): string | undefined {
    return this.request.session?.isBeside ? this.#sessionKey : undefined;
  }

  /** The session whose main conversation it is of; undefined if it is of none. */
  get mainOfSession(): string | undefined {
    return this.request.session?.isBeside || this.isBehind ? undefined : this.#sessionKey;
  }

  /** Tells its session from others, also from those of the same id that belong to somebody else. */
  get #sessionKey(): string | undefined {
    const { session } = this.request;
    return session && `${this.share.id} ${session.id}`;
  }

  /** Whether it is over: it holds nothing, and no token of it is taken any more. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Tokens generated so far. */
  get generated(): number {
    return this.tokens.length - this.promptLength;
  }

  /** Known tokens that are yet to be submitted. */
  get unfed(): number {
    return this.#decoding ? 0 : this.tokens.length - this.#submitted;
  }

  /** Whether the host has to do something for each token: make a mask, change biases, or read logits. */
  get isStepwise(): boolean {
    return this.isSteered || (this.request.wantsLogits ?? false);
  }

  /** Whether what may come next follows from the token before, which the host has to know. */
  get isSteered(): boolean {
    const { constraint, biases, process, choose } = this.request;
    const isHosts = process !== undefined || choose !== undefined;
    return isHosts || constraint !== undefined || (biases?.areChanging ?? false);
  }

  /** Whether the next step gives it a token for one row. */
  get isAtEnd(): boolean {
    return this.#decoding || this.unfed === 1;
  }

  /** Whether it was cancelled; other threads may set its flags at any time. */
  get isCancelled(): boolean {
    return this.#isAborted || (this.request.flags ?? []).some(({ isSet }) => isSet);
  }

  /** Appends tokens. Those that the device has not sampled are fed after feedFrom(). */
  append(...tokens: readonly number[]): void {
    this.#tokens.push(...tokens);
  }

  /** Drops the tokens after the first `length`, none of which may be submitted. */
  truncate(length: number): void {
    this.#tokens.length = length;
  }

  /** Counts positions as submitted. */
  advance(positions: number): void {
    this.#submitted += positions;
  }

  /** Lets the next steps feed what the device sampled in the last one. */
  decode(): void {
    this.#decoding = true;
  }

  /** Lets the next steps feed its known tokens from a position on: what is before it is in its memory. */
  feedFrom(position: number): void {
    this.#submitted = position;
    this.#decoding = false;
  }

  /** A submit that will give it tokens begins. */
  beginSubmit(): void {
    this.#underWay++;
  }

  /** The tokens of a submit were read. */
  endSubmit(): void {
    this.#underWay--;
  }

  /** Sets what it holds from now on. @param memory changes with what its pool does */
  hold(memory: HeldMemory): void {
    this.#memory = memory;
  }

  /** Keeps its blocks from other sequences from now on. */
  keepPrivate(): void {
    this.#isPrivate = true;
  }

  /** Lets it end before the next step, because nobody waits for it any more. */
  abort(): void {
    this.#isAborted = true;
  }

  /** Marks it as over. */
  end(): void {
    this.#ended = true;
  }

  /** The result of a callback of its request; undefined if it throws, and `end` is given the reason. */
  attempt<T>(
    action: (request: SequenceRequest) => T,
    end: (reason: SequenceEnd) => void,
  ): T | undefined {
    const { request } = this;
    try {
      return cancellable(request.flags ?? [], () => action(request));
    } catch (error) {
      end(error instanceof CancelledError ? "aborted" : { error });
      return undefined;
    }
  }

  /** As attempt(), of an action that may wait; only its beginning runs with the flags of the request. */
  async attemptAsync<T>(
    action: (request: SequenceRequest) => T | Promise<T>,
    end: (reason: SequenceEnd) => void,
  ): Promise<T | undefined> {
    try {
      return await this.attempt(action, end);
    } catch (error) {
      end(this.isCancelled ? "aborted" : { error });
      return undefined;
    }
  }

  /** Keys of the tokens from `first` to `end`, for the prefix cache. */
  keys(first: number, end: number): readonly TokenKey[] {
    const keys = this.runs.keysOf(this.tokens.slice(first, end), first);
    return first > 0 ? keys : withAdapters(keys, this.request.adapters);
  }

  /** Most tokens, the prompt included, given the window. */
  limit(context: number): number {
    return Math.min(context, this.promptLength + this.request.maxTokens);
  }

  /** Most tokens before the host has to steer it. */
  freeLimit(context: number): number {
    const { freeUntil = Infinity } = this.request.steering ?? {};
    return Math.min(this.limit(context), this.promptLength + Math.max(1, freeUntil));
  }
}

/**
 * Keys of a text from its first token on. That token's names the adapters, on which all keys and values
 * depend: a block is found by those before it.
 */
export function withAdapters(
  keys: readonly TokenKey[],
  adapters: readonly number[] = [],
): readonly TokenKey[] {
  const [start, ...rest] = keys;
  if (start === undefined || adapters.every((scale) => scale === 0)) return keys;
  return [`${start} with adapters ${adapters.join(" ")}`, ...rest];
}
