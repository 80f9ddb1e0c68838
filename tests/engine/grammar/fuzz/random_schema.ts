// Random schemas with every keyword that binds. Most have values, as each is made about a type; some
// contradict themselves, which the compiler is to notice.

import type { Draws } from "./draws.ts";

type Schema = Record<string, unknown>;

/** Without "" and "__proto__", which Ajv passes over in `required` and `properties`. */
const KEYS = ["a", "b", "ab", "name", "x-a", "1", "é", "😀", 'q"', "line\n"];
const PATTERNS = [
  ...["^a", "b$", "^[ab]*$", "^x-", "[^a]", "^\\d{2,4}$", "^(?:foo|bar)+$", "^(?!a)", "é|😀"],
  ...["^.{2,5}$", "^[^\\n]*$", "\\w-\\w", "^(?=.*a)(?=.*b)", "\\p{Lu}", "^\\S+( \\S+)*$", "\\\\"],
];
const FORMATS = [
  ...["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"],
  ...["uri-reference", "json-pointer", "relative-json-pointer", "regex", "no such format"],
];
const BOUNDS = [-1000, -7.5, -3, -1, -0.5, 0, 1e-3, 0.1, 0.5, 1, 2, 3.75, 10, 99, 1e6, 1e16];
const DIVISORS = [1, 2, 3, 7, 12, 0.5, 0.25, 0.1, 0.01, 2.5, 1000];
const VALUES = [
  ...[null, true, false, 0, 1, -1, 2.5, 1e21, 1e-7, "", "a", "ab", "é", "\u0000", "😀"],
  ...[[], {}, [1], [[1], "a"], { a: 1 }, { b: null, a: [] }],
];

/** Makes one schema. */
export class SchemaMaker {
  readonly #draws: Draws;
  /** Whether the schema is of draft 7, or else 2020-12. */
  readonly #isOld: boolean;

  private constructor(draws: Draws) {
    this.#draws = draws;
    this.#isOld = draws.oneIn(4);
  }

