// A pool of threads that work through steps together: the host's own thread and workers. A step is
// a list of phases, and a phase is a list of operations that are independent of each other. An
// operation is a kernel over a number of items, which threads take from a shared counter
// (share.ts), so that a slow core takes fewer. Results do not depend on which thread computes an
// item.

import {
  advance,
  CONTROL_WORDS,
  MAXIMUM_OPERATIONS,
  NO_KERNEL,
  OPERATION_WORDS,
  OPERATIONS,
  SpinWait,
  Task,
  Word,
} from "./control.ts";
import { instantiate, type Kernel, panelMemory } from "./modules.ts";
import { mostItems, takeShare, type Watch } from "./share.ts";
import type { ModuleMessage, ThreadOptions } from "./worker.ts";

/** A kernel failed on a thread, or the pool was used after it was closed. */
export class CpuError extends Error {
  /** Name of the class. */
  override name = "CpuError";
}

/** How often a step that may become unwanted is looked after, in milliseconds. */
const LOOK_INTERVAL = 10;

/** The host's thread, workers, and what they share. */
export class ThreadPool {
  readonly #control = new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS));
  #workers: readonly Worker[] = [];
  readonly #kernels: Kernel[] = [];
  readonly #modules: ModuleMessage[] = [];
  /** How many modules the workers have. */
  #loaded = 0;
  readonly #panel = panelMemory();
  readonly #wait = new SpinWait();
  #isServing = false;
  #isClosed = false;
  #fault = "";
  /** Of the step that is put together: where its next operation goes, and its phases before this one. */
  #end = OPERATIONS;
  #phase = 0;

  /** How many threads there are: workers, once they have started, and the host's. */
  get threads(): number {
    return this.#workers.length + 1;
  }

