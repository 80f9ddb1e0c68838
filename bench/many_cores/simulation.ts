// A machine of many cores, simulated: threads run the code of kernels/cpu/share.ts and control.ts as it is,
// with atomic operations, kernels and waiting that take virtual time. A thread stops at each of these until
// its turn comes, and is then run from its beginning again, with the results that it had so far. So one
// thread of this machine is all of theirs, and the same machine always gives the same times.

import { CONTROL_WORDS, Word } from "../../kernels/cpu/control.ts";
import { type Participant, takeShare } from "../../kernels/cpu/share.ts";
import { type PoolOperation, StepWriter } from "../../kernels/cpu/step.ts";
import { ThreadShares } from "../../kernels/cpu/thread_shares.ts";

/** Times are in nanoseconds. */
export interface Machine {
  /** Speed of each thread: nanoseconds of work that it does in one. */
  readonly speeds: readonly number[];
  /** Threads with numbers from this one on are on a second socket. Default: there is none. */
  readonly secondSocket?: number;
  /** Work takes up to this fraction longer or shorter, by chance. Default 0. */
  readonly jitter?: number;
}

/** An atomic change of a line that another core has, or that this one has. */
const [CHANGE, OWN_CHANGE] = [100, 6];
/** A read of a line that was changed; and the time until the next core may read the same. */
const [READ, NEXT_READ] = [70, 10];
/** A read of a line that the core has. */
const HIT = 1;
/** How many times longer between sockets. */
const FAR = 2;
/** A thread spins so long; waking takes so long, and the one that wakes it is busy so long for each. */
const [SPIN, WAKE, NOTIFY] = [100_000, 50_000, 1_500];

const LINE = 16;
/** Words that nothing changes in these steps. */
const STILL: ReadonlySet<number> = new Set([Word.Phases, Word.Timed, Word.Abort, Word.Faults]);

/** An operation of a step, and what an item of it takes. */
export interface Operation extends Omit<PoolOperation, "kernel" | "record"> {
  /** Nanoseconds of an item on a thread of speed 1. */
  readonly cost: number;
}

export type Step = readonly (readonly Operation[])[];

/** What came of a step. */
export interface Outcome {
  /** Nanoseconds until the host has finished it. */
  readonly time: number;
  /** What it would be if all threads worked all the time. */
  readonly ideal: number;
  /** Most changes of one line by cores that did not have it, in a phase. */
  readonly mostChanges: number;
  /** The thread that did each item, by phase and operation. */
  readonly doneBy: Int32Array[][];
}

/** What a thread is about to do. */
interface Action {
  readonly kind: "load" | "change" | "work" | "wait" | "notify";
  readonly word: number;
  /** Does it, and gives its result. */
  readonly act: () => number;
  /** Of work: how long it takes. Of waiting: the value at its beginning. */
  readonly amount: number;
}

/** Leaves a thread's code until its action is done. */
const STOPPED = new Error("stopped");

class SimulatedThread {
  /** Results of what it did so far, and how many of them it has had again. */
  readonly log: number[] = [];
  at = 0;
  time = 0;
  action: Action | undefined;
  isDone = false;

  /** The result of an action if it has been done. */
  perform(action: Action): number {
    if (this.at < this.log.length) return this.log[this.at++]!;
    this.action = action;
    throw STOPPED;
  }
}

/** A line of memory that cores share. */
interface Line {
  owner: number;
  version: number;
  free: number;
  seen: Map<number, number>;
  changes: number;
}

