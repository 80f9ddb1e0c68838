// Calling off work that runs without a pause: a thread in the midst of it hears no message, but it can
// look at a word of shared memory that another thread sets. Every loop that a request can lengthen
// calls checkpoint(); whoever begins such work for a request says by which flags it is called off.

import { EngineError } from "./errors.ts";

/** Work was called off while it ran. */
export class CancelledError extends EngineError {
  /** Name of the class. */
  override name = "CancelledError";
  /** Says that nobody wants it any more. */
  constructor() {
    super("Cannot go on: the request was called off");
  }
}

/** What work looks at now and then: an AbortSignal, or a CancelFlag. */
export type Cancellation = Pick<AbortSignal, "throwIfAborted">;

/** A word that one thread sets and others look at. It stays set. */
export class CancelFlag implements Cancellation {
  readonly #word: Int32Array<SharedArrayBuffer>;

  /** @param memory of another thread's flag, which this one then is too */
  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.#word = new Int32Array(memory);
  }

  /** Whether work is called off. */
  get isSet(): boolean {
    return Atomics.load(this.#word, 0) !== 0;
  }

  /** Calls work off. */
  set(): void {
    Atomics.store(this.#word, 0, 1);
  }

  /** Errors: CancelledError where work is called off. */
  throwIfAborted(): void {
    if (this.isSet) throw new CancelledError();
  }
}

/** Of the work that this thread is at: it has no pause, so there is one at a time. */
let current: readonly CancelFlag[] = [];

/**
 * Runs work that has no pause (no await) for whoever has the flags. Errors: its own; CancelledError at
 * its next checkpoint after one of the flags is set.
 */
export function cancellable<T>(flags: readonly CancelFlag[], work: () => T): T {
  const before = current;
  current = flags;
  try {
    checkpoint();
    return work();
  } finally {
    current = before;
  }
}

/** Raises CancelledError where the work is called off. Takes nanoseconds, and nothing outside of such work. */
export function checkpoint(): void {
  for (const flag of current) flag.throwIfAborted();
}

const flagsOfSignals = new WeakMap<AbortSignal, readonly CancelFlag[]>();

/** Notes by which flags the work of a signal is called off, while nobody can hear the signal itself. */
export function attachFlags(signal: AbortSignal, flags: readonly CancelFlag[]): void {
  flagsOfSignals.set(signal, flags);
}

/** The flags that were attached to a signal. */
export function flagsOf(signal: AbortSignal | undefined): readonly CancelFlag[] {
  return (signal && flagsOfSignals.get(signal)) ?? [];
}

/** Whether the work of a signal is called off: by the signal, or by one of its flags. */
export function isCalledOff(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || flagsOf(signal).some(({ isSet }) => isSet);
}

/** Errors: the signal's reason, or CancelledError, where the work of a signal is called off. */
export function throwIfCalledOff(signal: AbortSignal | undefined): void {
  signal?.throwIfAborted();
  for (const flag of flagsOf(signal)) flag.throwIfAborted();
}
