// The values of types that have few, one by one, by which items that must differ are counted.

import type { Languages } from "../language/mod.ts";
import type { TypeId } from "../types.ts";
import type { ClosedShape, SplitArray } from "./collect.ts";
import { fewScalars, type FewValues } from "./canonical.ts";
import type { ObjectShape } from "./shape.ts";

/** Most values that are listed. */
const MAX_VALUES = 1024;
/** Deepest nesting of types whose values are listed. */
const MAX_DEPTH = 16;

/** Lists the values of types. */
export class FiniteValues {
  readonly #known = new Map<TypeId, FewValues>();
  #depth = 0;

  /** Lists values of these types. */
  constructor(readonly languages: Languages, readonly shapes: ReadonlyMap<TypeId, ClosedShape>) {}

  /** The values of a type. */
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
