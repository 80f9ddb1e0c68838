// The drafts of one sequence: what they are taken from, how long they are, and how many of their tokens
// were right. Tokens that occurred earlier in its own text go first, while they pay; else those count
// that a drafter proposed.

import { MEDIA_TOKEN } from "../../kernels/mod.ts";
import type { DraftLength } from "./draft_length.ts";
import { PromptLookup } from "./prompt_lookup.ts";

/** A drafter's draft after a number of tokens of a sequence. */
export interface Proposal {
  readonly after: number;
  readonly tokens: readonly number[];
}

/** The drafts of a sequence. Drafts owns them; a drafter proposes tokens, or declines. */
export class SequenceDrafts {
  readonly #most: number;
  readonly #lookup = new PromptLookup();
  #length: DraftLength | undefined;
  #proposal: Proposal | undefined;
  /** Whether the last draft was the drafter's. */
  #isProposed = false;
  #drafted = 0;
  #accepted = 0;

  /** @param most tokens of a draft that the request allows */
  constructor(most: number = Infinity) {
    this.#most = most;
  }

  /** The length of drafts by a drafter; undefined if it makes none for this sequence. */
  get length(): DraftLength | undefined {
    return this.#length;
  }

  /** The drafter's last draft, and the number of tokens before it. */
  get proposal(): Proposal | undefined {
    return this.#proposal;
  }

  /** Number of tokens of all drafts that were checked. */
  get drafted(): number {
    return this.#drafted;
  }

  /** Number of those that were right. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Lets a drafter draft for the sequence. */
  admit(length: DraftLength): void {
    this.#length = length;
  }

  /** Ends the drafts of the drafter, which cannot follow the sequence. */
  decline(): void {
    this.#length = undefined;
  }

  /** Takes the drafter's draft after this number of tokens. */
  propose(after: number, tokens: readonly number[]): void {
    this.#proposal = { after, tokens };
  }

  /** The draft from the sequence's own text after its tokens, at most `most`. */
  fromText(tokens: readonly number[], most: number): readonly number[] {
    return this.#lookup.draft(tokens, most);
  }

  /** Whether there is a draft after these tokens of the sequence, or will be one after the next. */
  isExpected(tokens: readonly number[]): boolean {
    return this.#find(tokens, 1).tokens.length > 0 ||
      (this.#length?.at(tokens.length + 1) ?? 0) > 0;
  }

  /** The draft that the next step checks, at most `most` tokens. */
  next(tokens: readonly number[], most: number): readonly number[] {
    const found = this.#find(tokens, most);
    this.#isProposed = found.isProposed;
    return found.tokens;
  }

  #find(
    tokens: readonly number[],
    most: number,
  ): { tokens: readonly number[]; isProposed: boolean } {
    const count = Math.min(most, this.#most);
    if (count <= 0) return { tokens: [], isProposed: false };
    const found = this.fromText(tokens, count);
    if (found.length === 0 && this.#proposal?.after === tokens.length) {
      return { tokens: this.#proposal.tokens.slice(0, count), isProposed: true };
    }
    const image = found.findIndex((token) => token >= MEDIA_TOKEN);
    return { tokens: image < 0 ? found : found.slice(0, image), isProposed: false };
  }

  /** Counts the tokens of a draft, and those of them that were right. */
  count(drafted: number, accepted: number): void {
    this.#drafted += drafted;
    this.#accepted += accepted;
  }

  /**
   * Learns from the last draft of next() how long the next ones should be.
   *
   * @param tokens those of the sequence after it was checked
   * @param rowCost time that a row of a draft adds to a step, as a share of a step without drafts
   */
  learn(
    tokens: readonly number[],
    drafted: number,
    accepted: number,
    rowCost: number,
  ): void {
    if (this.#isProposed) this.#length?.learn(tokens.length, drafted, accepted);
    else this.#lookup.learn(tokens, drafted, accepted, rowCost);
  }
}
