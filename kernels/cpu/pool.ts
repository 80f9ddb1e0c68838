// A pool of threads that work through steps together: the host's own thread and workers. A step is
// a list of phases, and a phase is a list of operations that are independent of each other. An
// operation is a kernel over a number of items, which threads take from a shared counter
// (share.ts), so that a slow core takes fewer. Results do not depend on which thread computes an
// item.

import {
  CONTROL_WORDS,
  OPERATION_WORDS,
  OPERATIONS,
  PhaseWord,
  release,
  SpinWait,
  Task,
  Word,
} from "./control.ts";
import { instantiate, panelMemory } from "./instances.ts";
import type { Kernel } from "./kernel.ts";
import { takeShare, type Watch } from "./share.ts";
import { type BuiltStep, type PoolOperation, StepWriter } from "./step.ts";
import { sharedBuffer } from "../../host/mod.ts";
import { ThreadShares } from "./thread_shares.ts";
import { ResourceError } from "../errors.ts";
import { newThread, type Thread, type ThreadRefusal } from "./threads.ts";
import type { ModuleMessage, ThreadOptions } from "./cpu_worker.ts";

/** A kernel failed on a thread, or the pool was used after it was closed. */
export class CpuError extends Error {
  /** Name of the class. */
  override name = "CpuError";
}

/** A phase of a step as it was measured, in microseconds. */
export interface PhaseTimes {
  /** Names of its kernels, one after the other. */
  readonly kernels: string[];
  items: number;
  /** In kernels: of all threads together, and of the one that was longest. */
  readonly all: number;
  readonly longest: number;
  /**
   * From its beginning on the host to that of the next phase. 0 for a phase of one item, which belongs to
   * the phase before.
   */
  readonly whole: number;
}

/** Receives the phases of a step, and when it ended: what takes place from then on is measuring. */
export type TellTimes = (phases: readonly PhaseTimes[], ended: number) => void;

/** Milliseconds between checks whether a step is still wanted. */
const LOOK_INTERVAL = 10;

/** The host's thread, workers, and what they share. */
export class ThreadPool {
  readonly #control = new Int32Array(sharedBuffer(4 * CONTROL_WORDS));
  readonly #step = new StepWriter(this.#control);
  readonly #shares = new ThreadShares(this.#control, 1);
  #workers: readonly Thread[] = [];
  readonly #kernels: Kernel[] = [];
  readonly #names: string[] = [];
  #times: TellTimes | undefined;
  readonly #modules: ModuleMessage[] = [];
  /** Number of modules that the workers have. */
  #loaded = 0;
  readonly #panel = panelMemory();
  readonly #wait = new SpinWait();
  #isServing = false;
  #isClosed = false;
  #fault = "";
  /** Number of threads: the host's, and workers once they have started. */
  get threads(): number {
    return this.#workers.length + 1;
  }

  /** Number of operations of the step that is being built. */
  get operations(): number {
    return this.#step.operations;
  }

  /** Whether the step has room for another operation with all that may follow it. */
  get hasRoom(): boolean {
    return this.#step.hasRoom;
  }

  static async open(threads: number): Promise<ThreadPool> {
    const pool = new ThreadPool();
    await pool.start(threads);
    return pool;
  }

