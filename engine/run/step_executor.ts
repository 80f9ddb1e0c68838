// Where scheduling meets computing: what the scheduler, its pool and evaluations ask of whatever runs
// steps. StepRunner does so on a device; tests do it without one.

import type { ResolvedSampling } from "../../kernels/mod.ts";
import type { OutputKind, StepLimits } from "../nn/mod.ts";
import type { Sampled, StepPlan } from "./step_plan.ts";

/** A model's steps, the slots of its sequences and what these remember. */
export interface StepExecutor {
  /** The most that steps have room for. */
  readonly limits: StepLimits;
  /** Most consecutive rows of one sequence in a query tile. */
  readonly tileRows: number;
  /** Whether an image has to run in one step. */
  readonly wholeImages: boolean;
  /** Whether the model keeps states that cannot go back. */
  readonly hasStates: boolean;
  /** Rows for copies of the states of one sequence; 0 where it has none. */
  readonly stateCopies: number;
  /** Whether steps are watched: then one has to be over before the next is submitted. */
  readonly isObserved: boolean;
  /** Whether what steps compute may be changed, so that it is no other sequence's to use. */
  readonly isTapped: boolean;
  /** Positions in a block of the KV cache. */
  readonly blockSize: number;
  /** Blocks that `positions` positions need. */
  blocksFor(positions: number): number;

  /** Gives a slot to a sequence: how its tokens are chosen. */
  assignSlot(slot: number, sampling: ResolvedSampling): void;
  /** Says that blocks `first`, `first + 1`, ... of a slot's sequence are these. */
  assignBlocks(slot: number, first: number, blocks: readonly number[]): void;
  /** Notes the first tokens of a slot's sequence, which no step will: penalties see them. */
  writeHistory(slot: number, tokens: readonly number[]): void;
  /** Copies what a slot remembers, its states and history, and the blocks `from` to those of `to`. */
  copySequence(slot: number, target: number, from: readonly number[], to: readonly number[]): void;
  /** Copies a slot's states, as they are after all that was submitted, to a row of copies. */
  saveStates(slot: number, row: number): void;
  /** Copies a row of copies to a slot: its sequence goes on from there. */
  restoreStates(row: number, slot: number): void;

  /**
   * Submits a plan `repeats` times over: each repeat decodes one more token of every output.
   * Call the result once, before the next-but-one submit.
   *
   * @param isUnwanted whether nobody wants the step any more: then the rest may be left out
   */
  submit(plan: StepPlan, repeats: number, isUnwanted?: () => boolean): () => Promise<Sampled>;
  /** Submits a plan without the choice of tokens; sample() is to follow. */
  forward(plan: StepPlan): void;
  /**
   * Submits the choice of tokens for the plan that forward() was called with. The result resolves
   * at once when the device is done.
   *
   * @param masks by slot, for those whose sampling is masked
   * @param wanted slots whose logits are wanted too
   * @param isUnwanted as of submit()
   */
  sample(
    plan: StepPlan,
    masks: ReadonlyMap<number, Uint32Array<ArrayBuffer>>,
    wanted: ReadonlySet<number>,
    isUnwanted?: () => boolean,
  ): () => Promise<Sampled>;
  /** Runs a plan and reads an output of it: [outputs, columns]. Nothing else may be under way. */
  evaluate(plan: StepPlan, output: OutputKind): Promise<Float32Array>;
}
