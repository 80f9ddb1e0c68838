// The types that have a value: the least fixpoint over all types. A type that needs a value of
// itself has none. Answers are exact, except for counting problems above a limit, which are errors.

import { pollCancellation } from "../../cancellation.ts";
import type { LanguageId, Languages } from "../language/mod.ts";
import { canDiffer } from "../matching.ts";
import type { TypeId } from "../types.ts";
import { fewScalars, type FewValues } from "./schema_input.ts";
import { childrenOf, type ClosedShape, type SplitArray } from "./collect.ts";
import { undeclared } from "./objects.ts";
import { AlgebraError } from "./schema_error.ts";
import type { Clause, ObjectShape } from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";

/** Number of members above which a set counts as infinite. */
const MAX_COUNTED = 1024;
/** Most ways of counting that are examined. */
const MAX_TRIALS = 200_000;
/** Most items that `contains` may require. */
const MAX_CONTAINED = 10_000;

/** The types that have a value. */
export class Inhabited {
  readonly #alive = new Set<TypeId>();
  readonly #values: FiniteValues;

  /** Finds all of them. */
  constructor(readonly graph: TypeGraph, readonly shapes: ReadonlyMap<TypeId, ClosedShape>) {
    this.#values = new FiniteValues(graph.languages, shapes);
    const users = new Map<TypeId, TypeId[]>();
    for (const [id, shape] of shapes) {
      for (const child of childrenOf(shape)) {
        const known = users.get(child);
        if (known) known.push(id);
        else users.set(child, [id]);
      }
    }
    const waiting = new Set(shapes.keys());
    for (const id of waiting) {
      pollCancellation();
      waiting.delete(id);
      if (this.#alive.has(id) || !this.#isInhabited(shapes.get(id)!)) continue;
      this.#alive.add(id);
      for (const user of users.get(id) ?? []) waiting.add(user);
    }
  }

  /** Whether a type has a value. */
  has(id: TypeId): boolean {
    return this.#alive.has(id);
  }

  #isInhabited(shape: ClosedShape): boolean {
    return shape.null || shape.booleans.length > 0 || shape.numbers !== undefined ||
      shape.strings !== undefined || shape.arrays.some((array) => this.hasArray(array)) ||
      shape.objects.some((object) => this.hasObject(object));
  }