  /**
   * Starts workers up to a number of threads. Until they have started, the host works alone. If the
   * system gives fewer, the pool has fewer.
   */
  async start(threads: number): Promise<void> {
    const workers = newThreads(threads - 1);
    try {
      // All have to know how many there are, so those who started are told again if others did not.
      for (let told = -1; told !== workers.length;) {
        told = workers.length;
        const options = { control: this.#control, threads: told + 1 };
        const started = await Promise.all(
          workers.map((worker, i) => this.#tell(worker, { ...options, index: i + 1 })),
        );
        for (const refused of workers.filter((_, index) => !started[index])) {
          end(refused);
          workers.splice(workers.indexOf(refused), 1);
        }
      }
    } catch (error) {
      workers.forEach(end);
      throw error;
    }
    this.#workers = workers;
    this.#shares.begin(this.threads);
    if (!this.#isClosed) return;
    this.#isClosed = false;
    await this.close();
  }

  /** Takes a module's kernels; returns their numbers by name. Errors: CpuError. */
  load(message: ModuleMessage): Record<string, number> {
    const first = this.#kernels.length;
    const kernels = instantiate(message.module, message.memories, this.#panel);
    this.#kernels.push(...kernels.values());
    this.#names.push(...kernels.keys());
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

  /** Adds an operation to the phase that is being built. */
  add(operation: PoolOperation): void {
    this.#step.add(operation, this.threads);
  }

  /** Ends a phase: operations that are added from now on wait for all earlier ones. */
  endPhase(): void {
    this.#step.endPhase();
  }

  /** Ends a phase and keeps the step so far, whose arguments were moved by so many bytes. */
  keep(moved: number): BuiltStep {
    return this.#step.keep(moved, this.threads);
  }

  /** Begins a step with one that was kept; false if the threads are not those it was for. */
  again(step: BuiltStep): boolean {
    return this.#step.again(step, this.threads);
  }

  /** Drops the step that is being built. */
  clear(): void {
    this.#step.clear();
  }

  /**
   * Runs the step that was built, blocking. Returns whether it was completed, and not skipped.
   * Errors: CpuError.
   *
   * @param isUnwanted called now and then; if it returns true, the rest of the step is skipped
   */
  run(isUnwanted?: () => boolean): boolean {
    if (this.#isClosed) throw new CpuError("Cannot run a step: the threads have ended");
    const control = this.#control;
    const end = this.#step.finish();
    this.#shares.follow();
    if (isUnwanted?.()) return false;
    control[Word.Abort] = 0;
    control[Word.Faults] = 0;
    this.#fault = "";
    control[Word.Timed] = Number(this.#times !== undefined);
    if (this.#times) this.#clearTimes(end);
    if (this.#workers.length > 0) {
      this.share();
      this.#serve();
      this.#command(Task.Run);
    }
    takeShare({
      control,
      kernels: this.#kernels,
      threads: this.threads,
      index: 0,
      wait: this.#wait,
      fault: (error) => this.#fault = `: ${error}`,
      watch: isUnwanted && new AbortWatch(control, isUnwanted),
    }, true);
    if (control[Word.Timed]) this.#tellTimes(end);
    if (control[Word.Faults]! > 0) {
      throw new CpuError(`Cannot finish the step: a kernel failed${this.#fault}`);
    }
    return control[Word.Abort] === 0;
  }

  /** Has the phases of all steps measured; `tell` is called after each step. Undefined: no more. */
  timePhases(tell: TellTimes | undefined): void {
    this.#times = tell;
  }

  #clearTimes(end: number): void {
    for (let at = OPERATIONS; at <= end; at += OPERATION_WORDS) {
      for (const word of Object.values(PhaseWord)) this.#control[at + word] = 0;
    }
  }

  #tellTimes(end: number): void {
    const control = this.#control;
    const ended = performance.now();
    const phases: PhaseTimes[] = [];
    for (let at = OPERATIONS, phase = -1, links = 0; at < end; at += OPERATION_WORDS) {
      if (links-- > 0) {
        phases.at(-1)!.kernels.push(this.#names[control[at]!]!);
        continue;
      }
      links = control[at + 6]!;
      if (control[at + 5] !== phase) {
        phase = control[at + 5]!;
        const [all, longest, whole] = [PhaseWord.All, PhaseWord.Longest, PhaseWord.Whole]
          .map((word) => control[at + word]! / 1e3);
        phases.push({ kernels: [], items: 0, all: all!, longest: longest!, whole: whole! });
      }
      phases.at(-1)!.kernels.push(this.#names[control[at]!]!);
      phases.at(-1)!.items += control[at + 2]!;
    }
    this.#times?.(phases, ended);
  }

  /** Ends the workers, including those that are being started. */
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
    this.#workers.forEach(end);
  }

  /** Lets workers follow commands, during which they receive no messages. */
  #serve(): void {
    if (this.#isServing) return;
    for (const worker of this.#workers) worker.postMessage("serve");
    this.#isServing = true;
  }

  #command(task: number): void {
    Atomics.store(this.#control, Word.Task, task);
    release(this.#control, Word.Command);
  }

  /**
   * Sends a worker what it starts with and waits until it has taken it. Gives false for one that the
   * system has no room for.
   */
  #tell(worker: Thread, message: ThreadOptions): Promise<boolean> {
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<"ready" | ThreadRefusal | { fault: unknown }>) => {
        if (data === "ready") return resolve(true);
        if ("refused" in data) return resolve(false);
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

/** As many new threads as the system gives, up to a number. */
function newThreads(most: number): Thread[] {
  const threads: Thread[] = [];
  try {
    while (threads.length < most) threads.push(newThread());
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
  }
  return threads;
}

function end(thread: Thread): void {
  thread.terminate?.();
  thread.close?.();
}

/** Skips what no thread has begun of a step, once it is unwanted. */
class AbortWatch implements Watch {
  readonly interval = LOOK_INTERVAL;
  readonly #control: Int32Array;
  readonly #isUnwanted: () => boolean;
  /** Number of takes between two readings of the clock, and of those that are left until the next. */
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

  /** Reads the clock rarely if items are small, because reading it takes as long as they do. */
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
