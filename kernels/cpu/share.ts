// A thread's part of a step: it takes items of each operation until none are left, and continues
// with the next phase when all threads have finished this one. The pool's host and its workers run
// the same code.

import {
  arrive,
  GROUP_THREADS,
  LINE,
  NEXT_ITEM,
  OPERATION_WORDS,
  OPERATIONS,
  PhaseWord,
  release,
  SHARES,
  type SpinWait,
  TAKEN,
  Word,
} from "./control.ts";
import type { Kernel } from "./kernel.ts";
import { WHOLE } from "./thread_shares.ts";

/** About how many times a thread takes items of an operation. */
const TAKES = 8;
/**
 * The rest of an operation is divided into this many takes for each thread, so that takes get
 * smaller towards the end.
 */
const LAST_TAKES = 2;
/**
 * The smallest take is this fraction of a thread's items. Smaller ones would cost more than threads
 * that end at different times.
 */
const LEAST_PART = 64;

/** The part of a brief operation that threads own: of up to eight, and of more, which wait longer for a counter. */
const [LEAST_OWNED, MOST_OWNED] = [1 / 2, 7 / 8];
/**
 * Threads own all of a brief operation that has at most this number of takes for each of them, but not two
 * threads: they seldom wait for the counter, and one that comes late, such as the host, costs more.
 */
const FEW = 4;

/** A thread that takes part in steps. */
export interface Participant {
  readonly control: Int32Array<SharedArrayBuffer>;
  /** Kernels by their numbers. */
  readonly kernels: readonly Kernel[];
  /** Number of threads that take part, and which of them it is. */
  readonly threads: number;
  readonly index: number;
  readonly wait: Pick<SpinWait, "forChange">;
  /** Receives the error of a kernel. */
  fault(error: unknown): void;
  /**
   * Checks whether the step is still wanted: `begun` before each operation, `taken` after items.
   */
  readonly watch?: Watch | undefined;
}

/** What a thread does besides its part of a step. */
export interface Watch {
  readonly interval: number;
  begun(): void;
  taken(): void;
  call(): void;
}

/** Most items that are taken at once, so that threads take several times. */
export function mostItems(items: number, threads: number, multiple = 1): number {
  return Math.max(multiple, floorTo(multiple, items / (TAKES * threads)));
}

function floorTo(multiple: number, value: number): number {
  return multiple * Math.floor(value / multiple);
}

/**
 * Items of an operation that threads own, from the first ones on: each a part of them, by its share.
 * Nobody waits for a counter there, and in every step a thread reads the weights that it has read before.
 * What is left goes to whoever is there first, which makes up for threads that differ.
 */
export function ownedItems(
  { items, threads, multiple = 1, isBrief }: {
    items: number;
    threads: number;
    multiple?: number;
    isBrief: boolean;
  },
): number {
  if (threads === 1 || items <= 1) return 0;
  const isLarge = threads > GROUP_THREADS;
  if (isBrief) {
    if (threads > 2 && items <= FEW * multiple * threads) return items;
    return floorTo(multiple, items * (isLarge ? MOST_OWNED : LEAST_OWNED));
  }
  return isLarge && items <= threads ? items : 0;
}

/**
 * Does a thread's part of the step. Returns when all threads have finished, or for a worker when it
 * has finished itself. Phases of one item are done by the thread that ends the phase before them: the
 * others would wait for it in any case, and need no signal to begin.
 */
export function takeShare(thread: Participant, isHost: boolean): void {
  const { control, threads, index, wait } = thread;
  const phases = Atomics.load(control, Word.Phases);
  const clock = Atomics.load(control, Word.Timed) ? new PhaseClock(control, isHost) : undefined;
  const part: Part = {
    begin: control[SHARES + index]! / WHOLE,
    end: control[SHARES + index + 1]! / WHOLE,
    taken: 0,
  };
  let operation = OPERATIONS;
  let phase = 0;
  while (phase < phases) {
    clock?.begin(operation);
    const began = operation;
    operation = attemptPhase(thread, part, began, phase++, clock);
    // Counted before the phase ends: after its end the host may already write the next step.
    const lone = loneAfter(control, operation, phase);
    const current = Atomics.load(control, Word.Phase);
    const isLast = threads === 1 || arrive(control, index, threads);
    if (isLast) setBack(control, began, operation);
    for (const end = phase + lone; phase < end; phase++) {
      if (isLast) attemptPhase(thread, part, operation, phase, clock, true);
      operation = endOf(control, operation);
    }
    if (threads === 1) continue;
    if (isLast) release(control, Word.Phase);
    else if (isHost || phase < phases) wait.forChange(control, Word.Phase, current, thread.watch);
  }
  clock?.end();
  if (threads > 1) Atomics.add(control, TAKEN + LINE * index, part.taken);
}

/** Where a thread's part of what threads own begins and ends, as fractions, and what it took besides. */
interface Part {
  readonly begin: number;
  readonly end: number;
  /** Items of operations of which threads own the rest: they tell whether its part is too small. */
  taken: number;
}

