// Whether keys can be present and absent in such a way that clauses hold and their number is within
// bounds: a search with unit propagation (Davis, Logemann and Loveland, 1962) and a limit on its
// steps.

import { AlgebraError } from "./schema_error.ts";
import type { Clause } from "./shape.ts";

/** Most literals that are examined. */
const MAX_STEPS = 500_000;

/** The question. */
export interface PresenceProblem {
  /** Clauses: at least one literal of each must hold. */
  readonly clauses: readonly Clause[];
  /** For each key, whether it is required, optional or forbidden. */
  status(key: string): "required" | "optional" | "impossible";
  /** Bounds of the number of present keys among those in clauses. */
  readonly min: number;
  readonly max: number;
}

/** Whether there is a solution. @throws {AlgebraError} if finding out takes too long */
export function canBePresent(problem: PresenceProblem): boolean {
  return new Search(problem).run();
}

class Search {
  readonly #problem: PresenceProblem;
  readonly #keys: readonly string[];
  readonly #byKey: ReadonlyMap<string, readonly Clause[]>;
  readonly #chosen = new Map<string, boolean>();
  #present = 0;
  #steps = 0;

  constructor(problem: PresenceProblem) {
    this.#problem = problem;
    const byKey = new Map<string, Clause[]>();
    for (const clause of problem.clauses) {
      for (const { key } of clause) {
        const clauses = byKey.get(key);
        if (clauses) clauses.push(clause);
        else byKey.set(key, [clause]);
      }
    }
    this.#byKey = byKey;
    this.#keys = [...byKey.keys()];
  }

  run(): boolean {
    const known = this.#keys.filter((key) => this.#problem.status(key) !== "optional")
      .map((key) => ({ key, present: this.#problem.status(key) === "required" }));
    if (!this.#choose(known)) return false;
    /** The values tried for each free key, and the number of choices before. */
    const decisions: { key: string; present: boolean; isLast: boolean; before: number }[] = [];
    for (let index = 0;;) {
      while (index < this.#keys.length && this.#chosen.has(this.#keys[index]!)) index++;
      if (index === this.#keys.length) return true;
      const before = this.#chosen.size;
      const key = this.#keys[index]!;
      let decision = { key, present: this.#present < this.#problem.min, isLast: false, before };
      while (!this.#choose([decision])) {
        this.#undo(decision.before);
        while (decision.isLast) {
          const last = decisions.pop();
          if (last === undefined) return false;
          decision = last;
          this.#undo(decision.before);
        }
        decision = { ...decision, present: !decision.present, isLast: true };
        index = this.#keys.indexOf(decision.key);
      }
      decisions.push(decision);
    }
  }

  /** Makes a choice and all that follows from it. Returns false if that is a contradiction. */
  #choose(literals: { readonly key: string; readonly present: boolean }[]): boolean {
    const waiting = [...literals];
    for (let literal = waiting.pop(); literal; literal = waiting.pop()) {
      const known = this.#chosen.get(literal.key);
      if (known !== undefined && known !== literal.present) return false;
      if (known !== undefined) continue;
      this.#chosen.set(literal.key, literal.present);
      this.#present += Number(literal.present);
      const absent = this.#chosen.size - this.#present;
      if (this.#present > this.#problem.max) return false;
      if (this.#keys.length - absent < this.#problem.min) return false;
      for (const clause of this.#byKey.get(literal.key)!) {
        this.#steps += clause.length;
        if (this.#steps > MAX_STEPS) {
          throw new AlgebraError("which keys may go together takes too long to find out");
        }
        if (clause.some(({ key, present }) => this.#chosen.get(key) === present)) continue;
        const open = clause.filter(({ key }) => !this.#chosen.has(key));
        if (open.length === 0) return false;
        if (open.length === 1) waiting.push(open[0]!);
      }
    }
    return true;
  }

  /** Undoes all but the first choices. */
  #undo(count: number): void {
    for (const key of [...this.#chosen.keys()].slice(count)) {
      this.#present -= Number(this.#chosen.get(key));
      this.#chosen.delete(key);
    }
  }
}
