// The interface between scheduling and computing: what the scheduler, its pool and evaluations need to
// run steps. StepRunner implements it on a device, and tests do without one.

import type { ResolvedSampling, TokenBias } from "../../kernels/mod.ts";
import type { OutputKind, StepLimits } from "../nn/mod.ts";
import type { StoredBlock } from "../block_store/mod.ts";
import type { Sampled, StepPlan } from "./step_plan.ts";

/** The memory of running sequences on a device, by their slots. */
export interface SequenceMemory {
  /** Whether the model has recurrent states, which cannot be truncated. */
  readonly hasStates: boolean;
  /** Rows for copies of the states of one sequence; 0 where it has none. */
  readonly stateCopies: number;

  /** Sets the blocks `first`, `first + 1`, ... of a slot's sequence. */
  assignBlocks(slot: number, first: number, blocks: readonly number[]): void;
  /** Writes the first tokens of a slot's sequence into its history for penalties; no step feeds them. */
  writeHistory(slot: number, tokens: readonly number[]): void;
  /** Copies the states and the history of a slot, and the blocks `from` to the blocks `to`. */
  copySequence(slot: number, target: number, from: readonly number[], to: readonly number[]): void;
  /** Copies a slot's states, as they are after all that was submitted, to a row of copies. */
  saveStates(slot: number, row: number): void;
  /** Restores a copy to a slot, whose sequence continues from these states. */
  restoreStates(row: number, slot: number): void;
}

/** A block to read, and the row with the copy of the states after it, if there is one. */
export interface BlockRequest {
  readonly block: number;
  readonly row?: number | undefined;
}

/** Blocks of the KV cache, and copies of states, on their way between the device and the host. */
export interface DeviceBlocks {
  /** Most blocks that are read at a time. */
  readonly batch: number;
  /** Bytes of a block in all layers. */
  readonly blockBytes: number;
  /** Bytes of a row of copies of states. */
  readonly stateBytes: number;
  /** Reads blocks, and rows of copies, as they are after all that was submitted. One call at a time. */
  read(requests: readonly BlockRequest[]): Promise<StoredBlock[]>;
  /** Writes a block, for what is submitted from now on. */
  writeBlock(block: number, bytes: Uint8Array<ArrayBufferLike>): void;
  /** Writes a row of copies of states. */
  writeStates(row: number, bytes: Uint8Array<ArrayBufferLike>): void;
}

/** What is changed of a step before its tokens are chosen again, by output. */
export interface ChangedOutputs {
  readonly masks?: ReadonlyMap<number, Uint32Array<ArrayBuffer>>;
  /** [vocabulary], after penalties and biases. */
  readonly logits?: ReadonlyMap<number, Float32Array>;
}

/** An executor of a model's steps. */
export interface StepExecutor {
  /** The largest numbers of rows, outputs and slots of a step. */
  readonly limits: StepLimits;
  /** Most consecutive rows of one sequence in a query tile. */
  readonly tileRows: number;
  /** Whether rows of an image attend to each other in both directions: an image runs in one step. */
  readonly bidirectionalImages: boolean;
  readonly memory: SequenceMemory;
  /** The transfer of its KV blocks to and from the host. */
  readonly blocks: DeviceBlocks;
  /** Whether steps are traced or tapped; then each has to end before the next is submitted. */
  readonly isObserved: boolean;
  /** Whether taps may change what steps compute of any sequence, so that no other one may use the results. */
  readonly isTapped: boolean;
  /** Whether reading a submit blocks the host's thread while the device works on it. */
  readonly readsBlock: boolean;
  /** Whether a submit returns only when all of it is computed. */
  readonly submitsBlock: boolean;
  /** Positions in a block of the KV cache. */
  readonly blockSize: number;
  /** Number of blocks that hold `positions` positions. */
  blocksFor(positions: number): number;

  /** Sets the sampling of a slot, for the sequence that gets it. */
  assignSlot(slot: number, sampling: ResolvedSampling): void;
  /**
   * Sets what is added to the logits of some tokens of a slot's sequence, for what is submitted from now on;
   * nothing is after assignSlot().
   *
   * @param biases each token once, at most MOST_BIASES; the same list means that nothing changed
   */
  writeBiases(slot: number, biases: readonly TokenBias[]): void;
  /**
   * Submits a plan `repeats` times over: each repeat decodes one more token of every output.
   * Call the result once, between the next submit and the one after that: a device whose reads block
   * gets the next submit from that call. Without a next submit, call it at any time.
   *
   * @param isUnwanted whether all sequences of the step were aborted: then the rest of it may be skipped
   */
  submit(
    plan: StepPlan,
    repeats: number,
    isUnwanted?: () => boolean,
  ): () => Promise<Sampled>;
  /** Submits a plan without the choice of tokens; sample() is to follow. */
  forward(plan: StepPlan): void;
  /**
   * Submits the choice of tokens for the plan that forward() was called with. The result resolves
   * at once when the device is done.
   *
   * @param masks by output, for those of slots whose sampling is masked
   * @param wanted outputs whose logits are wanted too, at most as many as there are slots
   * @param isUnwanted as for submit()
   */
  sample(
    plan: StepPlan,
    masks: ReadonlyMap<number, Uint32Array<ArrayBuffer>>,
    wanted: ReadonlySet<number>,
    isUnwanted?: () => boolean,
  ): () => Promise<Sampled>;
  /**
   * Chooses the tokens of the last step again, for some outputs under other masks or from other logits;
   * the others get the same tokens again. Its tokens must have been read, and nothing submitted since.
   *
   * @returns the tokens of all outputs
   */
  resample(plan: StepPlan, changed: ChangedOutputs): Promise<Uint32Array>;
  /**
   * Records the step that probably follows the last one that sample() was called with: the device has
   * nothing to do from the end of that until the host has read the token and submitted the next one. To be
   * called before the read, as late as may be.
   */
  prepareNext(): void;
  /**
   * Runs a plan and reads an output of it: [outputs, columns]. No other step may be running.
   *
   * @param isUnwanted called while it runs; if it returns true, the rest is skipped and the output is
   *   without meaning
   */
  evaluate(
    plan: StepPlan,
    output: OutputKind,
    isUnwanted?: () => boolean,
  ): Promise<Float32Array>;
}