/** Has the operations of a phase, which no thread is in any more, begin with their first items again. */
function setBack(control: Int32Array, from: number, end: number): void {
  for (let at = from; at < end; at = endOf(control, at)) control[at + NEXT_ITEM] = control[at + 4]!;
}

/** Number of phases of one item that follow each other from an operation on. */
function loneAfter(control: Int32Array, operation: number, phase: number): number {
  let count = 0;
  for (let at = operation; control[at + 5] === phase + count && control[at + 2] === 1; count++) {
    at = endOf(control, at);
    if (control[at + 5] === phase + count) break; // It has another operation.
  }
  return count;
}

/** takePhase(), whose errors end the step. */
function attemptPhase(
  thread: Participant,
  part: Part,
  operation: number,
  phase: number,
  clock: PhaseClock | undefined,
  isLone = false,
): number {
  const { control } = thread;
  const began = clock ? performance.now() : 0;
  let next = operation;
  try {
    next = isLone ? runLone(thread, operation) : takePhase(thread, part, operation, phase);
  } catch (error) {
    thread.fault(error);
    Atomics.add(control, Word.Faults, 1);
    Atomics.store(control, Word.Abort, 1);
    // All threads have to go through the same phases, or they would wait for each other in vain.
    while (control[next + 5] === phase) next = endOf(control, next);
  }
  clock?.worked(operation, performance.now() - began);
  return next;
}

/** Measures the phases of a step: see PhaseWord. */
class PhaseClock {
  readonly #control: Int32Array;
  readonly #isHost: boolean;
  #operation = 0;
  #began = 0;

  constructor(control: Int32Array, isHost: boolean) {
    this.#control = control;
    this.#isHost = isHost;
  }

  begin(operation: number): void {
    if (!this.#isHost) return;
    const now = performance.now();
    if (this.#operation > 0) {
      this.#control[this.#operation + PhaseWord.Whole] += 1e6 * (now - this.#began);
    }
    [this.#operation, this.#began] = [operation, now];
  }

  end(): void {
    this.begin(0);
  }

  worked(operation: number, milliseconds: number): void {
    const [all, longest] = [operation + PhaseWord.All, operation + PhaseWord.Longest];
    const time = Math.round(1e6 * milliseconds);
    Atomics.add(this.#control, all, time);
    let most = Atomics.load(this.#control, longest);
    while (most < time) {
      const found = Atomics.compareExchange(this.#control, longest, most, time);
      most = found === most ? time : found;
    }
  }
}

/** Does the item of a phase that has one. Returns where the next phase begins. */
function runLone(thread: Participant, operation: number): number {
  const { control, watch } = thread;
  watch?.begun();
  if (Atomics.load(control, Word.Abort) === 0) runItems(thread, operation, 0, 1);
  watch?.taken();
  return endOf(control, operation);
}

/** Does its own items of each operation of the phase, and takes others. Returns where the next phase begins. */
function takePhase(thread: Participant, own: Part, from: number, phase: number): number {
  const { control, threads, watch } = thread;
  let at = from;
  for (; control[at + 5] === phase; at = endOf(control, at)) {
    const [items, most, multiple] = [control[at + 2]!, control[at + 3]!, control[at + 9]!];
    const least = Math.max(multiple, floorTo(multiple, items / (LEAST_PART * threads)));
    const next = at + NEXT_ITEM;
    watch?.begun();
    const owned = control[at + 8]!;
    if (owned > 0) {
      const first = multiple * Math.floor(owned / multiple * own.begin);
      const last = multiple * Math.floor(owned / multiple * own.end);
      if (last > first) {
        if (Atomics.load(control, Word.Abort) !== 0) continue;
        runItems(thread, at, first, last);
        watch?.taken();
      }
      if (owned === items) continue;
    }
    for (let seen = Atomics.load(control, next); seen < items;) {
      if (Atomics.load(control, Word.Abort) !== 0) break;
      const part = (items - seen) / (LAST_TAKES * threads);
      const count = Math.min(most, Math.max(least, floorTo(multiple, part)));
      // Added, and not compared and exchanged, which fails for all but one of those who want to.
      const first = Atomics.add(control, next, count);
      if (first >= items) break;
      const last = Math.min(items, first + count);
      runItems(thread, at, first, last);
      watch?.taken();
      if (owned > 0) own.taken += last - first;
      seen = Atomics.load(control, next);
    }
  }
  return at;
}

/** Where the operation after one begins, behind the kernels that follow it. */
function endOf(control: Int32Array, operation: number): number {
  return operation + OPERATION_WORDS * (1 + control[operation + 6]!);
}

/** Runs the kernels of an operation over some of its items. */
function runItems(
  { control, kernels }: Participant,
  operation: number,
  first: number,
  last: number,
): void {
  const end = endOf(control, operation);
  for (let at = operation; at < end; at += OPERATION_WORDS) {
    const per = control[at + 7]!;
    kernels[control[at]!]!(control[at + 1]!, per * first, per * last);
  }
}
