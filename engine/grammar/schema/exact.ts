// The types of const and enum: exactly the listed values, of any kind. Numbers are equal by value,
// objects whatever the order of their keys.

import { Decimal, type JsonValue } from "../json/mod.ts";
import { exactly } from "../number/mod.ts";
import type { TypeId } from "../types.ts";
import { canonical, canonicalAsWritten } from "./schema_input.ts";
import { type ArrayShape, NONE, type ObjectShape, type Shape, typesOf } from "./shape.ts";
import { AlgebraError } from "./schema_error.ts";
import { literals } from "./strings.ts";
import type { TypeGraph } from "./type_graph.ts";

/** Most values that a schema may list. */
const MAX_VALUES = 100_000;
/**
 * Most arrays and objects among them, because each is an alternative of its own while it is
 * written.
 */
const MAX_COMPOUND = 2048;
/** Most values within these, because each is a type, which takes a tenth of a millisecond. */
const MAX_WITHIN = 10_000;

/** Types of exact values, one per value. */
export class ExactTypes {
  readonly #ids = new Map<string, TypeId>();
  #within = 0;

  constructor(readonly graph: TypeGraph) {}

  /** The type of exactly these values. */
  of(values: readonly JsonValue[]): TypeId {
    if (values.length > MAX_VALUES) {
      throw new AlgebraError(`it lists more than ${MAX_VALUES} values`);
    }
    const distinct = new Map<string, JsonValue>();
    for (const value of values) {
      const name = canonical(value);
      // Of equal values, the first is the one that is written.
      if (!distinct.has(name)) distinct.set(name, value);
    }
    const key = Array.from(distinct.values(), canonicalAsWritten).join(",");
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = distinct.size === 0 ? NONE : this.graph.constant(this.#shape([...distinct.values()]));
      this.#ids.set(key, id);
    }
    return id;
  }

  #shape(values: readonly JsonValue[]): Shape {
    const texts = values.filter((value) => typeof value === "string");
    const numbers = values.filter((value) => value instanceof Decimal);
    const { languages } = this.graph;
    const compound = values.filter((value) => Array.isArray(value) || value instanceof Map);
    if (compound.length > MAX_COMPOUND) {
      throw new AlgebraError(`it lists more than ${MAX_COMPOUND} arrays and objects`);
    }
    const shape = {
      null: values.includes(null),
      booleans: [false, true].filter((value) => values.includes(value)),
      numbers: numbers.length > 0 ? exactly(numbers) : undefined,
      strings: texts.length > 0
        ? { language: literals(languages, texts), min: 0, max: Infinity }
        : undefined,
      arrays: compound.filter((value) => Array.isArray(value)).map((value) => this.#array(value)),
      objects: compound.filter((value) => value instanceof Map)
        .map((value) => this.#object(value)),
    };
    return { ...shape, mentioned: typesOf(shape) };
  }

  /** The type of a value within another one. */
  #part(value: JsonValue): TypeId {
    if (++this.#within > MAX_WITHIN) {
      throw new AlgebraError(`it lists more than ${MAX_WITHIN} values within arrays and objects`);
    }
    return this.of([value]);
  }

  #array(items: readonly JsonValue[]): ArrayShape {
    return {
      ...NO_ARRAY,
      prefix: items.map((item) => this.#part(item)),
      min: items.length,
      max: items.length,
    };
  }

  #object(members: ReadonlyMap<string, JsonValue>): ObjectShape {
    return {
      properties: new Map(
        [...members].map(([key, value]) => [
          key,
          {
            type: this.#part(value),
            required: true,
            ...this.graph.closesObjects && { isDeclared: true },
          },
        ]),
      ),
      others: [],
      min: 0,
      max: Infinity,
      clauses: [],
      wantedKeys: [],
    };
  }
}

const NO_ARRAY: ArrayShape = {
  prefix: [],
  rest: NONE,
  min: 0,
  max: 0,
  unique: false,
  contains: [],
};
