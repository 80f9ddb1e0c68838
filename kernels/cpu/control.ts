// What the threads of a pool share beside the memories that they work in: a block of words through
// which a step is handed out and ended. Only atomic operations touch it.

/** Places of the words. */
export const Word = {
  /** Counts commands; threads wait for it to change. */
  Command: 0,
  /** What to do: a value of Task. */
  Task: 1,
  /** The last command that all threads have done; the caller waits for it to change. */
  Done: 2,
  /** Not zero where the rest of the step is to be left out. */
  Abort: 3,
  /** Threads that have reached the end of the phase. */
  Arrived: 4,
  /** Counts phases; threads that have reached the end of one wait for it to change. */
  Phase: 5,
  /** Phases of the step. */
  Phases: 6,
  /** Threads whose kernels threw, or that could not load them. */
  Faults: 7,
  /** Threads that have loaded a module; the caller waits for all. */
  Loaded: 8,
} as const;

/** Commands. */
export const Task = { Run: 1, Listen: 2, Close: 3 } as const;

/** Where the operations begin, and the words of each. */
export const OPERATIONS = 16;
/** Kernel, arguments, items, items that are taken at once, next item, phase. */
export const OPERATION_WORDS = 6;

/** Operations that a step may have. */
export const MAXIMUM_OPERATIONS = 16384;

/** Words of the block, with room for what ends the operations. */
export const CONTROL_WORDS = OPERATIONS + OPERATION_WORDS * (MAXIMUM_OPERATIONS + 1);

/**
 * How often a thread looks before it sleeps: a few microseconds, about what waking costs. Longer
 * would take cores from others where they are busy.
 */
const SPINS = 600;

/** Waits until a word is no longer what it was. */
export function waitForChange(control: Int32Array, word: number, was: number): void {
  for (let i = 0; i < SPINS; i++) if (Atomics.load(control, word) !== was) return;
  while (Atomics.load(control, word) === was) Atomics.wait(control, word, was);
}

/** Changes a word by one and wakes those who wait for it. */
export function advance(control: Int32Array, word: number): void {
  Atomics.add(control, word, 1);
  Atomics.notify(control, word);
}
