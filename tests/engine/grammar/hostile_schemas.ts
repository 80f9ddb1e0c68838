// Hostile schemas for hostile_test.ts: too deep, cyclic, products of unions, patterns and numbers that
// explode, too long, counts that nothing meets. Some are enforced; the others must be refused in time.

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(list(count, (index) => [`d${index}`, make(index)]));
const nested = (depth: number, wrap: (inner: unknown) => unknown, inner: unknown = {}) => {
  for (let i = 0; i < depth; i++) inner = wrap(inner);
  return inner;
};
/** Definitions that each refer to the next; the first is the schema. */
const chain = (count: number, make: (next: unknown, index: number) => unknown, last: unknown) => ({
  $ref: "#/$defs/d0",
  $defs: named(
    count,
    (i) => i < count - 1 ? make({ $ref: `#/$defs/d${i + 1}` }, i) : last,
  ),
});
const text = (pattern: string) => ({ type: "string", pattern });
const several = (keyword: string, count: number, make: (index: number) => unknown) => ({
  [keyword]: list(count, make),
});

/** A hostile schema; the keyword that it is refused for, "" for none; undefined: it is enforced. */
export type Hostile = [name: string, make: () => unknown, refused?: string];

const DEEP: Hostile[] = [
  ["10,000 levels of items", () => nested(10_000, (items) => ({ items })), ""],
  ["10,000 levels of text", () => '{"items":'.repeat(10_000) + "{}" + "}".repeat(10_000), ""],
  ["half a million levels that do not end", () => '{"items":'.repeat(500_000), ""],
  [
    "a value within itself",
    () => {
      const schema: Record<string, unknown> = {};
      return schema.items = schema;
    },
    "",
  ],
  ["a value twice in itself, 100 times", () => nested(100, (x) => ({ allOf: [x, x] })), ""],
  ["a constant of 500 levels", () => ({ const: nested(500, (x) => [x], 1) })],
  ["10,000 references in a row", () => chain(10_000, (next) => next, { type: "null" })],
  [
    "1,000 arrays that each need the next",
    () => chain(1000, (items) => ({ type: "array", minItems: 1, items }), { type: "null" }),
  ],
  [
    "an array of 2^60 items at least",
    () => chain(60, (items) => ({ type: "array", minItems: 2, items }), { type: "null" }),
  ],
];

const CYCLIC: Hostile[] = [
  ["a reference to itself", () => ({ $ref: "#" }), "$ref"],
  ["two references to each other", () => ({
    $ref: "#/$defs/a",
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
  }), "$ref"],
  ["a reference to itself in allOf", () => ({ allOf: [{ $ref: "#" }] }), "$ref"],
  ["its own negation", () => ({ not: { $ref: "#" } }), "$ref"],
  [
    "an object that needs itself",
    () => ({ type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }),
    "$ref",
  ],
  [
    "200 mutually recursive types, three of them at once",
    () => ({
      $defs: named(200, (i) => ({
        type: "object",
        properties: named(20, (j) => ({ $ref: `#/$defs/d${(i * 7 + j) % 200}` })),
      })),
      allOf: [{ $ref: "#/$defs/d0" }, { $ref: "#/$defs/d1" }, { $ref: "#/$defs/d2" }],
    }),
    "allOf",
  ],
];