  /** How many operations the step has that is put together. */
  get operations(): number {
    return (this.#end - OPERATIONS) / OPERATION_WORDS;
  }

  /** A pool of so many threads. */
  static async open(threads: number): Promise<ThreadPool> {
    const pool = new ThreadPool();
    await pool.start(threads);
    return pool;
  }

  /** Starts workers, so that there are so many threads; until they are there, the host works alone. */
  async start(threads: number): Promise<void> {
    const url = new URL("./worker.ts", import.meta.url);
    const workers = Array.from({ length: threads - 1 }, () => new Worker(url, { type: "module" }));
    const options: ThreadOptions = { control: this.#control, threads };
    try {
      await Promise.all(workers.map((worker) => this.#tell(worker, options)));
    } catch (error) {
      for (const worker of workers) worker.terminate();
      throw error;
    }
    this.#workers = workers;
    if (!this.#isClosed) return;
    this.#isClosed = false;
    await this.close();
  }

  /** Takes a module's kernels; returns their numbers by name. Errors: CpuError. */
  load(message: ModuleMessage): Record<string, number> {
    const first = this.#kernels.length;
    const kernels = instantiate(message.module, message.memories, this.#panel);
    this.#kernels.push(...kernels.values());
    this.#modules.push(message);
    return Object.fromEntries(kernels.keys().map((name, i) => [name, first + i]));
  }

  /** Gives the workers those modules that they do not have yet, blocking. Errors: CpuError. */
  share(): void {
    if (this.#workers.length === 0 || this.#loaded === this.#modules.length) return;
    const control = this.#control;
    if (this.#isServing) this.#command(Task.Listen);
    this.#isServing = false;
    control[Word.Faults] = 0;
    for (; this.#loaded < this.#modules.length; this.#loaded++) {
      control[Word.Answers] = 0;
      for (const worker of this.#workers) worker.postMessage(this.#modules[this.#loaded]);
      for (let count; (count = Atomics.load(control, Word.Answers)) < this.#workers.length;) {
        Atomics.wait(control, Word.Answers, count);
      }
    }
    if (control[Word.Faults]! > 0) throw new CpuError("Cannot load kernels: a thread refused them");
  }

  /**
   * Adds an operation to the phase that is put together.
   *
   * @param record address of its arguments in the memory that work is done in
   * @param items how many items there are: rows, or bands of a matrix
   * @param most how many are taken at once at most; by default so many that every thread takes about
   *   eight times
   * @param then a kernel that threads run over the same items when they have done these
   */
  add(
    kernel: number,
    record: number,
    items: number,
    most?: number,
    then?: { kernel: number; record: number },
  ): void {
    const control = this.#control;
    const at = this.#end;
    if (this.operations >= MAXIMUM_OPERATIONS) {
      throw new RangeError(`Cannot run a step of more than ${MAXIMUM_OPERATIONS} operations`);
    }
    control[at] = kernel;
    control[at + 1] = record;
    control[at + 2] = items;
    control[at + 3] = most ?? mostItems(items, this.threads);
    control[at + 4] = 0;
    control[at + 5] = this.#phase;
    control[at + 6] = then?.kernel ?? NO_KERNEL;
    control[at + 7] = then?.record ?? 0;
    this.#end = at + OPERATION_WORDS;
  }

  /** Ends a phase: what is added from now on waits for all before. */
  endPhase(): void {
    this.#phase++;
  }

  /** Forgets the step that is put together. */
  clear(): void {
    this.#end = OPERATIONS;
    this.#phase = 0;
  }

  /**
   * Runs the step that was put together, blocking; true once it is done, false where it was left out.
   * Errors: CpuError.
   *
   * @param isUnwanted asked now and then; where it is true, the rest of the step is left out
   */
  run(isUnwanted?: () => boolean): boolean {
    if (this.#isClosed) throw new CpuError("Cannot run a step: the threads have ended");
    const control = this.#control;
    control[this.#end + 5] = -1; // Of no phase.
    control[Word.Phases] = this.#phase + 1;
    this.clear();
    if (isUnwanted?.()) return false;
    control[Word.Abort] = 0;
    control[Word.Faults] = 0;
    this.#fault = "";
    if (this.#workers.length > 0) {
      this.share();
      this.#serve();
      this.#command(Task.Run);
    }
    takeShare({
      control,
      kernels: this.#kernels,
      threads: this.threads,
      wait: this.#wait,
      fault: (error) => this.#fault = `: ${error}`,
      watch: isUnwanted && new AbortWatch(control, isUnwanted),
    }, true);
    if (control[Word.Faults]! > 0) {
      throw new CpuError(`Cannot finish the step: a kernel failed${this.#fault}`);
    }
    return control[Word.Abort] === 0;
  }

  /** Ends the workers, those too that are being started. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    const control = this.#control;
    control[Word.Answers] = 0;
    if (this.#workers.length > 0) {
      this.#serve();
      this.#command(Task.Close);
    }
    this.#isClosed = true;
    for (let count; (count = Atomics.load(control, Word.Answers)) < this.#workers.length;) {
      await Atomics.waitAsync(control, Word.Answers, count).value;
    }
    for (const worker of this.#workers) worker.terminate();
  }

  /** Has workers follow commands, which they do not hear messages during. */
  #serve(): void {
    if (this.#isServing) return;
    for (const worker of this.#workers) worker.postMessage("serve");
    this.#isServing = true;
  }

  #command(task: number): void {
    Atomics.store(this.#control, Word.Task, task);
    advance(this.#control, Word.Command);
  }

  /** Sends a worker what it starts with and waits until it has taken it. */
  #tell(worker: Worker, message: ThreadOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data === "ready") return resolve();
        this.#fault = `: ${data.fault}`;
      };
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new CpuError(`Cannot start a thread: ${event.message}`));
      };
      worker.postMessage(message);
    });
  }
}

/** Leaves out what no thread has begun of a step once nobody wants it. */
class AbortWatch implements Watch {
  readonly interval = LOOK_INTERVAL;
  readonly #control: Int32Array;
  readonly #isUnwanted: () => boolean;
  /** How many times items are taken from one reading of the clock to the next, and that are left. */
  #every = 1;
  #left = 1;
  #read = performance.now();
  #looked = this.#read;

  constructor(control: Int32Array, isUnwanted: () => boolean) {
    this.#control = control;
    this.#isUnwanted = isUnwanted;
  }

  begun(): void {
    this.#left = this.#every = 1;
  }

  /** Reads the clock seldom where items are small, since that takes as long as they do. */
  taken(): void {
    if (--this.#left > 0) return;
    const now = performance.now();
    this.#every = now - this.#read < 1 ? 2 * this.#every : 1;
    this.#left = this.#every;
    this.#read = now;
    if (now - this.#looked < LOOK_INTERVAL) return;
    this.#looked = now;
    this.call();
  }

  call(): void {
    if (this.#isUnwanted()) Atomics.store(this.#control, Word.Abort, 1);
  }
}
