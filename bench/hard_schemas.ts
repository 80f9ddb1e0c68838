// Schemas whose token masks are hard to make: 39 with names, each hard for a reason of its own, and
// any number that a seed draws from the same ingredients.

/** A schema and its name. */
export interface HardSchema {
  readonly name: string;
  readonly schema: unknown;
}

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const named = (count: number, make: (index: number) => unknown, name = "d") =>
  Object.fromEntries(list(count, (index) => [`${name}${index}`, make(index)]));

const text = (pattern: string, more: object = {}) => ({ type: "string", pattern, ...more });

const object = (properties: Record<string, unknown>, more: object = {}) => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
});

/** A pattern of many look-aheads, each of which depends on how far back something was. */
const LOOK_AHEADS = `^${list(12, (index) => `(?=.*a.{${index + 1}}b)`).join("")}.*$`;

const NAMED: Readonly<Record<string, unknown>> = {
  // Patterns that depend on characters a number of places ago.
  "a past of 20": text("^.*a.{20}$"),
  "a past of 20, 40 to 60 characters": text("^.*a.{20}$", { minLength: 40, maxLength: 60 }),
  "a past of 20, 60 characters at least": text("^.*a.{20}$", { minLength: 60 }),
  "a past of 300": text("^.*a.{300}$"),
  "a past of 15 of two letters": text("^(a|b)*a(a|b){15}$"),
  "two distances of 100": text("a.{100}b.{100}c"),
  "two distances of 1,000": text("a.{1000}b.{1000}c"),
  "12 look-aheads": text(LOOK_AHEADS),
  "look-behinds": text("((?<=a.{10})b|c(?<!a.{12}))*$"),
  "20 distances in allOf": { allOf: list(20, (index) => text(`a.{${index}}b`)) },
  "20 distances in oneOf": { oneOf: list(20, (index) => text(`a.{${index}}b`)) },
  "10 distances in not": {
    type: "string",
    allOf: list(10, (index) => ({ not: text(`${index}.{${index + 3}}z`) })),
  },
  "any of five texts": {
    anyOf: list(
      5,
      (index) => text(`^.*${"abcx0"[index]}.{${7 + index}}$`, { minLength: 9 * index }),
    ),
  },
  "two letters 20 apart": text("^([a-m]*b|x.y)*a[a-z ]{20}$"),
  // Counts within counts, and long texts.
  "three nested counts": text("^((a{1,30}b?){1,30}c?){1,30}$"),
  "30 nested counts": text(`^${list(30, () => 0).reduce((inner) => `(?:${inner}){1,9}`, "a")}$`),
  "words of 65,536 characters at most": text("^[a-z]+(-[a-z]+)*$", { maxLength: 65_536 }),
  "words of 3,000 characters at least": text("^[a-z]+(-[a-z]+)*$", { minLength: 3000 }),
  "letters of all scripts": text("^\\p{L}+$", { minLength: 5 }),
  "a class of 20,000 ranges": text(
    `^[${list(20_000, (index) => String.fromCodePoint(0x100 + 2 * index)).join("")}]+$`,
  ),
  "5,000 words over and over": text(
    `^(${list(5000, (index) => `w${(index * 7919).toString(36)}`).join("|")})*$`,
  ),
  // Formats.
  "idn-hostname of 20 characters at least": {
    type: "string",
    format: "idn-hostname",
    minLength: 20,
  },
  "regular expressions": { type: "string", format: "regex" },
  "no format of six": {
    type: "string",
    allOf: ["date-time", "uri", "email", "hostname", "regex", "ipv6"].map((format) => ({
      not: { format },
    })),
  },
  "any format of six": {
    anyOf: ["iri", "idn-email", "uri-template", "json-pointer", "duration", "ipv6"].map((
      format,
    ) => ({ type: "string", format, minLength: 12 })),
  },
  // Keys.
  "overlapping keys": {
    type: "object",
    patternProperties: Object.fromEntries(
      list(6, (index) => [`^.*${"abcx0-"[index]}.*b`, { minimum: index }]),
    ),
  },
  "names of properties": {
    type: "object",
    propertyNames: text("^.*a.{12}$", { maxLength: 40 }),
    minProperties: 6,
    additionalProperties: { type: "string", pattern: "^.*b.{9}$" },
  },
  "3,000 properties": { type: "object", properties: named(3000, () => ({ type: "string" })) },
  "40 required keys in any order": {
    type: "object",
    required: list(40, (index) => `key ${index}`),
    additionalProperties: text("^.*a.{9}$"),
  },
  "200 triples of keys": {
    type: "object",
    allOf: list(200, (index) => ({
      not: { required: [`a${index}`, `b${index}`, `c${index}`] },
    })),
  },
  // Unions of objects and arrays.
  "200 objects": {
    anyOf: list(200, (index) =>
      object({ a: text(`^x*.{${index}}y`), [`b${index}`]: {} }, {
        required: ["a"],
        minProperties: 1 + index % 2,
      })),
  },
  "1,000 branches that a key tells apart": {
    oneOf: list(
      1000,
      (index) =>
        object({ kind: { const: `k${index}` }, [`p${index}`]: { type: "string" } }, {
          required: ["kind"],
        }),
    ),
  },
  "30 conditions": {
    allOf: list(30, (index) => ({
      if: { properties: { kind: { const: `k${index}` } }, required: ["kind"] },
      then: { required: [`r${index}`] },
      else: { properties: { [`q${index}`]: { type: "string" } } },
    })),
  },
  "unique texts": {
    type: "array",
    uniqueItems: true,
    minItems: 4,
    items: text("^(a|b|.{3}a.{9})*$"),
  },
  "unique objects": {
    type: "array",
    uniqueItems: true,
    minItems: 3,
    items: object({ a: text("^.*a.{9}$"), b: { enum: list(40, (index) => `b${index}`) } }),
  },
  "500 items that count": { type: "array", contains: { const: 1 }, minContains: 500 },
  "5,000 constants": {
    enum: list(5000, (index) => `${index * 7919} and ${index * 104_729}`),
  },
  // Numbers.
  "multiples of a large prime": { type: "integer", multipleOf: 1_000_000_007 },
  "multiples of one of 40 divisors": {
    anyOf: list(40, (index) => ({ type: "integer", multipleOf: index + 11 })),
  },
};

