// Cancelling work that runs without a pause. A thread in the middle of it receives no messages, but
// it can read a word of shared memory that another thread sets. Every loop whose length a request
// determines calls pollCancellation(), and whoever starts such work for a request names the flags that
// cancel it.

import { canShareMemory, sharedBuffer } from "../host/mod.ts";
import { EngineError } from "./errors.ts";

/** The error of work that was cancelled while it ran. */
export class CancelledError extends EngineError {
  /** Cancels the work. */
  constructor() {
    super("Cannot go on: the request was called off");
  }
}

/** The signal that work checks now and then: an AbortSignal or a CancelFlag. */
export type Cancellation = Pick<AbortSignal, "throwIfAborted">;

/** A word that one thread sets and others read. It stays set. */
export class CancelFlag implements Cancellation {
  readonly #word: Int32Array<SharedArrayBuffer>;

  /** @param memory of another thread's flag, to share it */
  constructor(readonly memory: SharedArrayBuffer = sharedBuffer(4)) {
    this.#word = new Int32Array(memory);
  }

  /** The memory for another thread; undefined where none can be sent: it is then told by messages alone. */
  get sent(): SharedArrayBuffer | undefined {
    return canShareMemory() ? this.memory : undefined;
  }

  /** Whether the work is cancelled. */
  get isSet(): boolean {
    return Atomics.load(this.#word, 0) !== 0;
  }

  /** Cancels the work. */
  set(): void {
    Atomics.store(this.#word, 0, 1);
  }

  /** Throws CancelledError if the work is cancelled. */
  throwIfAborted(): void {
    if (this.isSet) throw new CancelledError();
  }
}

/**
 * The flags of the work that this thread is running. It runs without a pause, so there is one at a
 * time.
 */
let current: readonly CancelFlag[] = [];

/**
 * Runs work without a pause (no await) that these flags cancel. Errors: those of the work;
 * CancelledError at its next pollCancellation() after a flag was set.
 */
export function cancellable<T>(flags: readonly CancelFlag[], work: () => T): T {
  const before = current;
  current = flags;
  try {
    pollCancellation();
    return work();
  } finally {
    current = before;
  }
}

/**
 * Throws CancelledError if the current work is cancelled. Takes nanoseconds, and does nothing
 * outside of such work.
 */
export function pollCancellation(): void {
  for (const flag of current) flag.throwIfAborted();
}

const flagsOfSignals = new WeakMap<AbortSignal, readonly CancelFlag[]>();

/**
 * Attaches flags to a signal. They cancel the signal's work while the thread cannot receive the
 * abort itself.
 */
export function attachFlags(signal: AbortSignal, flags: readonly CancelFlag[]): void {
  flagsOfSignals.set(signal, flags);
}

/** The flags that were attached to a signal. */
export function flagsOf(signal: AbortSignal | undefined): readonly CancelFlag[] {
  return (signal && flagsOfSignals.get(signal)) ?? [];
}

/** Whether the work of a signal is cancelled: by the signal, or by one of its flags. */
export function isCancelled(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || flagsOf(signal).some(({ isSet }) => isSet);
}

/** Throws the signal's reason, or CancelledError, if the work of a signal is cancelled. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  signal?.throwIfAborted();
  for (const flag of flagsOf(signal)) flag.throwIfAborted();
}
