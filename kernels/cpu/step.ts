// Writes a step into the control block that threads share: a list of phases, each a list of operations
// that are independent of each other. share.ts reads it.

import { MAXIMUM_OPERATIONS, NEXT_ITEM, OPERATION_WORDS, OPERATIONS, Word } from "./control.ts";
import { mostItems, ownedItems } from "./share.ts";

/** A kernel by its number, and its arguments by their address in the working memory. */
export interface LinkedKernel {
  readonly kernel: number;
  readonly record: number;
  /** Items of it for each item of the operation. Default 1. */
  readonly per?: number | undefined;
  /** A kernel that a thread runs next for the same items. */
  readonly then?: LinkedKernel | undefined;
}

/** A kernel over items of a step. */
export interface PoolOperation extends LinkedKernel {
  /** Number of items: rows, or bands of a matrix. */
  readonly items: number;
  /** Most items that are taken at once; by default so many that every thread takes about eight times. */
  readonly most?: number | undefined;
  /** Items are taken by multiples of this number, but at the end. Default 1. */
  readonly multiple?: number | undefined;
  /** Whether it is over so soon that waiting for the counter counts. */
  readonly isBrief?: boolean | undefined;
}

/** A step that was built, to be built again. */
export interface BuiltStep {
  /** The words of its operations. */
  readonly words: Int32Array;
  readonly phases: number;
  /** The number of threads that it was built for: what they own depends on it. */
  readonly threads: number;
}

/** Kernels of an operation at most. */
const MOST_LINKED = 8;

/** Builds one step after the other in a control block. */
export class StepWriter {
  readonly #control: Int32Array;
  /** The place of the next operation, and the index of its phase. */
  #end = OPERATIONS;
  #phase = 0;
  /** Whether the phase has no operation so far. */
  #isEmpty = true;
  /** The kept step whose operations are still written. */
  #written: BuiltStep | undefined;

  constructor(control: Int32Array) {
    this.#control = control;
  }

  /** Number of operations of the step that is being built. */
  get operations(): number {
    return (this.#end - OPERATIONS) / OPERATION_WORDS;
  }

  /** Whether the step has room for another operation with all that may follow it. */
  get hasRoom(): boolean {
    return this.operations + MOST_LINKED < MAXIMUM_OPERATIONS;
  }

  /** Adds an operation to the phase that is being built, for a number of threads. */
  add(operation: PoolOperation, threads: number): void {
    if (!this.hasRoom) {
      throw new RangeError(`Cannot run a step of more than ${MAXIMUM_OPERATIONS} operations`);
    }
    const { items, most, isBrief = false, multiple = 1 } = operation;
    const control = this.#control;
    const at = this.#end;
    this.#overwrite(at);
    let end = at;
    for (let link: LinkedKernel | undefined = operation; link; link = link.then) {
      control[end] = link.kernel;
      control[end + 1] = link.record;
      control[end + 7] = link.per ?? 1;
      end += OPERATION_WORDS;
    }
    const owned = ownedItems({ items, threads, multiple, isBrief });
    control[at + 2] = items;
    control[at + 3] = most ?? mostItems(items, threads, multiple);
    control[at + 4] = control[at + NEXT_ITEM] = owned;
    control[at + 5] = this.#phase;
    control[at + 6] = (end - at) / OPERATION_WORDS - 1;
    control[at + 8] = owned;
    // Of few items some threads would have a whole multiple, and others nothing.
    control[at + 9] = owned === items ? 1 : multiple;
    this.#end = end;
    this.#isEmpty = false;
  }

  /** Ends a phase: operations that are added from now on wait for all earlier ones. */
  endPhase(): void {
    this.#isEmpty = true;
    this.#phase++;
  }

  /**
   * Ends a phase and keeps the step so far, to be built again().
   *
   * @param moved bytes by which the arguments of its operations were moved
   */
  keep(moved: number, threads: number): BuiltStep {
    if (!this.#isEmpty) this.endPhase();
    const control = this.#control;
    for (let at = OPERATIONS; at < this.#end; at += OPERATION_WORDS) control[at + 1] += moved;
    const words = control.slice(OPERATIONS, this.#end);
    return this.#written = { words, phases: this.#phase, threads };
  }

  /** Begins a step with one that was kept; false if it was for another number of threads. */
  again(step: BuiltStep, threads: number): boolean {
    if (this.operations > 0 || step.threads !== threads) return false;
    this.#end = OPERATIONS + step.words.length;
    this.#phase = step.phases;
    if (this.#written !== step) this.#write(step);
    return true;
  }

  #write(step: BuiltStep): void {
    const control = this.#control;
    control.set(step.words, OPERATIONS);
    for (let at = OPERATIONS; at < this.#end; at += OPERATION_WORDS) {
      control[at + NEXT_ITEM] = control[at + 4]!;
    }
    this.#written = step;
  }

  #overwrite(place: number): void {
    const step = this.#written;
    if (step && place < OPERATIONS + step.words.length) this.#written = undefined;
  }

  /** Drops the step that is being built. */
  clear(): void {
    this.#end = OPERATIONS;
    this.#phase = 0;
    this.#isEmpty = true;
  }

  /** Completes the step, so that threads may begin it. Returns where its operations end. */
  finish(): number {
    const control = this.#control;
    this.#overwrite(this.#end);
    control[this.#end + 5] = -1; // No phase: the end of the operations.
    if (!this.#isEmpty) this.endPhase();
    control[Word.Phases] = Math.max(1, this.#phase); // One, so that all take part.
    const end = this.#end;
    this.clear();
    return end;
  }
}
