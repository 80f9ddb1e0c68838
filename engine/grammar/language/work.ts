// How much may be worked on a schema, in steps of about 300 ns. What is found is true for good, and what
// there was no time for is not noted at all: whoever runs out of work stops with an exception, so that
// nothing on the way keeps half an answer. Compiling a schema has a budget, beyond which the schema is
// refused. A mask has one too, beyond which its walk leaves out what it was looking at. Taking a token
// that a mask allowed has none. Every loop that a schema can lengthen counts its steps here, and this
// looks every 1024 steps at whether they are wanted still.

import { checkpoint } from "../../cancellation.ts";
import { LanguageError } from "./errors.ts";

/** Most steps while a schema is compiled: half a second. */
const COMPILE_WORK = 2_000_000;

/** By how much more than masks may keep is kept of what a token leads to, before the format fails. */
const RESERVE = 4;

/** What a walk may take besides to go on among what is known, as a share of its steps. */
const RESERVED = 0.25;

/** Steps after which is asked whether they are wanted still. */
const CHECKED = 1024;

/** A mask has used its work up. Caught by whoever walks tokens, and by nobody else. */
export class OutOfWork extends Error {
  /** Name of the class. */
  override name = "OutOfWork";
}

/** Steps that an exception takes. */
const EXCEPTION_STEPS = 8;

/** Thrown so often that its trace would be dear. */
const OUT_OF_WORK = new OutOfWork("A mask has used its work up");

/** A count of steps with a limit. */
export class Work {
  #done = 0;
  #end = COMPILE_WORK;
  /** What a walk may take to go on among what is known, once the work is spent. */
  #reserve = 0;
  #purpose: "compile" | "mask" | "token" = "compile";
  #nextCheckpoint = CHECKED;
  /** The share of what masks may keep that they do keep: less than all, for tests. */
  keptShare = 1;

  /** Steps so far. */
  get done(): number {
    return this.#done;
  }

  /** Whether no more may be done now. */
  get isSpent(): boolean {
    return this.#done > this.#end;
  }

  /** Whether so much more is done that a walk stops where it is: even what is known takes time. */
  get isOverdrawn(): boolean {
    return this.#done > this.#end + this.#reserve;
  }

  /** Whether a schema is being compiled, when what takes long is refused. */
  get isCompiling(): boolean {
    return this.#purpose === "compile";
  }

  /** Counts steps that are done. */
  spend(steps: number): void {
    this.#done += steps;
    if (this.#done < this.#nextCheckpoint) return;
    this.#nextCheckpoint = this.#done + CHECKED;
    checkpoint();
  }

  /**
   * Counts steps of what is not derived from languages: they limit masks alone, as compilers have other
   * limits for it. Errors: OutOfWork for a mask that has no work left.
   */
  charge(steps: number): void {
    if (this.#purpose === "mask") this.check();
    else if (this.#purpose === "compile") this.#end += steps;
    this.spend(steps);
  }

  /** Errors: OutOfWork for a mask, LanguageError for a compiler, where there is no work left. */
  check(): void {
    if (this.#done <= this.#end) return;
    if (this.#purpose === "mask") this.#stop();
    throw new LanguageError("Deriving a language: it takes too many steps");
  }

  /** Whether so much is kept that masks keep no more, and it is time to begin anew. */
  isFull(count: number, most: number): boolean {
    return count >= most * this.keptShare;
  }

  /** Sees to it that not too much is kept. Errors: as those of {@linkcode check}, with what it is. */
  keep(count: number, most: number, what: string): void {
    if (this.#purpose === "compile" ? count < most : !this.isFull(count, most)) return;
    if (this.#purpose === "mask") this.#stop();
    if (this.#purpose === "token" && count < RESERVE * most) return;
    throw new LanguageError(`Deriving a language: it takes over ${most} ${what}`);
  }

  /** Sees to it that a mask does not go on with too many possibilities at once. Errors: OutOfWork. */
  bound(count: number, most: number): void {
    if (count > most && this.#purpose === "mask") this.#stop();
  }

  /** Ends what a mask is at, which leaves it out. */
  #stop(): never {
    this.spend(EXCEPTION_STEPS);
    throw OUT_OF_WORK;
  }

  /** Ends compiling: from now on only masks have a limit. */
  release(): void {
    this.#purpose = "token";
    this.#end = Infinity;
  }

  /** Does what a mask needs, with so many steps at most, and no more than what it is a part of has. */
  limited<T>(steps: number, action: () => T): T {
    const [purpose, end, reserve] = [this.#purpose, this.#end, this.#reserve];
    const most = purpose === "mask" ? end : Infinity;
    this.#purpose = "mask";
    this.#end = Math.min(this.#done + steps, most);
    this.#reserve = steps * RESERVED;
    try {
      return action();
    } finally {
      this.#purpose = purpose;
      this.#end = end;
      this.#reserve = reserve;
    }
  }

  /** Does a part of what a mask needs, with a share of the steps that it has left. */
  within<T>(share: number, action: () => T): T {
    if (this.#purpose !== "mask") return action();
    return this.limited(share * Math.max(this.#end - this.#done, 0), action);
  }
}

/** Lets whoever walks tokens go on with others where there was no work left. Errors: any other that is given. */
export function expectOutOfWork(error: unknown): void {
  if (!(error instanceof OutOfWork)) throw error;
}

/** What is found; `otherwise` where there was no work left for it. */
export function unlessOutOfWork<T>(find: () => T, otherwise: T): T {
  try {
    return find();
  } catch (error) {
    expectOutOfWork(error);
    return otherwise;
  }
}
