// Threads that work through steps together. A step is a list of phases, a phase a list of operations
// that need not wait for each other; an operation is a kernel over a number of items. Threads take
// items from a shared counter, so that a slow core takes fewer; which thread computes an item has no
// influence on it. The caller's own thread stays free.

import {
  advance,
  CONTROL_WORDS,
  MAXIMUM_OPERATIONS,
  OPERATION_WORDS,
  OPERATIONS,
  Task,
  Word,
} from "./control.ts";
import type { ModuleMessage, ThreadOptions } from "./worker.ts";

/** A kernel over items. */
export interface Operation {
  /** Number of the kernel, from {@linkcode ThreadPool.load}. */
  readonly kernel: number;
  /** Address of its arguments in the memory that work is done in. */
  readonly record: number;
  /** How many items there are: rows, or bands of a matrix. */
  readonly items: number;
  /** How many are taken at once; by default so many that every thread takes about eight times. */
  readonly grain?: number;
}

/** Operations of each phase. */
export type Step = readonly (readonly Operation[])[];

/** A kernel failed on a thread, or the pool was used after it was closed. */
export class CpuError extends Error {
  /** Name of the class. */
  override name = "CpuError";
}

/** How often a step that may become unwanted is looked after, in milliseconds. */
const LOOK_INTERVAL = 10;

/** How many times a thread comes back for items of an operation, about. */
const TURNS = 8;

/** Some threads and what they share. */
export class ThreadPool {
  /** How many threads there are. */
  readonly threads: number;
  readonly #control = new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS));
  readonly #workers: Worker[];
  #kernels = 0;
  #isServing = false;
  #isClosed = false;
  #fault = "";

  private constructor(threads: number) {
    this.threads = threads;
    const url = new URL("./worker.ts", import.meta.url);
    this.#workers = Array.from({ length: threads }, () => new Worker(url, { type: "module" }));
  }

  /** Starts so many threads. */
  static async open(threads: number): Promise<ThreadPool> {
    const pool = new ThreadPool(threads);
    await pool.#tell({ control: pool.#control, threads });
    return pool;
  }

  /** Gives all threads a module's kernels, blocking; returns their numbers by name. Errors: CpuError. */
  load(message: ModuleMessage): Record<string, number> {
    const control = this.#control;
    if (this.#isServing) this.#commandNow(Task.Listen);
    this.#isServing = false;
    control[Word.Faults] = 0;
    control[Word.Loaded] = 0;
    for (const worker of this.#workers) worker.postMessage(message);
    for (let loaded; (loaded = Atomics.load(control, Word.Loaded)) < this.threads;) {
      Atomics.wait(control, Word.Loaded, loaded);
    }
    if (control[Word.Faults] > 0) throw new CpuError("Cannot load kernels: a thread refused them");
    const names = WebAssembly.Module.exports(message.module).map(({ name }) => name).sort();
    return Object.fromEntries(names.map((name) => [name, this.#kernels++]));
  }

  /** Runs a step; true once it is done, false where it was aborted. Errors: CpuError. */
  async submit(step: Step): Promise<boolean> {
    this.#begin(step);
    await this.#command(Task.Run);
    return this.#end();
  }

  /**
   * The same, blocking the caller's thread: a step of microseconds is not worth an await.
   *
   * @param isUnwanted asked now and then; where it is true, the step is aborted
   */
  run(step: Step, isUnwanted?: () => boolean): boolean {
    if (isUnwanted?.()) return false;
    this.#begin(step);
    this.#commandNow(Task.Run, isUnwanted);
    return this.#end();
  }

  /** Leaves out what no thread has begun of the step that runs. */
  abort(): void {
    Atomics.store(this.#control, Word.Abort, 1);
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#serve();
    await this.#command(Task.Close);
    this.#isClosed = true;
    for (const worker of this.#workers) worker.terminate();
  }

  #begin(step: Step): void {
    const control = this.#control;
    let at = OPERATIONS;
    const count = step.reduce((sum, operations) => sum + operations.length, 0);
    if (count > MAXIMUM_OPERATIONS) {
      throw new RangeError(`Cannot run a step of ${count} operations: ${MAXIMUM_OPERATIONS} fit`);
    }
    step.forEach((operations, phase) => {
      for (const { kernel, record, items, grain } of operations) {
        const share = grain ?? Math.max(1, Math.floor(items / (TURNS * this.threads)));
        control.set([kernel, record, items, share, 0, phase], at);
        at += OPERATION_WORDS;
      }
    });
    control[at + OPERATION_WORDS - 1] = -1; // Of no phase.
    control[Word.Phases] = Math.max(1, step.length); // The end of a phase ends the step.
    control[Word.Abort] = 0;
    control[Word.Faults] = 0;
    this.#fault = "";
    this.#serve();
  }

  #end(): boolean {
    const control = this.#control;
    if (control[Word.Faults] > 0) {
      throw new CpuError(`Cannot finish the step: a kernel failed${this.#fault}`);
    }
    return control[Word.Abort] === 0;
  }

  #serve(): void {
    if (this.#isClosed) throw new CpuError("Cannot run a step: the threads have ended");
    if (this.#isServing) return;
    for (const worker of this.#workers) worker.postMessage("serve");
    this.#isServing = true;
  }

  #start(task: number): void {
    Atomics.store(this.#control, Word.Task, task);
    advance(this.#control, Word.Command);
  }

  #commandNow(task: number, isUnwanted?: () => boolean): void {
    this.#start(task);
    const control = this.#control;
    const longest = isUnwanted && LOOK_INTERVAL;
    for (let done; (done = Atomics.load(control, Word.Done)) !== control[Word.Command];) {
      const woken = Atomics.wait(control, Word.Done, done, longest);
      if (woken === "timed-out" && isUnwanted?.()) this.abort();
    }
  }

  async #command(task: number): Promise<void> {
    this.#start(task);
    const control = this.#control;
    for (let done; (done = Atomics.load(control, Word.Done)) !== control[Word.Command];) {
      await Atomics.waitAsync(control, Word.Done, done).value;
    }
  }

  /** Sends each thread what it starts with and waits until all have taken it. */
  async #tell(message: ThreadOptions): Promise<void> {
    await Promise.all(this.#workers.map((worker) =>
      new Promise<void>((resolve, reject) => {
        worker.onmessage = ({ data }) => {
          if (data === "ready") return resolve();
          this.#fault = `: ${data.fault}`;
        };
        worker.onerror = (event) => {
          event.preventDefault();
          reject(new CpuError(`Cannot start a thread: ${event.message}`));
        };
        worker.postMessage(message);
      })
    ));
  }
}
