// Boolean satisfiability: values of variables under which each of some clauses has a literal that
// is true. Unit propagation and search with backtracking, after Davis, Logemann and Loveland, "A
// machine program for theorem-proving" (1962). Assumptions can be undone back to a mark, so that
// many questions about one set of clauses share their first assumptions.

import type { Work } from "../../language/mod.ts";

/** A variable, by number, and the value that makes the literal true. */
export interface Literal {
  readonly variable: number;
  readonly isTrue: boolean;
}

/** What an assignment must fulfil besides the clauses. */
export interface SearchGoal {
  /**
   * Whether the assumptions so far may lead to such an assignment. If not, the search backtracks.
   */
  isPromising(): boolean;
  /** Whether more variables must be true than are assumed to be. */
  needsMore(): boolean;
  /** Called for each assignment; variables without a value count as false. True ends the search. */
  found(): boolean;
}

/** The end of a search: with an assignment, without one, or after too many steps to know. */
export type SearchEnd = "found" | "exhausted" | "given up";

const UNKNOWN = -1;

/** Steps of work for examining a clause. */
const CLAUSE_STEPS = 0.25;

/**
 * Clauses, and the assumed values of their variables. A literal is coded as 2 * variable + isTrue.
 */
export class Clauses {
  /** The literals of all clauses, and the offset of each clause. */
  readonly #literals: Int32Array;
  readonly #starts: Int32Array;
  /** By literal, the indices of the clauses that contain it. */
  readonly #having: readonly (readonly number[])[];
  /** By literal: 1 true, 0 false, or UNKNOWN. */
  readonly #values: Int8Array;
  /** True literals in the order of assumption, and the number of true variables before each. */
  readonly #trail: Int32Array;
  readonly #trues: Int32Array;
  readonly #work: Work;
  #assumed = 0;
  #steps = 0;

  constructor(variables: number, clauses: readonly (readonly Literal[])[], work: Work) {
    this.#work = work;
    const having: number[][] = Array.from({ length: 2 * variables }, () => []);
    this.#starts = new Int32Array(clauses.length + 1);
    clauses.forEach((clause, index) => {
      this.#starts[index + 1] = this.#starts[index]! + clause.length;
      for (const literal of clause) having[codeOf(literal)]!.push(index);
    });
    this.#literals = Int32Array.from(clauses.flat().map(codeOf));
    this.#having = having;
    this.#values = new Int8Array(2 * variables).fill(UNKNOWN);
    this.#trail = new Int32Array(variables);
    this.#trues = new Int32Array(variables + 1);
  }

  /** Number of clauses that were examined. */
  get steps(): number {
    return this.#steps;
  }

  /** Number of variables that have a value: a mark for {@linkcode undo}. */
  get mark(): number {
    return this.#assumed;
  }

  /** Number of variables that are assumed to be true. */
  get trues(): number {
    return this.#trues[this.#assumed]!;
  }

  /** Number of variables without a value. */
  get open(): number {
    return this.#trail.length - this.#assumed;
  }

  /** Whether a variable is assumed to be true. */
  isTrue(variable: number): boolean {
    return this.#values[codeOf({ variable, isTrue: true })] === 1;
  }

  /** Assumes a literal and propagates it. Returns false if a clause can no longer hold. */
  assume(literal: Literal): boolean {
    return this.#assume(codeOf(literal));
  }

  /** Undoes all assumptions after a mark. */
  undo(mark: number): void {
    while (this.#assumed > mark) {
      const literal = this.#trail[--this.#assumed]!;
      this.#values[literal] = this.#values[literal ^ 1] = UNKNOWN;
    }
  }

  /**
   * Searches for assignments that extend the assumptions, which are unchanged afterwards. Errors:
   * OutOfWork.
   */
  search(goal: SearchGoal, maxSteps: number): SearchEnd {
    const mark = this.#assumed;
    try {
      return this.#search(goal, this.#steps + maxSteps);
    } finally {
      this.undo(mark);
    }
  }

  #search(goal: SearchGoal, maxSteps: number): SearchEnd {
    const decisions: { literal: number; mark: number }[] = [];
    for (;;) {
      if (this.#steps > maxSteps) return "given up";
      let isPossible = goal.isPromising();
      if (isPossible) {
        const literal = this.#choose(goal);
        if (literal < 0 && goal.found()) return "found";
        if (literal >= 0) decisions.push({ literal, mark: this.#assumed });
        isPossible = literal >= 0 && this.#assume(literal);
      }
      while (!isPossible) {
        const last = decisions.pop();
        if (!last) return "exhausted";
        this.undo(last.mark);
        isPossible = this.#assume(last.literal ^ 1);
      }
    }
  }

  /**
   * The literal to try next; -1 if all clauses hold when each variable without a value is false.
   */
  #choose(goal: SearchGoal): number {
    for (let clause = 0; clause + 1 < this.#starts.length; clause++) {
      const wanted = this.#wantedBy(clause);
      if (wanted >= 0) return wanted;
    }
    const free = goal.needsMore() ? this.#values.indexOf(UNKNOWN) : -1;
    return free < 0 ? -1 : free | 1;
  }

  /**
   * A literal that would make a clause true; -1 if it is true already, or will be when each
   * variable without a value is false.
   */
  #wantedBy(clause: number): number {
    if (this.#holds(clause)) return -1;
    let wanted = -1;
    const end = this.#starts[clause + 1]!;
    for (let at = this.#starts[clause]!; at < end; at++) {
      const literal = this.#literals[at]!;
      if (this.#values[literal] !== UNKNOWN) continue;
      if ((literal & 1) === 0) return -1;
      if (wanted < 0) wanted = literal;
    }
    return wanted;
  }

  #holds(clause: number): boolean {
    this.#steps++;
    this.#work.charge(CLAUSE_STEPS);
    const end = this.#starts[clause + 1]!;
    for (let at = this.#starts[clause]!; at < end; at++) {
      if (this.#values[this.#literals[at]!] === 1) return true;
    }
    return false;
  }

  #assume(literal: number): boolean {
    if (this.#values[literal] !== UNKNOWN) return this.#values[literal] === 1;
    let next = this.#assumed;
    this.#set(literal);
    for (; next < this.#assumed; next++) {
      const weakened = this.#having[this.#trail[next]! ^ 1]!;
      for (const clause of weakened) if (!this.#follow(clause)) return false;
    }
    return true;
  }

  /**
   * Assumes the last literal that can make a clause true, if only one is left. Returns false if
   * none is.
   */
  #follow(clause: number): boolean {
    if (this.#holds(clause)) return true;
    let only = -1;
    const end = this.#starts[clause + 1]!;
    for (let at = this.#starts[clause]!; at < end; at++) {
      const literal = this.#literals[at]!;
      if (this.#values[literal] !== UNKNOWN || literal === only) continue;
      if (only >= 0) return true;
      only = literal;
    }
    if (only >= 0) this.#set(only);
    return only >= 0;
  }

  #set(literal: number): void {
    this.#trues[this.#assumed + 1] = this.#trues[this.#assumed]! + (literal & 1);
    this.#trail[this.#assumed++] = literal;
    this.#values[literal] = 1;
    this.#values[literal ^ 1] = 0;
  }
}

function codeOf({ variable, isTrue }: Literal): number {
  return 2 * variable + Number(isTrue);
}
