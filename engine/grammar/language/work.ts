// A budget of work, counted in steps of about 300 ns. Compiling a schema has one; a schema that
// exceeds it is refused. Each mask has one; it leaves out the tokens that it could not decide in
// time. Accepting a token that a mask has allowed has none. Work beyond a budget ends with an
// exception, so that no incomplete result is kept; complete results stay valid and help later
// masks. Every loop whose length depends on a schema has to count its steps here. Every 1024 steps
// it is checked whether the request was cancelled.

import { pollCancellation } from "../../cancellation.ts";
import { LanguageLimitError } from "./errors.ts";

/** Most steps while a schema is compiled: half a second. */
const COMPILE_WORK = 2_000_000;

/**
 * Accepting a token may keep this many times the results that masks may keep; beyond that the
 * format fails.
 */
const RESERVE = 4;

/**
 * Steps, as a fraction of the budget, in which a walk may still visit what is known when its budget
 * is spent.
 */
const RESERVED = 0.5;

/** Steps between two checks whether the work was cancelled. */
const CHECKED = 1024;

/** An exception that ends the work of a mask. Only walks over tokens catch it. */
export class OutOfWork extends Error {
  /** Name of the class. */
  override name = "OutOfWork";
}

/** Steps that an exception takes. */
const EXCEPTION_STEPS = 8;

/** The only instance: it is thrown so often that making a stack trace each time would be slow. */
const OUT_OF_WORK = new OutOfWork("A mask has used its work up");

/** A count of steps with a limit. */
export class Work {
  #done = 0;
  #end = COMPILE_WORK;
  /** Steps in which a walk may still visit what is known when the budget is spent. */
  #reserve = 0;
  #purpose: "compile" | "mask" | "token" = "compile";
  #nextCheckpoint = CHECKED;
  /** The fraction of the usual memory in which masks may keep results; less than 1 in tests. */
  keptShare = 1;

  /** Steps so far. */
  get done(): number {
    return this.#done;
  }

  /** Whether the budget is spent. */
  get isSpent(): boolean {
    return this.#done > this.#end;
  }

  /** Whether the reserve is spent as well, so that a walk has to stop where it is. */
  get isOverdrawn(): boolean {
    return this.#done > this.#end + this.#reserve;
  }

  /** Whether a schema is being compiled, so that exceeding the budget is an error. */
  get isCompiling(): boolean {
    return this.#purpose === "compile";
  }

  /** Counts steps. */
  spend(steps: number): void {
    this.#done += steps;
    if (this.#done < this.#nextCheckpoint) return;
    this.#nextCheckpoint = this.#done + CHECKED;
    pollCancellation();
  }

  /**
   * Counts steps that only masks limit, because compilers have other limits for them. Errors:
   * OutOfWork for a mask whose budget is spent.
   */
  charge(steps: number): void {
    if (this.#purpose === "mask") this.check();
    else if (this.#purpose === "compile") this.#end += steps;
    this.spend(steps);
  }

  /**
   * Checks that the budget is not spent. Errors: OutOfWork for a mask, LanguageLimitError for a
   * compiler.
   */
  check(): void {
    if (this.#done <= this.#end) return;
    if (this.#purpose === "mask") this.#stop();
    throw new LanguageLimitError("Deriving a language: it takes too many steps");
  }

  /** Whether masks may keep no more results, so that it is time to drop them all. */
  isFull(count: number, most: number): boolean {
    return count >= most * this.keptShare;
  }

  /**
   * Checks that not too many results are kept. Errors: those of {@linkcode check}, naming the
   * results.
   */
  keep(count: number, most: number, what: string): void {
    if (this.#purpose === "compile" ? count < most : !this.isFull(count, most)) return;
    if (this.#purpose === "mask") this.#stop();
    if (this.#purpose === "token" && count < RESERVE * most) return;
    throw new LanguageLimitError(`Deriving a language: it takes over ${most} ${what}`);
  }

  /** Checks that a mask does not follow too many possibilities at once. Errors: OutOfWork. */
  bound(count: number, most: number): void {
    if (count > most && this.#purpose === "mask") this.#stop();
  }

  /** Ends the part of a mask that is being decided. Its tokens are left out. */
  #stop(): never {
    this.spend(EXCEPTION_STEPS);
    throw OUT_OF_WORK;
  }

  /** Ends compiling: from now on only masks have a limit. */
  release(): void {
    this.#purpose = "token";
    this.#end = Infinity;
  }

  /**
   * The result of an action of a mask, within a number of steps and within the budget of an outer
   * action.
   */
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

  /** The result of a part of a mask, within a fraction of the steps that are left. */
  within<T>(share: number, action: () => T): T {
    if (this.#purpose !== "mask") return action();
    return this.limited(share * Math.max(this.#end - this.#done, 0), action);
  }
}

/**
 * Checks that an exception is OutOfWork, after which a walk continues elsewhere. Any other is
 * thrown again.
 */
export function expectOutOfWork(error: unknown): void {
  if (!(error instanceof OutOfWork)) throw error;
}

/** The result of `find`, or `otherwise` if the budget was not enough for it. */
export function unlessOutOfWork<T>(find: () => T, otherwise: T): T {
  try {
    return find();
  } catch (error) {
    expectOutOfWork(error);
    return otherwise;
  }
}
