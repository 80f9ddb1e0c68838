// A thread's part of a step: it takes items of each operation until none are left, and continues
// with the next phase when all threads have finished this one. The pool's host and its workers run
// the same code.

import {
  advance,
  arrive,
  NO_KERNEL,
  OPERATION_WORDS,
  OPERATIONS,
  type SpinWait,
  Word,
} from "./control.ts";
import type { Kernel } from "./modules.ts";

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

/** A thread that takes part in steps. */
export interface Participant {
  readonly control: Int32Array<SharedArrayBuffer>;
  /** Kernels by their numbers. */
  readonly kernels: readonly Kernel[];
  /** Number of threads that take part, and which of them it is. */
  readonly threads: number;
  readonly index: number;
  readonly wait: SpinWait;
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
export function mostItems(items: number, threads: number): number {
  return Math.max(1, Math.floor(items / (TAKES * threads)));
}

/**
 * Items of a brief operation that are each thread's own, from the first ones on: half of them. Nobody waits
 * for a counter there, and in every step a thread reads the weights that it has read before. What is left
 * goes to whoever is there first, which makes up for threads that differ by up to three times.
 */
export function ownItems(items: number, threads: number): number {
  if (threads === 1 || items < threads) return 0;
  return Math.max(1, Math.floor(items / (2 * threads)));
}

/**
 * Does a thread's part of the step. Returns when all threads have finished, or for a worker when it
 * has finished itself.
 */
export function takeShare(thread: Participant, isHost: boolean): void {
  const { control, threads, index, wait } = thread;
  const phases = Atomics.load(control, Word.Phases);
  let operation = OPERATIONS;
  for (let phase = 0; phase < phases; phase++) {
    try {
      operation = takePhase(thread, operation, phase);
    } catch (error) {
      thread.fault(error);
      Atomics.add(control, Word.Faults, 1);
      Atomics.store(control, Word.Abort, 1);
    }
    if (threads === 1) continue;
    const current = Atomics.load(control, Word.Phase);
    if (arrive(control, index, threads)) {
      advance(control, Word.Phase);
    } else if (isHost || phase < phases - 1) {
      wait.forChange(control, Word.Phase, current, thread.watch);
    }
  }
}

/** Does its own items of each operation of the phase, and takes others. Returns where the next phase begins. */
function takePhase(
  { control, kernels, threads, index, watch }: Participant,
  from: number,
  phase: number,
): number {
  let at = from;
  for (; control[at + 5] === phase; at += OPERATION_WORDS) {
    const [kernel, record] = [kernels[control[at]!]!, control[at + 1]!];
    const [items, most] = [control[at + 2]!, control[at + 3]!];
    const [follower, thenRecord] = [control[at + 6]!, control[at + 7]!];
    const then = follower === NO_KERNEL ? undefined : kernels[follower]!;
    const least = Math.floor(items / (LEAST_PART * threads));
    const next = at + 4;
    watch?.begun();
    const own = control[at + 8]!;
    const end = (index + 1) * own;
    for (let first = index * own; first < end; first += most) {
      if (Atomics.load(control, Word.Abort) !== 0) break;
      const last = Math.min(end, first + most);
      kernel(record, first, last);
      then?.(thenRecord, first, last);
      watch?.taken();
    }
    for (let first = Atomics.load(control, next); first < items;) {
      if (Atomics.load(control, Word.Abort) !== 0) break;
      const part = Math.floor((items - first) / (LAST_TAKES * threads));
      const count = Math.min(most, Math.max(1, least, part));
      const found = Atomics.compareExchange(control, next, first, first + count);
      if (found !== first) {
        first = found; // another thread has taken these
        continue;
      }
      const last = Math.min(items, first + count);
      kernel(record, first, last);
      then?.(thenRecord, first, last);
      watch?.taken();
      first = Atomics.load(control, next);
    }
  }
  return at;
}
