// Schemas made for the fuzz tests: what models are asked for, and every keyword where it is hardest.

const DRAFT_4 = "http://json-schema.org/draft-04/schema#";
const DRAFT_7 = "http://json-schema.org/draft-07/schema#";
const DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema";

const string = { type: "string" };
const integer = { type: "integer" };
const closed = { type: "object", additionalProperties: false };
const objectOf = (properties: object, ...required: string[]) => ({
  ...closed,
  properties,
  required,
});

const STRINGS = [
  string,
  { ...string, maxLength: 3 },
  { ...string, minLength: 4, maxLength: 6 },
  { ...string, minLength: 30, maxLength: 5000 },
  { ...string, maxLength: 65536, pattern: "^[^\\s]" },
  { ...string, pattern: "^(?!\\.\\.?(?:\\/|$))[A-Za-z0-9_\\-.~:@+]{1,20}$" },
  { ...string, pattern: "a.*b", maxLength: 12 },
  { ...string, pattern: "^(?=.*\\d)(?=.*[a-z]).{4,9}$" },
  { ...string, pattern: "^\\p{L}+$", minLength: 2 },
  { ...string, pattern: "^(..)*$", minLength: 131, maxLength: 133 },
  { ...string, pattern: "^(a|b)(..)*$|^c.(..)*$", minLength: 4, maxLength: 145 },
  { ...string, allOf: [{ not: { pattern: "[A-Z0-9]$" } }, { not: { pattern: "ab$" } }] },
  { ...string, pattern: "^\\w{2,9}$" },
  { ...string, pattern: "^[\\u{1F600}-\\u{1F64F}é漢]{1,3}$" },
  { ...string, pattern: "\\bab\\b", not: { pattern: "\\d" } },
  { ...string, pattern: '^[\\n"\\\\\\u0001]*$', maxLength: 5 },
  { ...string, enum: ["", "a", "ab", "abc", "é", "😀", "👍🏽", 'q"\\\n\u0001', "\u2028"] },
  { ...string, not: { enum: ["", "a", "ab", "true"] }, maxLength: 4 },
  ...[
    ...["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri"],
    ...["uri-reference", "uuid", "json-pointer", "relative-json-pointer", "regex"],
  ].map((format) => ({ ...string, format })),
  { ...string, format: "hostname", minLength: 20, maxLength: 24 },
  { ...string, format: "date", pattern: "^20[0-4]\\d-02" },
];

const NUMBERS = [
  { type: "number" },
  integer,
  { ...integer, minimum: -3, maximum: 1000 },
  { ...integer, multipleOf: 7, exclusiveMinimum: 0 },
  { type: "number", minimum: -2.5, exclusiveMaximum: 7.125 },
  { type: "number", multipleOf: 0.25, maximum: 10, minimum: -10 },
  { type: "number", multipleOf: 0.01, minimum: 0, maximum: 100 },
  { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1e-7 },
  { type: "number", exclusiveMinimum: 0.1, exclusiveMaximum: 0.3 },
  { type: "number", minimum: 1e20 },
  { ...integer, minimum: 9007199254740990, maximum: 9007199254740995 },
  { type: "number", not: { multipleOf: 2 }, minimum: -50, maximum: 50 },
  { enum: [0, -1, 1.5, 1e21, 1e-7, 123456789012345680000, -0.1] },
  { $schema: DRAFT_4, ...integer, minimum: 0, exclusiveMinimum: true, maximum: 12 },
];

const ARRAYS = [
  { type: "array", items: integer, minItems: 2, maxItems: 5 },
  { type: "array", items: { enum: [1, "two", null, [3], { four: 4 }] }, uniqueItems: true },
  { type: "array", uniqueItems: true, items: { ...integer, minimum: 0, maximum: 3 }, minItems: 4 },
  { type: "array", uniqueItems: true, items: { ...string, maxLength: 2 } },
  { type: "array", uniqueItems: true, items: { ...string, pattern: "^[aé😀]{0,2}$" }, minItems: 6 },
  { type: "array", uniqueItems: true, items: { ...string, maxLength: 1 }, minItems: 8 },
  { type: "array", uniqueItems: true, items: { type: ["number", "boolean", "null"] } },
  { type: "array", uniqueItems: true, minItems: 2, items: objectOf({ a: string, b: integer }) },
  { type: "array", uniqueItems: true, items: { type: "array", items: { enum: [0, 1] } } },
  { type: "array", prefixItems: [string, integer, { const: null }], items: false },
  { type: "array", prefixItems: [string], items: integer, minItems: 3, unevaluatedItems: false },
  { type: "array", contains: { const: 7 }, items: { ...integer, minimum: 5, maximum: 9 } },
  { type: "array", contains: string, minContains: 2, maxContains: 3, maxItems: 6 },
  { type: "array", items: string, maxItems: 2000, minItems: 20 },
  { $schema: DRAFT_7, type: "array", items: [string, integer], additionalItems: false },
];

