// One sequence of tokens in the scheduler: its tokens, how many of them were fed to the model, and the
// slot and KV blocks that it holds.

import { IMAGE_TOKEN, type ResolvedSampling } from "../../kernels/mod.ts";
import { type CancelFlag, cancellable, CancelledError } from "../cancellation.ts";
import type { StoredBlock } from "../block_store/mod.ts";
import type { DraftLength, Proposal } from "./draft_length.ts";
import { PromptLookup } from "./prompt_lookup.ts";
import { type PromptItem, PromptRuns, type TokenKey, tokensOf } from "../prompt/mod.ts";

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
  /** Undefined: any token may come. */
  constraint?: TokenConstraint;
  /** Undefined: nothing is inserted. */
  steering?: Steering;
  /** Flags by which another thread aborts it. */
  flags?: readonly CancelFlag[];
  /** Whether accept() wants the logits of each token. */
  wantsLogits?: boolean;
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
  /**
   * Takes a token; false ends the sequence.
   * @param logits [vocabulary] from which it was sampled, before penalties and masks; if they are wanted
   */
  accept(token: number, logits?: Float32Array): boolean;
  /** Called once, after the last token. */
  end(reason: SequenceEnd): void;
}

/** Tokens of a prompt whose keys and values were restored to the device. */
export interface RestoredTokens {
  readonly fromMemory: number;
  readonly fromDisk: number;
}

/** A copy of states whose block is not in the prefix cache yet. */
export interface Checkpoint {
  row: number;
  /** Tokens that the states are of; a multiple of the block size. */
  position: number;
  /** Whether it is one of those at even distances in a long prompt, not at its end. */
  isSpaced: boolean;
}

/** A sequence and what it holds of the model's memory. Only the scheduler and its pool change the fields. */
export class Sequence {
  /** The prompt and the generated tokens that were read back; see tokensOf() for rows of images. */
  readonly tokens: number[];
  readonly runs: PromptRuns;
  readonly promptLength: number;
  /** Positions submitted to the device, whether they have run yet or not. */
  submitted = 0;
  /** Whether all known tokens are submitted, so that the next one comes from the GPU. */
  decoding = false;
  /** Submits that are running and will give it tokens. */
  underWay = 0;
  /** Slot in the step buffers while it runs. */
  slot = -1;
  /** KV blocks, in order of position. */
  blocks: number[] = [];
  /** How many of the first blocks are full and in the prefix cache, so that they are read-only. */
  knownBlocks = 0;
  /** Drafts from the sequence's own text. */
  readonly lookup = new PromptLookup();
  /** The length of drafts by a drafter; undefined if it makes none for this sequence. */
  draftLength: DraftLength | undefined;
  /** The last draft of the drafter. */
  proposal: Proposal | undefined;
  /** Whether the draft under way is the drafter's. */
  isProposed = false;
  /** Whether a draft is under way: only when its tokens are read it is known what was right. */
  isDrafting = false;
  /** The copy of its states before a draft, and the positions submitted then. */
  beforeDraft: { row: number; position: number } | undefined;
  /** Number of tokens of all its drafts, and of those that were right. */
  drafted = 0;
  draftsAccepted = 0;
  /** Copies of its states whose blocks are not in the prefix cache yet. */
  checkpoints: Checkpoint[] = [];
  /** The block of its last copy, and those of the last two that were made in its answer. */
  lastCheckpoint: number | undefined;
  answerCheckpoints: number[] = [];
  /** Whether no other sequence may use its blocks, as where it ran while steps were tapped. */
  isPrivate = false;
  /** Blocks that were read from disk for it, by name; undefined until that is tried. */
  fetched: Map<string, StoredBlock> | undefined;
  /** Tokens that were restored for it when it was admitted. */
  restored: RestoredTokens = { fromMemory: 0, fromDisk: 0 };
  /** Set by the owner; takes effect before the next step. */
  aborted = false;
  /** Whether it has been admitted before. */
  begun = false;
  /** The last message about the number of sequences before it, and its time. */
  told: { ahead: number; at: number } | undefined;
  ended = false;

  constructor(readonly request: SequenceRequest) {
    this.tokens = tokensOf(request.prompt);
    this.runs = new PromptRuns(request.prompt);
    this.promptLength = this.tokens.length;
  }

  /** Tokens generated so far. */
  get generated(): number {
    return this.tokens.length - this.promptLength;
  }

  /** Known tokens that are yet to be submitted. */
  get unfed(): number {
    return this.decoding ? 0 : this.tokens.length - this.submitted;
  }

  /** Whether the host has to do something for each token: make a mask, or read logits. */
  get isStepwise(): boolean {
    return this.request.constraint !== undefined || (this.request.wantsLogits ?? false);
  }

  /** Whether the host has to read its next token before another step can be made. */
  get awaitsToken(): boolean {
    if (!this.decoding || this.underWay === 0) return false;
    const { constraint } = this.request;
    if (constraint || this.isDrafting || this.draft(1).length > 0) return true;
    return (this.draftLength?.at(this.tokens.length + 1) ?? 0) > 0;
  }

  /** Whether the next step gives it a token for one row. */
  get isAtEnd(): boolean {
    return this.decoding || this.unfed === 1;
  }

  /** The draft after its tokens, at most `most`: from its own text, or else the drafter's. */
  draft(most: number): readonly number[] {
    const count = Math.min(most, this.request.draftTokens ?? Infinity);
    if (count <= 0) return [];
    const found = this.lookup.draft(this.tokens, count);
    this.isProposed = found.length === 0 && this.proposal?.after === this.tokens.length;
    if (this.isProposed) return this.proposal!.tokens.slice(0, count);
    const image = found.findIndex((token) => token >= IMAGE_TOKEN);
    return image < 0 ? found : found.slice(0, image);
  }

  /** Whether it was cancelled; other threads may set its flags at any time. */
  get isCancelled(): boolean {
    return this.aborted || (this.request.flags ?? []).some(({ isSet }) => isSet);
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

  /** Keys of the tokens from `first` to `end`, for the prefix cache. */
  keys(first: number, end: number): readonly TokenKey[] {
    return this.runs.keysOf(this.tokens.slice(first, end), first);
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