/** A machine with the state that threads keep from step to step. */
export class Simulation {
  readonly control = new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS));
  readonly #writer = new StepWriter(this.control);
  readonly #lines = new Map<number, Line>();
  readonly shares: ThreadShares;
  #random = 1;

  constructor(readonly machine: Machine) {
    this.shares = new ThreadShares(this.control, machine.speeds.length);
  }

  get #count(): number {
    return this.machine.speeds.length;
  }

  run(step: Step): Outcome {
    const operations: Operation[] = [];
    const doneBy = step.map((phase) => phase.map(({ items }) => new Int32Array(items).fill(-1)));
    const places = doneBy.flat();
    for (const phase of step) {
      for (const operation of phase) {
        const record = operations.push(operation) - 1;
        this.#writer.add({ ...operation, kernel: 0, record }, this.#count);
      }
      this.#writer.endPhase();
    }
    this.#writer.finish();
    this.shares.follow();
    this.#lines.clear();
    const threads = this.machine.speeds.map(() => new SimulatedThread());
    for (const [index, thread] of threads.entries()) {
      if (index > 0) thread.time = READ + NEXT_READ * index;
    }
    const real = globalThis.Atomics;
    let current = 0;
    globalThis.Atomics = this.#atomics(real, () => threads[current]!);
    try {
      const participants = threads.map((thread, index) =>
        this.#participant(thread, index, (operation, first, last) => {
          const done = places[operation]!;
          if (done.subarray(first, last).some((thread) => thread >= 0)) {
            throw new Error(`An item of ${first} to ${last} was done twice`);
          }
          done.fill(index, first, last);
          return this.#workOf(operations[operation]!, index, first, last);
        })
      );
      const proceed = (index: number) => {
        const thread = threads[current = index]!;
        thread.at = 0;
        thread.action = undefined;
        try {
          takeShare(participants[index]!, index === 0);
          thread.isDone = true;
        } catch (error) {
          if (error !== STOPPED) throw error;
        }
      };
      threads.forEach((_, index) => proceed(index));
      const mostChanges = this.#proceedAll(threads, proceed);
      // What the others still do after the host has finished.
      for (let left = 0; left >= 0;) {
        left = threads.findIndex(({ isDone }) => !isDone);
        if (left < 0) break;
        threads[left]!.log.push(threads[left]!.action!.act());
        proceed(left);
      }
      return { time: threads[0]!.time, ideal: this.#idealOf(step), mostChanges, doneBy };
    } finally {
      globalThis.Atomics = real;
    }
  }

  /** Has threads do one action after the other until the host has finished. Returns the most changes of a line. */
  #proceedAll(threads: readonly SimulatedThread[], proceed: (index: number) => void): number {
    let mostChanges = 0;
    const waiting = new Map<number, number>();
    while (!threads[0]!.isDone) {
      const index = this.#next(threads, waiting);
      const thread = threads[index]!;
      const { kind, word, act, amount } = thread.action!;
      if (kind === "wait" && this.control[word] === amount) {
        waiting.set(index, thread.time);
        continue;
      }
      if (word === Word.Sleepers) {
        this.control[word] = [...waiting.values()].filter((since) =>
          thread.time - since > SPIN
        ).length;
      }
      const before = this.control[Word.Phase];
      thread.log.push(act());
      thread.time = this.#timeAfter(index, thread.time, thread.action!);
      if (this.control[Word.Phase] !== before) {
        this.#release(threads, waiting, thread);
        for (const line of this.#lines.values()) {
          mostChanges = Math.max(mostChanges, line.changes);
          line.changes = 0;
        }
      }
      proceed(index);
    }
    return mostChanges;
  }

  /** Has those go on that wait for the end of a phase, which a thread has just told. */
  #release(
    threads: readonly SimulatedThread[],
    waiting: Map<number, number>,
    last: SimulatedThread,
  ): void {
    let woken = 0;
    for (const [index, since] of waiting) {
      const sleeps = last.time - since > SPIN;
      if (sleeps) woken++;
      threads[index]!.time = last.time + (sleeps ? WAKE + NOTIFY * woken : 0);
    }
    waiting.clear();
    last.time += NOTIFY * woken;
  }

  #idealOf(step: Step): number {
    const sum = this.machine.speeds.reduce((a, b) => a + b);
    const most = Math.max(...this.machine.speeds);
    return step.flat().reduce(
      (time, { items, cost }) => time + items * cost / (items === 1 ? most : sum),
      0,
    );
  }

  /** The thread whose action comes next. */
  #next(threads: readonly SimulatedThread[], waiting: ReadonlyMap<number, number>): number {
    let next = -1;
    for (const [index, { time, isDone }] of threads.entries()) {
      if (isDone || waiting.has(index)) continue;
      if (next < 0 || time < threads[next]!.time) next = index;
    }
    if (next < 0) throw new Error("Cannot go on: all threads wait");
    return next;
  }

  #workOf({ cost }: Operation, index: number, first: number, last: number): number {
    const { speeds, jitter = 0 } = this.machine;
    this.#random = Math.imul(this.#random, 1103515245) + 12345;
    const chance = jitter * ((this.#random >>> 8) % 1001 / 500 - 1);
    return (last - first) * cost / speeds[index]! * (1 + chance);
  }

  #socketOf(index: number): number {
    return Number(index >= (this.machine.secondSocket ?? Infinity));
  }

  #timeAfter(index: number, now: number, { kind, word, amount }: Action): number {
    if (kind === "work") return now + amount;
    if (kind === "notify") return now; // What it takes depends on how many sleep: see run().
    const number = Math.floor(word / LINE);
    let line = this.#lines.get(number);
    if (!line) {
      line = { owner: -1, version: 0, free: 0, seen: new Map(), changes: 0 };
      this.#lines.set(number, line);
    }
    const isFar = line.owner >= 0 && this.#socketOf(line.owner) !== this.#socketOf(index);
    const far = isFar ? FAR : 1;
    const begin = Math.max(now, line.free);
    if (kind === "change") {
      const isOwn = line.owner === index;
      line.version++;
      line.owner = index;
      line.seen.clear();
      line.seen.set(index, line.version);
      if (isOwn) return now + OWN_CHANGE;
      line.changes++;
      return line.free = begin + far * CHANGE;
    }
    if (line.seen.get(index) === line.version) return now + HIT;
    line.seen.set(index, line.version);
    line.free = begin + far * NEXT_READ;
    const done = begin + far * READ;
    if (line.owner !== index) line.owner = -1;
    return done;
  }

  #participant(
    thread: SimulatedThread,
    index: number,
    work: (operation: number, first: number, last: number) => number,
  ): Participant {
    const { control } = this;
    const kernel = (operation: number, first: number, last: number) => {
      // Only a first call counts; the ones that follow have its result.
      const isNew = thread.at === thread.log.length;
      const amount = isNew ? work(operation, first, last) : 0;
      thread.perform({ kind: "work", word: -1, amount, act: () => 0 });
    };
    return {
      control,
      kernels: [kernel],
      threads: this.#count,
      index,
      wait: {
        forChange: (_control, word, was) => {
          thread.perform({ kind: "wait", word, amount: was, act: () => 0 });
        },
      },
      fault: (error) => {
        throw error;
      },
    };
  }

  /** Atomic operations on the control block take their time, and turns. */
  #atomics(real: typeof Atomics, current: () => SimulatedThread): typeof Atomics {
    const { control } = this;
    const perform = (kind: Action["kind"], word: number, act: () => number) =>
      current().perform({ kind, word, amount: 0, act });
    return {
      load: (_: Int32Array, word: number) =>
        STILL.has(word) ? control[word]! : perform("load", word, () => control[word]!),
      store: (_: Int32Array, word: number, value: number) =>
        perform("change", word, () => control[word] = value),
      add: (_: Int32Array, word: number, value: number) =>
        perform("change", word, () => real.add(control, word, value)),
      compareExchange: (_: Int32Array, word: number, was: number, value: number) =>
        perform("change", word, () => real.compareExchange(control, word, was, value)),
      notify: (_: Int32Array, word: number) => perform("notify", word, () => 0),
    } as unknown as typeof Atomics;
  }
}