  /** Whether there is an array of the type. */
  hasArray(array: SplitArray): boolean {
    const ends = array.prefix.findIndex((item) => !this.has(item));
    const longest = ends >= 0 ? ends : this.has(array.rest) ? Infinity : array.prefix.length;
    const max = Math.min(array.max, longest);
    if (max < array.min) return false;
    if (array.unique && !this.#hasDistinct(array)) return false;
    return array.contains.length === 0 || this.#canCount(array, max);
  }

  /** Whether the items may all differ. False only if there are certainly too few values. */
  #hasDistinct(array: SplitArray): boolean {
    const { prefix, rest, min, contains, splits } = array;
    for (const [i, rule] of contains.entries()) {
      const counted = [...splits.values()].flat().filter(({ counts }) => counts[i]);
      if (countAll(counted.map(({ type }) => this.#values.of(type))) < rule.min) return false;
    }
    // Items with many possible values can always differ; the others are matched with their values.
    const scarce: ReadonlySet<string>[] = [];
    for (let i = 0; i < Math.min(min, prefix.length + MAX_COUNTED + 1); i++) {
      const values = this.#values.of(prefix[i] ?? rest);
      if (values !== undefined && values.size < min) scarce.push(values);
    }
    return canDiffer(scarce, this.graph.languages.work);
  }

  /**
   * The numbers of items that may count for each `contains`: for each position of the prefix, then for
   * the rest.
   */
  #canCount(array: SplitArray, max: number): boolean {
    const { contains, prefix, rest, splits } = array;
    const alive = (item: TypeId) => (splits.get(item) ?? []).filter(({ type }) => this.has(type));
    if (contains.some(({ min }) => min > MAX_CONTAINED)) {
      throw new AlgebraError(`more than ${MAX_CONTAINED} items would have to be counted`);
    }
    const only = contains[0]!;
    if (contains.length === 1 && prefix.length === 0) {
      const counting = alive(rest).some(({ counts }) => counts[0]);
      const others = alive(rest).some(({ counts }) => !counts[0]);
      const least = others ? only.min : Math.max(only.min, array.min);
      const most = Math.min(counting ? only.max : 0, max);
      return least <= most && (others || most >= array.min);
    }
    const done = (counts: readonly number[], length: number) =>
      length >= array.min && contains.every(({ min }, i) => counts[i]! >= min);
    let states = new Map([["", contains.map(() => 0)]]);
    const enough = Math.max(array.min, prefix.length) +
      contains.reduce((sum, { min }) => sum + min, 0);
    let trials = 0;
    for (let length = 0; states.size > 0; length++) {
      for (const counts of states.values()) if (done(counts, length)) return true;
      if (length >= Math.min(max, enough)) return false;
      const parts = alive(prefix[length] ?? rest);
      trials += states.size * parts.length;
      if (trials > MAX_TRIALS) {
        throw new AlgebraError("its items cannot be counted: there are too many ways");
      }
      const next = new Map<string, number[]>();
      for (const counts of states.values()) {
        for (const part of parts) {
          const sums = counts.map((count, i) => {
            const { min, max: most } = contains[i]!;
            const sum = count + Number(part.counts[i]);
            return most === Infinity ? Math.min(sum, min) : sum;
          });
          if (sums.every((sum, i) => sum <= contains[i]!.max)) next.set(sums.join(), sums);
        }
      }
      states = next;
    }
    return false;
  }

  /** Whether there is an object of the type. */
  hasObject(object: ObjectShape): boolean {
    const possible = new Map<string, boolean>();
    for (const [key, { type, required }] of object.properties) {
      if (required && !this.has(type)) return false;
      possible.set(key, this.has(type));
    }
    const others = object.min === 0 ? 0 : this.#countOthers(object);
    if (object.clauses.length === 0) {
      const required = [...object.properties.values()].filter((entry) => entry.required).length;
      const most = [...possible.values()].filter(Boolean).length + others;
      return required <= object.max && most >= object.min;
    }
    return this.#satisfies(object, possible, others);
  }

  #countOthers(object: ObjectShape): number {
    let count = 0;
    for (const { keys, type } of object.others) {
      if (!this.has(type)) continue;
      const open: LanguageId = undeclared(this.graph, keys, object);
      const limit = Math.min(object.min, MAX_COUNTED);
      count += this.graph.languages.finite(open, limit)?.length ?? Infinity;
    }
    return count;
  }

  /** Tries the keys in clauses; the others are free. */
  #satisfies(object: ObjectShape, possible: Map<string, boolean>, others: number): boolean {
    const involved = new Set(object.clauses.flatMap((clause) => clause.map(({ key }) => key)));
    let fixed = 0;
    let free = others;
    for (const [key, { required }] of object.properties) {
      if (involved.has(key)) continue;
      if (required) fixed += 1;
      else if (possible.get(key)) free += 1;
    }
    return canBePresent({
      clauses: object.clauses,
      status: (key) => {
        if (!possible.get(key)) return "impossible";
        return object.properties.get(key)!.required ? "required" : "optional";
      },
      min: object.min - fixed - free,
      max: object.max - fixed,
    });
  }
}

/** How many values there are in some types together. */
function countAll(types: readonly FewValues[]): number {
  const values = new Set<string>();
  for (const type of types) {
    if (type === undefined) return Infinity;
    for (const value of type) values.add(value);
  }
  return values.size;
}

/** Most values that are listed. */
const MAX_VALUES = 1024;
/** Deepest nesting of types whose values are listed. */
const MAX_DEPTH = 16;

/** Lists the values of types. */
class FiniteValues {
  readonly #known = new Map<TypeId, FewValues>();
  #depth = 0;

