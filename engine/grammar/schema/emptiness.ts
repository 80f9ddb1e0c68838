// Which types have a value at all: the least fixpoint over all types together. A type that needs itself
// to be finite has none. Answers are exact but for counting problems over a cap, which are errors.

import type { LanguageId } from "../language/mod.ts";
import type { TypeId } from "../types.ts";
import { childrenOf, type ClosedShape, sizeOf, type SplitArray } from "./collect.ts";
import { undeclared } from "./objects.ts";
import { AlgebraError } from "./schema_error.ts";
import type { ObjectShape } from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";

/** Members that are counted before a set passes as unlimited. */
const MAX_COUNTED = 1024;
/** Assignments of keys that are tried. */
const MAX_TRIALS = 10_000;

/** The types that have a value. */
export class Inhabited {
  readonly #alive = new Set<TypeId>();
  readonly #sizes = new Map<TypeId, number>();

  /** Finds all of them. */
  constructor(readonly graph: TypeGraph, readonly shapes: ReadonlyMap<TypeId, ClosedShape>) {
    const users = new Map<TypeId, TypeId[]>();
    for (const [id, shape] of shapes) {
      for (const child of new Set(childrenOf(shape))) {
        users.set(child, [...users.get(child) ?? [], id]);
      }
    }
    const waiting = new Set(shapes.keys());
    for (const id of waiting) {
      waiting.delete(id);
      if (this.#alive.has(id) || !this.#isInhabited(shapes.get(id)!)) continue;
      this.#alive.add(id);
      for (const user of users.get(id) ?? []) waiting.add(user);
    }
  }

  /** True if a type has a value. */
  has(id: TypeId): boolean {
    return this.#alive.has(id);
  }

  #isInhabited(shape: ClosedShape): boolean {
    return shape.null || shape.booleans.length > 0 || shape.numbers !== undefined ||
      shape.strings !== undefined || shape.arrays.some((array) => this.hasArray(array)) ||
      shape.objects.some((object) => this.hasObject(object));
  }

  /** True if there is an array of the type. */
  hasArray(array: SplitArray): boolean {
    const ends = array.prefix.findIndex((item) => !this.has(item));
    const longest = ends >= 0 ? ends : this.has(array.rest) ? Infinity : array.prefix.length;
    const max = Math.min(array.max, longest);
    if (max < array.min) return false;
    if (array.unique && !this.#hasDistinct(array)) return false;
    if (array.contains.length === 0) return true;
    return this.#canCount(array, max);
  }

  /** True unless the items surely are too few to be different. */
  #hasDistinct({ prefix, rest, min }: SplitArray): boolean {
    if (min > prefix.length && prefix.length === 0) return this.#size(rest) >= min;
    return true;
  }

  #size(id: TypeId): number {
    let size = this.#sizes.get(id);
    if (size === undefined) {
      const shape = this.shapes.get(id);
      this.#sizes.set(id, size = shape ? sizeOf(this.graph, shape, MAX_COUNTED) : 0);
    }
    return size;
  }

  /** Breadth first over how many items count for each `contains`. */
  #canCount(array: SplitArray, max: number): boolean {
    const { contains, prefix, rest, splits } = array;
    const done = (counts: readonly number[], length: number) =>
      length >= array.min && contains.every(({ min }, i) => counts[i]! >= min);
    let states = new Map([["", contains.map(() => 0)]]);
    const enough = Math.max(array.min, prefix.length) +
      contains.reduce((sum, { min }) => sum + min, 0);
    for (let length = 0; states.size > 0; length++) {
      for (const counts of states.values()) if (done(counts, length)) return true;
      if (length >= Math.min(max, enough)) return false;
      const parts = splits.get(prefix[length] ?? rest) ?? [];
      const next = new Map<string, number[]>();
      for (const counts of states.values()) {
        for (const part of parts) {
          if (!this.has(part.type)) continue;
          const sums = counts.map((count, i) => {
            const { min, max: most } = contains[i]!;
            const sum = count + Number(part.counts[i]);
            return most === Infinity ? Math.min(sum, min) : sum;
          });
          if (sums.every((sum, i) => sum <= contains[i]!.max)) next.set(sums.join(), sums);
        }
      }
      states = next;
      if (states.size > MAX_TRIALS || length > MAX_TRIALS) {
        throw new AlgebraError("its items cannot be counted: there are too many ways");
      }
    }
    return false;
  }

  /** True if there is an object of the type. */
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

  /** Tries the keys that clauses speak of, the others being free. */
  #satisfies(object: ObjectShape, possible: Map<string, boolean>, others: number): boolean {
    const keys = [...new Set(object.clauses.flatMap((clause) => clause.map(({ key }) => key)))];
    const involved = new Set(keys);
    let fixed = 0;
    let free = others;
    for (const [key, { required }] of object.properties) {
      if (involved.has(key)) continue;
      if (required) fixed += 1;
      else if (possible.get(key)) free += 1;
    }
    let trials = 0;
    const chosen = new Map<string, boolean>();
    // As deep as there are keys in clauses, which the cap on trials bounds too.
    const search = (index: number, count: number): boolean => {
      if (++trials > MAX_TRIALS) {
        throw new AlgebraError(
          "which keys may go together cannot be told: there are too many ways",
        );
      }
      const fails = object.clauses.some((clause) =>
        clause.every(({ key, present }) => chosen.has(key) && chosen.get(key) !== present)
      );
      if (fails || count > object.max) return false;
      if (index === keys.length) return count + free >= object.min;
      const key = keys[index]!;
      const { required } = object.properties.get(key)!;
      for (const present of [true, false]) {
        if (present ? !possible.get(key) : required) continue;
        chosen.set(key, present);
        if (search(index + 1, count + Number(present))) return true;
        chosen.delete(key);
      }
      return false;
    };
    return search(0, fixed);
  }
}