  /** A schema that is a whole document. */
  static make(draws: Draws): Schema {
    const maker = new SchemaMaker(draws);
    const [name, $schema] = maker.#isOld
      ? ["definitions", "http://json-schema.org/draft-07/schema#"]
      : ["$defs", "https://json-schema.org/draft/2020-12/schema"];
    const root = maker.#schema(3);
    const hasReferences = JSON.stringify(root).includes("#/$defs/node");
    if (!hasReferences) return { $schema, ...root };
    const text = JSON.stringify({ $schema, ...root, $defs: { node: maker.#schema(2) } });
    return JSON.parse(text.replaceAll("$defs", name!));
  }

  #schema(depth: number): Schema {
    const draws = this.#draws;
    const kinds = [
      () => this.#string(),
      () => this.#number(),
      () => ({ enum: draws.some(VALUES).concat([draws.one(VALUES)]) }),
      () => ({ type: draws.one(["string", "integer", "boolean", "null", "number"]) }),
    ];
    if (depth > 0) {
      kinds.push(
        ...[0, 1, 2].map(() => () => this.#object(depth - 1)),
        ...[0, 1].map(() => () => this.#array(depth - 1)),
        () => this.#combined(depth - 1),
        () => this.#combined(depth - 1),
        () => ({ $ref: draws.oneIn(4) ? "#" : "#/$defs/node" }),
      );
    }
    return draws.one(kinds)();
  }

  /** Each keyword with one chance in so many. */
  #pick(keywords: readonly (readonly [odds: number, keyword: string, value: () => unknown])[]) {
    const chosen = keywords.filter(([odds]) => this.#draws.oneIn(odds));
    return Object.fromEntries(chosen.map(([, keyword, value]) => [keyword, value()]));
  }

  #string(): Schema {
    const draws = this.#draws;
    return {
      type: "string",
      ...this.#pick([
        [3, "minLength", () => draws.one([0, 1, 2, 3, 10])],
        [3, "maxLength", () => draws.one([3, 5, 8, 20, 4000])],
        [3, "pattern", () => draws.one(PATTERNS)],
        [4, "format", () => draws.one(FORMATS)],
        [8, "not", () => ({ pattern: draws.one(PATTERNS) })],
      ]),
    };
  }

  #number(): Schema {
    const draws = this.#draws;
    const [low, high] = [draws.one(BOUNDS), draws.one(BOUNDS)].sort((a, b) => a - b);
    return {
      type: draws.one(["number", "number", "integer"]),
      ...this.#pick([
        [2, draws.one(["minimum", "exclusiveMinimum"]), () => low],
        [2, draws.one(["maximum", "exclusiveMaximum"]), () => high],
        [3, "multipleOf", () => draws.one(DIVISORS)],
        [8, "not", () => ({ enum: [low, 0, 1] })],
      ]),
    };
  }

  #object(depth: number): Schema {
    const draws = this.#draws;
    const inner = () => this.#schema(depth);
    const named = (keys: readonly string[]) =>
      JSON.parse(`{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(inner())}`)}}`);
    const several = (items: readonly string[]) => draws.some(draws.some(items));
    const keys = several(KEYS);
    const dependent: (readonly [number, string, () => unknown])[] = this.#isOld
      ? [[4, "dependencies", () => ({ [draws.one(KEYS)]: several(KEYS) })]]
      : [
        [5, "dependentRequired", () => ({ [draws.one(KEYS)]: several(KEYS) })],
        // Not both: Ajv forgets what is evaluated where a dependency does not apply.
        draws.oneIn(2)
          ? [4, "dependentSchemas", () => ({ [draws.one(KEYS)]: this.#object(0) })]
          : [4, "unevaluatedProperties", () => draws.oneIn(2) ? false : inner()],
      ];
    return {
      type: "object",
      ...this.#pick([
        [1, "properties", () => named(keys)],
        [2, "required", () => several(keys)],
        [2, "additionalProperties", () => draws.oneIn(2) ? false : inner()],
        [4, "patternProperties", () => named(draws.some(PATTERNS.slice(0, 3)))],
        [6, "propertyNames", () => ({ pattern: draws.one(PATTERNS) })],
        [5, "minProperties", () => draws.between(0, 3)],
        [5, "maxProperties", () => draws.between(2, 4)],
        ...dependent,
      ]),
    };
  }

  #array(depth: number): Schema {
    const draws = this.#draws;
    const inner = () => this.#schema(depth);
    const list = () => Array.from({ length: draws.between(1, 3) }, inner);
    const most = draws.between(2, 5);
    const newer: (readonly [number, string, () => unknown])[] = this.#isOld ? [] : [
      [4, "prefixItems", list],
      [6, "minContains", () => draws.below(3)],
      [6, "maxContains", () => draws.between(2, 3)],
      [10, "unevaluatedItems", () => draws.oneIn(2) ? false : inner()],
    ];
    return {
      type: "array",
      ...this.#pick([
        [1, "items", () => this.#isOld && draws.oneIn(4) ? list() : inner()],
        [4, "minItems", () => draws.below(most + 1)],
        [2, "maxItems", () => most],
        [4, "uniqueItems", () => true],
        [5, "contains", inner],
        ...newer,
      ]),
    };
  }

  #combined(depth: number): Schema {
    const draws = this.#draws;
    const inner = () => this.#schema(depth);
    const list = () => Array.from({ length: draws.between(2, 3) }, inner);
    const narrower = () => draws.one([() => this.#object(depth), inner])();
    switch (draws.below(6)) {
      case 0:
        return { anyOf: list() };
      case 1:
        return { oneOf: list() };
      case 2:
        return { ...this.#object(depth), allOf: [this.#object(depth)] };
      case 3:
        return { ...inner(), not: narrower() };
      case 4:
        return { ...this.#object(depth), if: narrower(), then: narrower(), else: narrower() };
      default:
        return { ...inner(), anyOf: list() };
    }
  }
}