const PRODUCTS: Hostile[] = [
  ["2^200 references in allOf", () => chain(200, (x) => ({ allOf: [x, x] }), { type: "null" })],
  ["2^100 negations", () => chain(100, (x) => ({ not: { allOf: [x, { not: x }] } }), {})],
  [
    "60 levels of oneOf and not",
    () => chain(60, (x, i) => ({ oneOf: [x, { not: x }, { required: [`k${i}`] }] }), {}),
  ],
  [
    "20 unions of objects at once",
    () =>
      several("allOf", 20, (i) => ({
        anyOf: [{ properties: { [`a${i}`]: false } }, {
          properties: { [`b${i}`]: { minimum: i } },
        }],
      })),
    "allOf",
  ],
  [
    "20 unions of patterns at once",
    () => several("allOf", 20, (i) => ({ anyOf: [text(`a${i}`), text(`b${i}`)] })),
    "allOf",
  ],
  [
    "200 overlapping branches of oneOf",
    () => several("oneOf", 200, (i) => ({ properties: { [`k${i}`]: { minimum: i } } })),
    "oneOf",
  ],
  [
    "1,000 branches of oneOf that a key tells apart",
    () =>
      several("oneOf", 1000, (i) => ({
        type: "object",
        properties: { kind: { const: `k${i}` }, [`p${i}`]: { type: "string" } },
        required: ["kind"],
      })),
  ],
  ["2,000 constants in oneOf", () => several("oneOf", 2000, (i) => ({ const: `c${i}` }))],
  [
    "3,000 intervals",
    () => several("anyOf", 3000, (i) => ({ type: "number", minimum: 2 * i, maximum: 2 * i + 1 })),
  ],
  ["500 divisors", () => several("anyOf", 500, (i) => ({ multipleOf: i + 2 })), "anyOf"],
  ["100,000 equal parts", () => several("anyOf", 100_000, () => ({}))],
  [
    "30 conditions side by side",
    () =>
      several("allOf", 30, (i) => ({
        if: { properties: { kind: { const: `k${i}` } }, required: ["kind"] },
        then: { required: [`r${i}`] },
        else: { properties: { [`q${i}`]: { type: "string" } } },
      })),
  ],
  [
    "30 conditions within each other",
    () => chain(30, (x, i) => ({ if: { required: [`a${i}`] }, then: { items: x }, else: x }), {}),
  ],
  [
    "20 branches that evaluate keys",
    () => ({
      anyOf: list(20, (i) => ({ properties: { [`k${i}`]: {} } })),
      unevaluatedProperties: false,
    }),
    "unevaluatedProperties",
  ],
];

const STRINGS: Hostile[] = [
  ["(a+)+$", () => text("^(a+)+$")],
  ["(a|a|aa|a?)*b$", () => text("^(a|a|aa|a?)*b$")],
  ["repeated repetitions", () => text("^(x{1,1000}){1,1000}$")],
  ["90 nested repetitions", () => text(`^${nested(90, (x) => `(?:${x}b?){2,9}`, "a")}$`), ""],
  ["30 nested counts", () => text(`^${nested(30, (x) => `(?:${x}){1,9}`, "a")}$`)],
  [
    "12 look-aheads at a distance",
    () => text(`^${list(12, (i) => `(?=.*a.{${i + 1}}b)`).join("")}.*$`),
  ],
  [
    "12 look-aheads at one distance",
    () => text(`^${list(12, (i) => `(?=.*${String.fromCharCode(97 + i)}.{5})`).join("")}.*$`),
    "",
  ],
  ["20 distances in oneOf", () => several("oneOf", 20, (i) => text(`a.{${i}}b`))],
  ["10 distances in not", () => several("allOf", 10, (i) => ({ not: text(`${i}.{${i + 3}}z`) }))],
  ["a long name", () => ({ type: "string", format: "idn-hostname", minLength: 20 })],
  ["a distant past", () => text("a.{1000}b.{1000}c")],
  [
    "a class of 20,000 ranges",
    () => text(`^[${list(20_000, (i) => String.fromCodePoint(0x100 + 2 * i)).join("")}]+$`),
  ],
  [
    "5,000 words over and over",
    () => text(`^(${list(5000, (i) => `w${(i * 7919).toString(36)}`).join("|")})*$`),
  ],
  ["a back-reference", () => text("^(a+)\\1$"), "pattern"],
  ["maxLength 10^9", () => ({ type: "string", maxLength: 1e9 })],
  [
    "a pattern of at most 65,536 characters",
    () => ({ ...text("^[a-z]+(-[a-z]+)*$"), maxLength: 65_536 }),
  ],
  [
    "a pattern of at least 3,000 characters",
    () => ({ ...text("^[a-z]+(-[a-z]+)*$"), minLength: 3000 }),
  ],
  ["all formats but six", () => ({
    allOf: ["date-time", "uri", "email", "hostname", "regex", "ipv6"].map((format) => ({
      not: { format, type: "string" },
    })),
  })],
];