/** The schemas that have names. */
export const HARD_SCHEMAS: readonly HardSchema[] = Object.entries(NAMED).map(
  ([name, schema]) => ({ name, schema }),
);

/** A schema drawn by a seed: texts of hard patterns, within types that make them harder. */
export function drawHardSchema(seed: number): HardSchema {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0;
  const below = (limit: number) => {
    state = Math.imul(state ^ state >>> 15, 0x85ebca6b) + 0x6d2b79f5 | 0;
    return Math.floor((state ^ state >>> 13) >>> 0) % limit;
  };
  const one = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const letter = () => one(["a", "b", "x", "0", "-", "\\s", "[a-m]", "\\w", "é", "[^c]"]);
  const pattern = (): string =>
    one([
      () => `^.*${letter()}.{${1 + below(40)}}$`,
      () => `${letter()}.{${1 + below(200)}}${letter()}.{${below(200)}}${letter()}`,
      () => `^(${letter()}|${letter()}b)*${letter()}(a|${letter()}){${1 + below(18)}}$`,
      () =>
        `^${
          list(2 + below(8), () => `(?=.*${letter()}.{${1 + below(12)}}${letter()})`).join("")
        }.*$`,
      () => `^(?!.*${letter()}.{${below(9)}}${letter()})(.{2}${letter()}?)*$`,
      () => `((?<=${letter()}.{${below(12)}})${letter()}|c)*$`,
      () => `^((${letter()}{1,${2 + below(40)}}b?){1,${2 + below(40)}}c?){1,${2 + below(40)}}$`,
      () => `^(${list(2 + below(60), (at) => `w${(at * 7919).toString(36)}`).join("|")})*$`,
    ])();
  const string = (): unknown => ({
    ...text(pattern()),
    ...one([
      () => ({}),
      () => ({ minLength: below(70) }),
      () => ({ maxLength: 60 + below(900) }),
    ])(),
  });
  const schema = one<() => unknown>([
    string,
    string,
    () => ({ allOf: list(2 + below(8), (at) => text(`${letter()}.{${at}}${letter()}`)) }),
    () => ({ oneOf: list(2 + below(8), (at) => text(`${letter()}.{${at}}${letter()}`)) }),
    () => ({ anyOf: list(2 + below(6), string) }),
    () => ({ type: "string", allOf: list(2 + below(5), () => ({ not: text(pattern()) })) }),
    () => ({ type: "array", uniqueItems: true, minItems: 2 + below(5), items: string() }),
    () => ({
      type: "object",
      patternProperties: Object.fromEntries(
        list(2 + below(4), (at) => [`^.*${letter()}.*${letter()}${at}`, { minimum: at }]),
      ),
    }),
    () => ({
      type: "object",
      propertyNames: string(),
      minProperties: below(4),
      additionalProperties: string(),
    }),
    () => ({
      anyOf: list(2 + below(30), (at) => ({
        ...object({
          [`k${at % 3}`]: string(),
          [`o${at}`]: { type: "integer", multipleOf: at + 2 },
        }),
        required: [`k${at % 3}`],
      })),
    }),
  ])();
  return { name: `drawn ${seed}`, schema };
}
