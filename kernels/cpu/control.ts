// The control block that the threads of a pool share: words through which a step is started and
// ended. Words that may change during a step are only accessed by atomic operations.

/**
 * Where the words are. Each that changes during a step has a cache line, so that whoever waits for one is
 * not disturbed by the others: that halves the time of a barrier.
 */
export const Word = {
  /** Counts commands. Threads wait until it changes. */
  Command: 0,
  /** What to do: a value of Task. */
  Task: 1,
  /** Number of threads that have completed a command: loaded a module, or ended. */
  Answers: 2,
  /** Number of phases of the step. */
  Phases: 3,
  /** Number of threads whose kernels failed, or that could not load them. */
  Faults: 4,
  /** Not zero if threads measure the phases of the step. */
  Timed: 5,
  /** Not zero if the rest of the step has to be skipped. */
  Abort: 16,
  /** Number of groups of threads at the end of the phase. */
  Arrived: 32,
  /** Counts phases. Threads at the end of a phase wait until it changes. */
  Phase: 48,
  /** Number of threads that sleep until a command or the end of a phase. */
  Sleepers: 64,
} as const;

/** Words of a cache line. */
export const LINE = 16;
/** Threads that count together how many of them are at the end of a phase. */
export const GROUP_THREADS = 8;
/** Most threads of a pool, as many as the largest machines have. */
export const MOST_THREADS = 1024;
/** Where the groups count, each in a line of its own. */
const GROUPS = 80;

/**
 * Counts a thread at the end of a phase; true for the last one. Groups count first, so that no word is
 * changed by more than 8 threads, or an eighth of them: changing one takes 0.1 to 0.2 microseconds, for
 * each thread after the other.
 */
export function arrive(control: Int32Array, index: number, threads: number): boolean {
  const group = Math.floor(index / GROUP_THREADS);
  const members = Math.min(GROUP_THREADS, threads - GROUP_THREADS * group);
  return isLast(control, GROUPS + LINE * group, members) &&
    isLast(control, Word.Arrived, Math.ceil(threads / GROUP_THREADS));
}

/** Counts up to a number, and then from zero again; true at its end. */
function isLast(control: Int32Array, word: number, number: number): boolean {
  if (number > 1 && Atomics.add(control, word, 1) < number - 1) return false;
  if (number > 1) Atomics.store(control, word, 0);
  return true;
}

/** Commands. */
export const Task = { Run: 1, Listen: 2, Close: 3 } as const;

/** Where each thread's part of what threads own begins, as a fraction; see thread_shares.ts. */
export const SHARES = GROUPS + LINE * MOST_THREADS / GROUP_THREADS;
/** Where each thread counts the items that it took and did not own, in a line of its own. */
export const TAKEN = SHARES + MOST_THREADS + LINE;

/** Where the operations begin, and the words of each. */
export const OPERATIONS = TAKEN + LINE * MOST_THREADS;
/**
 * Words of an operation: kernel, arguments, items, most items that are taken at once, the first item that
 * no thread owns, phase; number of kernels that follow over the same items, each with words of its own
 * behind these; items of the kernel for each item; items that threads own, from the first on; the number
 * by whose multiples items are taken. No step changes them, so that all threads keep them in their caches.
 */
export const OPERATION_WORDS = LINE;
/** Operations that a step may have. */
export const MAXIMUM_OPERATIONS = 16384;

const ALL_OPERATION_WORDS = OPERATION_WORDS * (MAXIMUM_OPERATIONS + 1); // A mark is after the last one.
/**
 * Where the words of an operation that change during a step are, from its other ones on: the next item to
 * take, which the end of its phase sets back, and the times of its phase. A cache line, so that threads
 * which take items of one disturb no other.
 */
export const NEXT_ITEM = ALL_OPERATION_WORDS;
/**
 * Words of a phase's first operation with its times in nanoseconds, if they are measured: of all threads
 * in kernels together, of the thread that was longest, and from the beginning of the phase to that of
 * the next one.
 */
export const PhaseWord = {
  All: NEXT_ITEM + 1,
  Longest: NEXT_ITEM + 2,
  Whole: NEXT_ITEM + 3,
} as const;

/** Words of the block. */
export const CONTROL_WORDS = OPERATIONS + 2 * ALL_OPERATION_WORDS;

/** Checks before a thread sleeps: about 10 microseconds, the time that waking takes. */
const SPINS = 600;
/** Checks on a calm machine: about 100 microseconds, twice the time until a thread is awake. */
const CALM_SPINS = 6000;
/** Checks for the next step: some 400 microseconds. */
const STEP_SPINS = 24_000;
/**
 * Milliseconds of a long wait. It means that another program keeps a thread from running, because
 * threads seldom have more than a fraction of that to do when others have finished.
 */
const LONG_WAIT = 0.5;
/**
 * Milliseconds without a long wait after which a machine is calm. Programs are switched every few
 * milliseconds.
 */
const CALM_AFTER = 250;

/**
 * How a thread waits: it spins for a while, then sleeps. On a machine with free cores, spinning
 * saves the time of waking. If other programs need the cores, spinning takes time from the threads
 * that are waited for, and threads that sleep a lot get a core sooner.
 */
export class SpinWait {
  /** When the last long wait ended. */
  #disturbed = performance.now();
  #spins = SPINS;

  /**
   * Waits until a word has another value.
   *
   * @param look called every `interval` milliseconds while it sleeps
   */
  forChange(
    control: Int32Array,
    word: number,
    was: number,
    look?: { interval: number; call(): void },
  ): void {
    if (spin(control, word, was, this.#spins)) return;
    const started = performance.now();
    sleep(control, word, was, look);
    const now = performance.now();
    if (now - started >= LONG_WAIT) this.#disturbed = now;
    this.#spins = now - this.#disturbed < CALM_AFTER ? SPINS : CALM_SPINS;
  }

  /**
   * Waits for a command. That may take long for want of work, which says nothing about the machine; the
   * next token's step is there after a fraction of a millisecond.
   */
  forCommand(control: Int32Array, was: number): void {
    const spins = this.#spins === CALM_SPINS ? STEP_SPINS : SPINS;
    if (!spin(control, Word.Command, was, spins)) sleep(control, Word.Command, was);
  }
}

/** Whether a word gets another value within a number of checks. */
function spin(control: Int32Array, word: number, was: number, checks: number): boolean {
  for (let i = 0; i < checks; i++) if (Atomics.load(control, word) !== was) return true;
  return false;
}

function sleep(
  control: Int32Array,
  word: number,
  was: number,
  look?: { interval: number; call(): void },
): void {
  Atomics.add(control, Word.Sleepers, 1);
  while (Atomics.load(control, word) === was) {
    if (Atomics.wait(control, word, was, look?.interval) === "timed-out") look?.call();
  }
  Atomics.sub(control, Word.Sleepers, 1);
}

/** Adds one to a word and wakes the threads that wait for it. */
export function advance(control: Int32Array, word: number): void {
  Atomics.add(control, word, 1);
  Atomics.notify(control, word);
}

/**
 * advance() for a word that threads wait for by SpinWait. Waking takes longer than a short phase also where
 * nobody sleeps. A thread that is about to sleep counts itself before it looks at the word again.
 */
export function release(control: Int32Array, word: number): void {
  Atomics.add(control, word, 1);
  if (Atomics.load(control, Word.Sleepers) > 0) Atomics.notify(control, word);
}