  /** Lists values of these types. */
  constructor(readonly languages: Languages, readonly shapes: ReadonlyMap<TypeId, ClosedShape>) {}

  of(id: TypeId): FewValues {
    if (this.#known.has(id)) return this.#known.get(id);
    const shape = this.shapes.get(id);
    if (shape === undefined) return new Set();
    if (this.#depth === MAX_DEPTH) return undefined;
    // A type within itself has infinitely many values, or none.
    this.#known.set(id, undefined);
    this.#depth++;
    const values = this.#ofShape(shape);
    this.#depth--;
    this.#known.set(id, values);
    return values;
  }

  #ofShape(shape: ClosedShape): FewValues {
    const scalars = fewScalars(this.languages, shape, MAX_VALUES);
    if (scalars === undefined) return undefined;
    const values = new Set(scalars);
    const compound: (readonly string[] | undefined)[] = [
      ...shape.arrays.map((array) => this.#ofArray(array)),
      ...shape.objects.map((object) => this.#ofObject(object)),
    ];
    for (const texts of compound) {
      if (texts === undefined) return undefined;
      for (const text of texts) values.add(text);
      if (values.size > MAX_VALUES) return undefined;
    }
    return values;
  }

  #ofArray(array: SplitArray): string[] | undefined {
    const { prefix, rest, min, max, unique, contains, splits } = array;
    const complete: string[] = [];
    let open: (readonly string[])[] = [[]];
    const counts = (items: readonly string[], rule: number) =>
      items.filter((item, i) =>
        splits.get(prefix[i] ?? rest)!.some((part) =>
          part.counts[rule] && this.of(part.type)?.has(item)
        )
      ).length;
    for (let length = 0; open.length > 0; length++) {
      if (length >= min) {
        const fitting = open.filter((items) =>
          contains.every((rule, i) => {
            const count = counts(items, i);
            return count >= rule.min && count <= rule.max;
          })
        );
        complete.push(...fitting.map((items) => `[${items.join(",")}]`));
      }
      if (length >= max) break;
      const values = this.of(prefix[length] ?? rest);
      if (values === undefined || open.length * values.size > MAX_VALUES) return undefined;
      open = open.flatMap((items) =>
        [...values].filter((value) => !unique || !items.includes(value))
          .map((value) => [...items, value])
      );
      if (complete.length > MAX_VALUES) return undefined;
    }
    return complete;
  }

  #ofObject(object: ObjectShape): string[] | undefined {
    if (object.others.some(({ type }) => this.of(type)?.size !== 0)) return undefined;
    let open: ReadonlyMap<string, string>[] = [new Map()];
    for (const [key, { type, required }] of object.properties) {
      const values = this.of(type);
      if (values === undefined || open.length * (values.size + 1) > MAX_VALUES) return undefined;
      open = open.flatMap((members) => [
        ...(required ? [] : [members]),
        ...[...values].map((value) => new Map([...members, [key, value]])),
      ]);
    }
    return open.filter((members) =>
      members.size >= object.min && members.size <= object.max &&
      object.clauses.every((clause) =>
        clause.some(({ key, present }) => members.has(key) === present)
      )
    ).map((members) => {
      const texts = [...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`);
      return `{${texts.sort().join(",")}}`;
    });
  }
}

// Whether keys can be present and absent in such a way that clauses hold and their number is within
// bounds: a search with unit propagation (Davis, Logemann and Loveland, 1962) and a limit on its
// steps.

/** Most literals that are examined. */
const MAX_STEPS = 500_000;

/** The question. */
interface PresenceProblem {
  /** Clauses: at least one literal of each must hold. */
  readonly clauses: readonly Clause[];
  /** For each key, whether it is required, optional or forbidden. */
  status(key: string): "required" | "optional" | "impossible";
  /** Bounds of the number of present keys among those in clauses. */
  readonly min: number;
  readonly max: number;
}

/** Whether there is a solution. @throws {AlgebraError} if finding out takes too long */
function canBePresent(problem: PresenceProblem): boolean {
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
