// How long the threads of a server waited for a core while others had it: the machine's part in the
// time of an answer. From Linux's schedstat; elsewhere nothing is known, and all time is the server's.

/** Milliseconds that each thread of a process has waited so far, by its number. */
type Waits = Map<string, number>;

/** Milliseconds that a thread has waited for a core so far; 0 where that is not known. */
export function waitOf(path: `/proc/${string}/schedstat`): number {
  try {
    // Nanoseconds that it ran, nanoseconds that it waited, and how often it ran.
    return Number(Deno.readTextFileSync(path).split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** The time that a process waits for cores from now on. */
export class CoreWaits {
  readonly #pid: number;
  readonly #before: Waits;

  constructor(pid: number) {
    this.#pid = pid;
    this.#before = this.#read();
  }

  /**
   * Milliseconds of the thread that has waited longest since. The waits of several threads may
   * overlap, so this is what the machine took at least.
   */
  longest(): number {
    let longest = 0;
    for (const [thread, wait] of this.#read()) {
      longest = Math.max(longest, wait - (this.#before.get(thread) ?? wait));
    }
    return longest;
  }

  #read(): Waits {
    const waits: Waits = new Map();
    const folder = `/proc/${this.#pid}/task` as const;
    try {
      for (const { name } of Deno.readDirSync(folder)) {
        waits.set(name, waitOf(`${folder}/${name}/schedstat`));
      }
    } catch {
      // The process has ended, or this is not Linux.
    }
    return waits;
  }
}