const OBJECTS = [
  { type: "object" },
  objectOf({ name: { ...string, maxLength: 9 }, age: integer, tags: ARRAYS[3] }, "age"),
  objectOf({ b: string, a: integer, "2": { const: 2 }, "1": { const: 1 } }, "1", "a"),
  objectOf({ "": string, __proto__x: integer, 'q"é\n😀': { type: "null" } }, 'q"é\n😀'),
  { type: "object", additionalProperties: integer, minProperties: 2, maxProperties: 3 },
  { ...closed, patternProperties: { "^x-": string, "^[a-z]": integer }, minProperties: 1 },
  { type: "object", propertyNames: { pattern: "^[a-c]{1,2}$" }, maxProperties: 4 },
  {
    ...{ type: "object", propertyNames: { pattern: "^[éa漢]{0,2}$" }, minProperties: 7 },
    additionalProperties: { enum: [0, 1] },
  },
  { type: "object", propertyNames: { enum: ["a", "b", "c"] }, additionalProperties: integer },
  { type: "object", dependentRequired: { a: ["b"], b: ["c"] }, properties: { a: integer } },
  {
    ...objectOf({ kind: string, size: integer, unit: string }),
    dependentSchemas: { size: { required: ["unit"] } },
  },
  { $schema: DRAFT_7, ...objectOf({ a: string, b: string }), dependencies: { a: ["b"] } },
  { $schema: DRAFT_2019, type: "object", properties: { a: integer }, unevaluatedProperties: false },
  {
    type: "object",
    required: ["z", "y"],
    properties: { x: string },
    additionalProperties: integer,
  },
];

const COMBINED = [
  {},
  { type: ["string", "null", "boolean"] },
  { anyOf: [{ const: "a" }, { type: "number", minimum: -2.5, maximum: 7 }, { const: "ab" }] },
  {
    anyOf: [{ ...string, pattern: "^a" }, { ...string, pattern: "b$" }, {
      ...string,
      maxLength: 2,
    }],
  },
  { oneOf: [{ ...integer, multipleOf: 3 }, { ...integer, multipleOf: 5 }], minimum: 0 },
  { oneOf: [{ required: ["a"] }, { required: ["b"] }], ...objectOf({ a: integer, b: integer }) },
  {
    anyOf: [
      objectOf({ kind: { const: "circle" }, radius: { type: "number", minimum: 0 } }, "kind"),
      objectOf({ kind: { const: "square" }, side: { type: "number", minimum: 0 } }, "kind", "side"),
    ],
  },
  { allOf: [{ properties: { a: string } }, { required: ["a"] }], type: "object", maxProperties: 2 },
  {
    ...objectOf({ country: { enum: ["US", "CA"] }, code: string }, "country", "code"),
    if: { properties: { country: { const: "US" } } },
    then: { properties: { code: { pattern: "^\\d{5}$" } } },
    else: { properties: { code: { pattern: "^[A-Z]\\d[A-Z]$" } } },
  },
  { not: { type: ["object", "array", "string"] } },
  {
    $defs: { tree: objectOf({ value: integer, left: { $ref: "#/$defs/tree" }, right: true }) },
    $ref: "#/$defs/tree",
  },
  {
    type: "array",
    items: { anyOf: [{ $ref: "#" }, integer] },
    maxItems: 3,
  },
];

/** Keys and items that must differ from others, of few words or of any number. */
const DIFFERENT = [
  { ...closed, patternProperties: { "^[ab]{1,2}$": string, "^[a-zA-Z0-9._-]{3,64}$": integer } },
  { ...closed, patternProperties: { "^(..){1,2}$": integer }, minProperties: 3 },
  { type: "object", propertyNames: { minLength: 1, maxLength: 3 }, minProperties: 2 },
  { type: "object", patternProperties: { "^.*[A-Z]+$": string }, additionalProperties: integer },
  { type: "array", uniqueItems: true, minItems: 3, items: { ...string, maxLength: 1 } },
  { type: "array", uniqueItems: true, items: { ...string, pattern: "^(ab)*$", maxLength: 6 } },
];

/** All of them. */
export const SCHEMAS: readonly object[] = [
  ...STRINGS,
  ...NUMBERS,
  ...ARRAYS,
  ...OBJECTS,
  ...COMBINED,
  ...DIFFERENT,
];
