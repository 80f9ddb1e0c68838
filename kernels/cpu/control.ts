// The control block that the threads of a pool share: words through which a step is started and
// ended. Words that may change during a step are only accessed by atomic operations.

/** Places of the words. */
export const Word = {
  /** Counts commands; threads wait for it to change. */
  Command: 0,
  /** What to do: a value of Task. */
  Task: 1,
  /** Threads that have done what the host waits for: taken a module, or ended. */
  Answers: 2,
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
} as const;

/** Commands. */
export const Task = { Run: 1, Listen: 2, Close: 3 } as const;

/** Where the operations begin, and the words of each. */
export const OPERATIONS = 16;
/**
 * Kernel, arguments, items, items that are taken at once at most, next item, phase; the kernel that
 * follows over the same items, or NO_KERNEL, and its arguments.
 */
export const OPERATION_WORDS = 8;
/** The number of no kernel. */
export const NO_KERNEL = -1;

/** Operations that a step may have. */
export const MAXIMUM_OPERATIONS = 16384;

/** Words of the block, with room for what ends the operations. */
export const CONTROL_WORDS = OPERATIONS + OPERATION_WORDS * (MAXIMUM_OPERATIONS + 1);

/** How often a thread looks before it sleeps: about 10 microseconds, which is what waking costs. */
const SPINS = 600;
/** The same on a calm machine: about 100 microseconds, twice as long as it takes until one is awake. */
const CALM_SPINS = 6000;
/**
 * Milliseconds. Who waits as long waits for a thread that another program keeps from running: threads
 * seldom have more than a fraction of that to do when others have finished.
 */
const LONG_WAIT = 0.5;
/** Milliseconds without a long wait after which a machine is calm: programs take turns every few. */
const CALM_AFTER = 250;

/**
 * A thread's way to wait: it looks for a while, then it sleeps. On a machine with free cores, looking
 * saves the time that waking takes. Where other programs want the cores, looking takes time from the
 * threads that are waited for, and those that sleep much get a core sooner.
 */
export class SpinWait {
  /** When the last long wait ended. */
  #disturbed = performance.now();
  #spins = SPINS;

  /**
   * Waits until a word is no longer what it was.
   *
   * @param look called every `interval` milliseconds while it sleeps
   */
  forChange(
    control: Int32Array,
    word: number,
    was: number,
    look?: { interval: number; call(): void },
  ): void {
    for (let i = 0; i < this.#spins; i++) if (Atomics.load(control, word) !== was) return;
    const started = performance.now();
    while (Atomics.load(control, word) === was) {
      if (Atomics.wait(control, word, was, look?.interval) === "timed-out") look?.call();
    }
    const now = performance.now();
    if (now - started >= LONG_WAIT) this.#disturbed = now;
    this.#spins = now - this.#disturbed < CALM_AFTER ? SPINS : CALM_SPINS;
  }
}

/** Changes a word by one and wakes those who wait for it. */
export function advance(control: Int32Array, word: number): void {
  Atomics.add(control, word, 1);
  Atomics.notify(control, word);
}
