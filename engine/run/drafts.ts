// Speculative decoding (Leviathan et al. 2023): where the drafts of sequences come from, how long they
// are, and which of their tokens count. A draft is fed as rows of a step, which samples after each of
// them (steps.ts). So drafts change how fast an answer comes, never what it says.

import { DraftCost, DraftLength } from "./draft_length.ts";
import type { Drafter } from "./model_drafter.ts";
import type { Chunk } from "./planner.ts";
import type { Sequence, SequenceEnd, TokenConstraint } from "./sequence.ts";
import type { SequencePool } from "./sequence_pool.ts";
import type { StepExecutor } from "./step_executor.ts";

/** What drafts need of a model. */
export interface DraftsOptions {
  readonly executor: StepExecutor;
  readonly pool: SequencePool;
  /** Ends a sequence whose constraint fails. */
  end(sequence: Sequence, reason: SequenceEnd): void;
  /** Drafts where the text of a sequence repeats nothing. Missing: nothing does. */
  readonly drafter?: Drafter | undefined;
}

/** The drafts of all sequences of a model. */
export class Drafts {
  readonly #executor: StepExecutor;
  readonly #pool: SequencePool;
  readonly #end: DraftsOptions["end"];
  readonly #drafter: Drafter | undefined;
  readonly #cost = new DraftCost();

  constructor({ executor, pool, end, drafter }: DraftsOptions) {
    this.#executor = executor;
    this.#pool = pool;
    this.#end = end;
    this.#drafter = drafter;
  }

  /** Prepares a new sequence for the drafts of the drafter. */
  add(sequence: Sequence): void {
    const { draftTokens } = sequence.request;
    if (!this.#drafter || draftTokens === 0) return;
    sequence.drafts.admit(new DraftLength(() => this.#cost.withModel, draftTokens));
  }

  /** Drops what the drafter keeps for a sequence that gives back its memory. */
  release(sequence: Sequence): void {
    this.#drafter?.release(sequence);
  }

  /** Lets the drafter make its drafts for the next step. */
  async prepare(running: readonly Sequence[]): Promise<void> {
    if (!this.#drafter || this.#executor.isObserved) return;
    const { steps, milliseconds } = await this.#drafter.prepare(running);
    this.#cost.measureDrafting(steps, milliseconds);
  }

  /** Whether the next token of a sequence has to be read for a draft, before another step can be made. */
  awaitsToken({ tokens, memory, drafts }: Sequence): boolean {
    return memory.isDrafting || drafts.isExpected(tokens);
  }

  /**
   * The draft of a sequence for the next step, if the host knows all its tokens so far.
   *
   * @param budget most tokens
   * @param readers sequences of the step whose logits are read, which share the slots
   */
  of(sequence: Sequence, budget: number, readers: number): readonly number[] {
    if (sequence.underWay > 0 || this.#executor.isObserved) return [];
    const { submitted, request: { constraint, wantsLogits } } = sequence;
    const { slots, context } = this.#executor.limits;
    const left = sequence.freeLimit(context) - sequence.tokens.length - 1;
    // Where states are copied after a step, they must not contain tokens that may be wrong.
    const before = this.#pool.stop(sequence) - submitted - Math.max(1, sequence.unfed) - 1;
    const readable = wantsLogits ? Math.floor(slots / readers) - 1 : Infinity;
    const most = Math.min(budget, left, before, readable);
    const guess = sequence.drafts.next(sequence.tokens, most);
    if (!constraint || guess.length === 0) return guess;
    const walk = () => alongConstraint(constraint, guess, { most, left, forces: !wantsLogits });
    return sequence.attempt(walk, (reason) => this.#end(sequence, reason)) ?? [];
  }

  /** Takes memory for the draft of a chunk, or drops the draft: no sequence is preempted for it. */
  reserve(chunk: Chunk): void {
    const { sequence, count, draft } = chunk;
    if (draft.length === 0) return;
    const fits = this.#pool.grow(sequence, sequence.submitted + count);
    if (fits && this.#pool.beginDraft(sequence)) return;
    chunk.draft = [];
    chunk.count -= draft.length;
  }

  /**
   * Takes the tokens of a draft's rows as far as the draft was right, and the one after. Each was
   * chosen as it would have been without a draft: from the same logits and the same mask, for the same
   * position. Taking a token may append forced ones, too; rows of those give tokens without use.
   *
   * @param firstOutput the output of the step that belongs to the first row
   * @param takeOutput takes the token of an output
   */
  async verify(
    { sequence, draft, reliable = draft.length + 1 }: Chunk,
    firstOutput: number,
    takeOutput: (output: number) => Promise<void>,
  ): Promise<void> {
    if (sequence.ended) return;
    const { tokens, drafts } = sequence;
    const known = tokens.length;
    let accepted = 0;
    const isOver = () => sequence.ended || sequence.isCancelled || accepted >= reliable;
    while (!isOver() && accepted === tokens.length - known) {
      await takeOutput(firstOutput + accepted);
      while (known + accepted < tokens.length && tokens[known + accepted] === draft[accepted]) {
        accepted++;
      }
    }
    drafts.count(draft.length, accepted);
    if (sequence.ended) return;
    drafts.learn(tokens, draft.length, accepted, this.#cost.ofRow);
    // What was right of the draft stays; the last token has to run, for what follows it.
    this.#pool.endDraft(sequence, Math.min(known + accepted, tokens.length - 1));
  }

  /**
   * Gives the drafter the hidden states of a submit whose drafts were verified: of those rows that were
   * right.
   *
   * @param states [repeats, rows, width]
   */
  observe(chunks: readonly Chunk[], repeats: number, states: Float32Array): void {
    const rows = chunks.reduce((sum, { count }) => sum + count, 0);
    const width = states.length / (rows * repeats);
    let row = 0;
    for (let i = 0; i < repeats; i++) {
      for (const { sequence, count, draft, end = 0 } of chunks) {
        const first = end - count + i;
        const right = draft.length > 0
          ? Math.max(0, Math.min(count, sequence.submitted - first))
          : count;
        const from = row * width;
        this.#drafter?.observe?.(sequence, first, states.subarray(from, from + right * width));
        row += count;
      }
    }
  }

  /**
   * Notes the time of a submit that fed no prompt and is over now.
   *
   * @param chunks its sequences with their drafts
   * @param began when it was made, and `ended` when it was over, in milliseconds
   */
  measure(chunks: readonly Chunk[], repeats: number, began: number, ended: number): void {
    const drafted = chunks.reduce((sum, { draft }) => sum + draft.length, 0);
    this.#cost.measure(drafted, repeats, began, ended);
  }
}

/**
 * The tokens of a guess that a constraint allows, each followed by those that it forces.
 *
 * @param most tokens of the draft
 * @param left tokens that may still come besides one
 * @param forces whether forced tokens are part of the draft
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
