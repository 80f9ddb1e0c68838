// Random schemas and random values, judged by Ajv: what readSchema's types allow must be what the schema
// allows. Schemas that are said to have no value must have none among those that are tried. QUERN_FUZZ=N
// tries N times as many as a whole run has; the everyday one tries a fifth of them.

import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fromPlain } from "../../../../engine/grammar/json/mod.ts";
import { readSchema, SchemaError } from "../../../../engine/grammar/schema/mod.ts";
import { accepts } from "./accepts.ts";

const SCHEMAS = 1500 * Number(Deno.env.get("QUERN_FUZZ") ?? 0.2);
const VALUES = 40;
const KEYS = ["a", "b", "ab", "c"];

/** Draws that a seed repeats (mulberry32). */
class Draws {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor(((t ^ (t >>> 14)) >>> 0) / 2 ** 32 * limit);
  }
  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
  some<T>(items: readonly T[]): T[] {
    return items.filter(() => this.below(2) === 0);
  }
}

function randomValue(draws: Draws, depth: number): unknown {
  const scalars = [null, true, false, 0, 1, 2, 3.5, -1, "", "a", "b", "ab", "abc"];
  const kind = depth > 0 ? draws.below(6) : 0;
  if (kind < 3) return draws.one(scalars);
  if (kind === 3) {
    return Array.from({ length: draws.below(4) }, () => randomValue(draws, depth - 1));
  }
  return Object.fromEntries(draws.some(KEYS).map((key) => [key, randomValue(draws, depth - 1)]));
}

/** A schema; `loosely`: with keywords whose complement may have no exact form. */
function randomSchema(draws: Draws, depth: number, loosely: boolean): unknown {
  if (draws.below(12) === 0) return draws.below(3) > 0;
  const schema: Record<string, unknown> = {};
  const inner = () => randomSchema(draws, depth - 1, loosely);
  const list = () => Array.from({ length: 1 + draws.below(3) }, inner);
  const named = (keys: readonly string[]) =>
    Object.fromEntries(draws.some(keys).map((key) => [key, inner()]));
  const scalar: [string, () => unknown][] = [
    [
      "type",
      () => draws.one(["null", "boolean", "integer", "number", "string", "array", "object"]),
    ],
    [
      "type",
      () => [...new Set([draws.one(["string", "object"]), draws.one(["array", "integer"])])],
    ],
    ["const", () => randomValue(draws, 1)],
    ["enum", () => Array.from({ length: 4 }, () => randomValue(draws, 1))],
    ["minimum", () => draws.below(3)],
    ["exclusiveMaximum", () => draws.below(4)],
    ["multipleOf", () => draws.one([1, 2, 0.5])],
    ["minLength", () => draws.below(3)],
    ["maxLength", () => draws.below(3)],
    ["pattern", () => draws.one(["^a", "b$", "^[ab]*$"])],
    ["minItems", () => draws.below(3)],
    ["maxItems", () => draws.below(3)],
    ["uniqueItems", () => true],
    ["required", () => draws.some(KEYS)],
    ["minProperties", () => draws.below(3)],
    ["maxProperties", () => draws.below(3)],
    ["dependentRequired", () => ({ [draws.one(KEYS)]: draws.some(KEYS) })],
  ];
  const nested: [string, () => unknown][] = [
    ["properties", () => named(KEYS)],
    ["properties", () => named(KEYS)],
    ["items", inner],
    ["allOf", list],
    ["anyOf", list],
    ["oneOf", list],
    ["not", inner],
    ["if", inner],
    ["then", inner],
    ["else", inner],
    ["dependentSchemas", () => ({ [draws.one(KEYS)]: inner() })],
  ];
  if (loosely) {
    nested.push(
      ["patternProperties", () => named(["^a", "b$"])],
      ["additionalProperties", inner],
      ["propertyNames", () => ({ [draws.one(["pattern", "const"])]: draws.one(["a", "^b"]) })],
      ["contains", inner],
    );
  } else {
    // Not beside `contains`: Ajv then passes over an array without items.
    nested.push(["prefixItems", list]);
  }
  const count = 1 + draws.below(3);
  for (let i = 0; i < count; i++) {
    const [keyword, make] = draws.one(depth > 0 && draws.below(3) > 0 ? nested : scalar);
    schema[keyword] = make();
  }
  // Ajv does not look at an `if` that decides nothing, though what it evaluates counts.
  if ("if" in schema && !("else" in schema)) schema.then ??= { minProperties: 0 };
  return schema;
}

/** Compares on random schemas; returns how many were read, and for how many values it is stricter. */
function compare(loosely: boolean): { read: number; stricter: number } {
  const ajv = new Ajv2020({ strict: false, logger: false });
  // What keeps account of evaluated keys fails on some schemas, and none here asks for it.
  ajv.opts.unevaluated = false;
  let read = 0;
  let stricter = 0;
  for (let seed = 1; seed <= SCHEMAS; seed++) {
    const draws = new Draws(seed);
    const schema = randomSchema(draws, 3, loosely);
    const judge = ajv.compile(schema as object);
    let allows = (_value: unknown): boolean => false;
    try {
      const { types, languages } = readSchema(fromPlain(schema));
      allows = (value) => accepts(types, languages, fromPlain(value));
      read++;
    } catch (error) {
      assert(error instanceof SchemaError, `${JSON.stringify(schema)}: ${error}`);
      if (!error.message.includes("cannot be satisfied")) continue;
    }
    for (let i = 0; i < VALUES; i++) {
      const value = randomValue(draws, 3);
      const about = `${JSON.stringify(value)} for ${JSON.stringify(schema)} (seed ${seed})`;
      if (allows(value)) assertEquals(judge(value), true, `allowed: ${about}`);
      else if (!loosely) assertEquals(judge(value), false, `not allowed: ${about}`);
      else stricter += Number(judge(value));
    }
  }
  return { read, stricter };
}

Deno.test("readSchema() allows exactly what Ajv allows, for random schemas", () => {
  assert(compare(false).read > SCHEMAS * 2 / 3);
});

Deno.test("readSchema() allows nothing that Ajv does not, where keys are matched by patterns too", () => {
  const { read, stricter } = compare(true);
  assert(read > SCHEMAS * 2 / 3, `${read} were read`);
  // Negated pattern keywords may have no exact form: then some branch is left out.
  assert(stricter < SCHEMAS * VALUES / 500, `${stricter} values are refused`);
});