const NUMBERS: Hostile[] = [
  ["multipleOf 10^-300", () => ({ type: "number", multipleOf: 1e-300 })],
  ["multiples of a large prime", () => ({ type: "integer", multipleOf: 1_000_000_007 })],
  ["multipleOf 0", () => ({ multipleOf: 0 }), "multipleOf"],
  ["minimum 10^400", () => '{"type":"number","minimum":1e400}', "minimum"],
  ["maximum 10^400", () => '{"type":"number","maximum":1e400}'],
  ["minimum 10^-400", () => '{"type":"number","minimum":1e-400}'],
  ["an exponent of a million", () => '{"type":"integer","maximum":-1e999999}', "maximum"],
  ["9,000 digits", () => `{"type":"integer","minimum":${"7".repeat(9000)}}`, "minimum"],
  ["a constant of 10^500", () => '{"const":1e500}'],
  ["a constant of 10^5000", () => '{"const":1e5000}', "const"],
  ["bounds that differ in the thousandth digit", () => {
    const digits = "7".repeat(1000);
    return `{"type":"number","minimum":0.${digits}1,"maximum":0.${digits}2}`;
  }, "minimum"],
  [
    "constants with exponents, 20,000",
    () => `{"enum":[${Array.from({ length: 20_000 }, (_, i) => `${i + 1}.50e${i % 900}`)}]}`,
  ],
  [
    "multiples of 300 numbers of 300 digits",
    () =>
      `{"anyOf":[${
        Array.from({ length: 300 }, (_, i) =>
          `{"type":"integer","multipleOf":${9e6 + 2 * i + 1}${"0".repeat(290)}1,` +
          `"minimum":${i}e302,"exclusiveMaximum":${i + 1}e302}`)
      }]}`,
    "",
  ],
];

const LONG: Hostile[] = [
  ["5 MB of description", () => JSON.stringify({ title: "x".repeat(4_900_000) })],
  ["6 MB of description", () => JSON.stringify({ title: "x".repeat(6_000_000) }), ""],
  ["5 MB of keys", () => JSON.stringify({ properties: named(180_000, () => ({})) }), ""],
  ["5 MB of values", () => JSON.stringify({ enum: list(450_000, (i) => `v${i}`) }), ""],
  ["5,000 values", () => ({ enum: list(5000, (i) => `${i * 7919} and ${i * 104_729}`) })],
  ["100,000 numbers", () => ({ enum: list(100_000, (i) => 1.5 * i) })],
  ["100,000 objects", () => ({ enum: list(100_000, (a) => ({ a })) }), ""],
  ["a constant of a megabyte", () => ({ const: "c".repeat(1_000_000) }), "const"],
  [
    "50,000 properties",
    () => ({ type: "object", properties: named(50_000, () => ({ type: "string" })) }),
  ],
  [
    "50,000 required properties, the last of them forbidden",
    () => ({
      type: "object",
      properties: named(50_000, (i) => i < 49_999 ? { type: "string" } : false),
      required: list(50_000, (i) => `d${i}`),
    }),
    "required",
  ],
  ["50,000 required keys", () => ({ type: "object", required: list(50_000, (i) => `r${i}`) })],
  ["50,000 items one by one", () => ({ prefixItems: list(50_000, () => ({ type: "string" })) })],
  ["a type named 100,000 times", () => ({ type: list(100_000, () => "string") })],
];

const COUNTS: Hostile[] = [
  ["10^9 keys", () => ({ type: "object", required: ["x"], minProperties: 1e9 })],
  [
    "10^9 keys of one",
    () => ({
      type: "object",
      properties: { a: {} },
      minProperties: 1e9,
      additionalProperties: false,
    }),
    "minProperties",
  ],
  ["500 items that count", () => ({ type: "array", contains: { const: 1 }, minContains: 500 })],
  [
    "10^6 items that count",
    () => ({ type: "array", contains: { const: 1 }, minContains: 1e6 }),
    "",
  ],
  [
    "100 items that count in each of five ways",
    () => ({
      type: "array",
      ...several("allOf", 5, (i) => ({ contains: { multipleOf: i + 2 }, minContains: 100 })),
    }),
    "",
  ],
  ["10^6 items", () => ({ type: "array", minItems: 1e6 })],
  [
    "1,000 different items of 1,000",
    () => ({
      type: "array",
      uniqueItems: true,
      minItems: 1000,
      items: { type: "integer", minimum: 1, maximum: 1000 },
    }),
  ],
  [
    "100 overlapping patterns of keys",
    () => ({
      type: "object",
      patternProperties: Object.fromEntries(list(100, (i) => [`x${i}`, { minimum: i }])),
    }),
    "",
  ],
];

const PRESENCES: Hostile[] = [
  [
    "5,000 keys that each need the next",
    () => ({
      type: "object",
      dependentRequired: Object.fromEntries(list(5000, (i) => [`k${i}`, [`k${i + 1}`]])),
    }),
  ],
  [
    "200 triples of keys that do not go together",
    () => several("allOf", 200, (i) => ({ not: { required: [`a${i}`, `b${i}`, `c${i}`] } })),
  ],
];

/** All of them. */
export const HOSTILE: readonly Hostile[] = [
  ...DEEP,
  ...CYCLIC,
  ...PRODUCTS,
  ...STRINGS,
  ...NUMBERS,
  ...LONG,
  ...COUNTS,
  ...PRESENCES,
];
