// The metaschemas of JSON Schema, drafts 4 to 2020-12: the schemas that a schema itself has to
// satisfy. A schema that asks for a schema as an answer refers to one of them by its URI. They
// follow the published ones (json-schema.org), without titles, comments and defaults.

import { fromPlain, type JsonValue } from "../json/mod.ts";

type Plain = Readonly<Record<string, unknown>>;

const ANY_SCHEMA = { type: ["object", "boolean"] };
const SIMPLE_TYPES = {
  enum: ["array", "boolean", "integer", "null", "number", "object", "string"],
};
const STRING = { type: "string" };
const BOOLEAN = { type: "boolean" };
const NUMBER = { type: "number" };
const POSITIVE = { type: "number", exclusiveMinimum: 0 };

/** One schema for several keywords. */
function each(names: readonly string[], schema: unknown): Plain {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

/** The schema of an object whose values all have one schema, whatever their keys. */
function named(schema: unknown): Plain {
  return { type: "object", additionalProperties: schema };
}

/** The metaschema of draft 4, 6 or 7, each of which is one document. */
function oneDocument(draft: 4 | 6 | 7): Plain {
  const self = { $ref: "#" };
  const reference = (name: string) => ({ $ref: `#/definitions/${name}` });
  const count = draft === 4 ? "positiveInteger" : "nonNegativeInteger";
  const byDefault = `${count}Default0`;
  const identifier = draft === 4 ? STRING : { type: "string", format: "uri-reference" };
  const items = { anyOf: [self, reference("schemaArray")] };
  const common = {
    $schema: draft === 4 ? STRING : { type: "string", format: "uri" },
    title: STRING,
    description: STRING,
    default: {},
    ...each(["maximum", "minimum"], NUMBER),
    ...each(["maxLength", "maxItems", "maxProperties"], reference(count)),
    ...each(["minLength", "minItems", "minProperties"], reference(byDefault)),
    pattern: { type: "string", format: "regex" },
    items,
    uniqueItems: BOOLEAN,
    required: reference("stringArray"),
    ...each(["definitions", "properties", "patternProperties"], named(self)),
    dependencies: named({ anyOf: [self, reference("stringArray")] }),
    type: {
      anyOf: [
        reference("simpleTypes"),
        { type: "array", items: reference("simpleTypes"), minItems: 1, uniqueItems: true },
      ],
    },
    format: STRING,
    ...each(["allOf", "anyOf", "oneOf"], reference("schemaArray")),
    not: self,
  };
  const before6 = {
    id: STRING,
    multipleOf: { type: "number", minimum: 0, exclusiveMinimum: true },
    ...each(["exclusiveMaximum", "exclusiveMinimum"], BOOLEAN),
    ...each(["additionalItems", "additionalProperties"], { anyOf: [BOOLEAN, self] }),
    enum: { type: "array", minItems: 1, uniqueItems: true },
  };
  const since6 = {
    ...each(["$id", "$ref"], identifier),
    multipleOf: POSITIVE,
    ...each(["exclusiveMaximum", "exclusiveMinimum"], NUMBER),
    ...each(["additionalItems", "additionalProperties", "contains", "propertyNames"], self),
    patternProperties: { ...named(self), propertyNames: { format: "regex" } },
    const: true,
    enum: { type: "array", items: true },
    examples: { type: "array", items: {} },
  };
  const since7 = {
    $comment: STRING,
    readOnly: BOOLEAN,
    writeOnly: BOOLEAN,
    ...each(["contentMediaType", "contentEncoding"], STRING),
    ...each(["if", "then", "else"], self),
  };
  const name = `http://json-schema.org/draft-0${draft}/schema#`;
  return {
    [draft === 4 ? "id" : "$id"]: name,
    $schema: name,
    definitions: {
      schemaArray: { type: "array", minItems: 1, items: self },
      [count]: { type: "integer", minimum: 0 },
      [byDefault]: { allOf: [reference(count), { default: 0 }] },
      simpleTypes: SIMPLE_TYPES,
      stringArray: {
        type: "array",
        items: STRING,
        ...(draft === 4 && { minItems: 1 }),
        uniqueItems: true,
      },
    },
    type: draft === 4 ? "object" : ["object", "boolean"],
    properties: {
      ...common,
      ...(draft === 4 ? before6 : since6),
      ...(draft === 7 && since7),
    },
    ...(draft === 4 && {
      dependencies: { exclusiveMaximum: ["maximum"], exclusiveMinimum: ["minimum"] },
    }),
  };
}

/** The vocabularies of 2019-09 or 2020-12 by name, and the schema that combines them. */
function vocabularies(draft: 2019 | 2020): Map<string, Plain> {
  const is2020 = draft === 2020;
  const base = `https://json-schema.org/draft/${is2020 ? "2020-12" : "2019-09"}/`;
  const anchor = is2020 ? { $dynamicAnchor: "meta" } : { $recursiveAnchor: true };
  const self = is2020 ? { $dynamicRef: "#meta" } : { $recursiveRef: "#" };
  const reference = (name: string) => ({ $ref: `#/$defs/${name}` });
  const schemaArray = { type: "array", minItems: 1, items: self };
  const regexNames = { ...named(self), propertyNames: { format: "regex" } };
  const uriReference = { type: "string", format: "uri-reference" };
  const arrays = is2020
    ? { prefixItems: reference("schemaArray"), items: self }
    : { additionalItems: self, items: { anyOf: [self, reference("schemaArray")] } };
  const unevaluated = each(["unevaluatedItems", "unevaluatedProperties"], self);
  const properties: Record<string, Plain> = {
    core: is2020
      ? {
        $id: { ...reference("uriReferenceString"), pattern: "^[^#]*#?$" },
        $schema: reference("uriString"),
        ...each(["$ref", "$dynamicRef"], reference("uriReferenceString")),
        ...each(["$anchor", "$dynamicAnchor"], reference("anchorString")),
        $vocabulary: {
          type: "object",
          propertyNames: reference("uriString"),
          additionalProperties: BOOLEAN,
        },
        $comment: STRING,
        $defs: named(self),
      }
      : {
        $id: { ...uriReference, pattern: "^[^#]*#?$" },
        $schema: { type: "string", format: "uri" },
        $anchor: { type: "string", pattern: "^[A-Za-z][-A-Za-z0-9.:_]*$" },
        ...each(["$ref", "$recursiveRef"], uriReference),
        $recursiveAnchor: BOOLEAN,
        $vocabulary: {
          type: "object",
          propertyNames: { type: "string", format: "uri" },
          additionalProperties: BOOLEAN,
        },
        $comment: STRING,
        $defs: named(self),
      },
    applicator: {
      ...arrays,
      ...each(["contains", "additionalProperties", "propertyNames", "if", "then", "else"], self),
      ...each(["properties", "dependentSchemas"], named(self)),
      patternProperties: regexNames,
      ...each(["allOf", "anyOf", "oneOf"], reference("schemaArray")),
      not: self,
      ...(!is2020 && unevaluated),
    },
    ...(is2020 && { unevaluated }),
    validation: {
      multipleOf: POSITIVE,
      ...each(["maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"], NUMBER),
      ...each(
        ["maxLength", "maxItems", "maxContains", "maxProperties", "minContains"],
        reference("nonNegativeInteger"),
      ),
      ...each(["minLength", "minItems", "minProperties"], reference("nonNegativeIntegerDefault0")),
      pattern: { type: "string", format: "regex" },
      uniqueItems: BOOLEAN,
      required: reference("stringArray"),
      dependentRequired: named(reference("stringArray")),
      const: true,
      enum: { type: "array", items: true },
      type: {
        anyOf: [
          reference("simpleTypes"),
          { type: "array", items: reference("simpleTypes"), minItems: 1, uniqueItems: true },
        ],
      },
    },
    "meta-data": {
      ...each(["title", "description"], STRING),
      default: true,
      ...each(["deprecated", "readOnly", "writeOnly"], BOOLEAN),
      examples: { type: "array", items: true },
    },
    [is2020 ? "format-annotation" : "format"]: { format: STRING },
    content: {
      ...each(["contentMediaType", "contentEncoding"], STRING),
      contentSchema: self,
    },
  };
  const definitions: Record<string, Plain> = {
    core: is2020
      ? {
        anchorString: { type: "string", pattern: "^[A-Za-z_][-A-Za-z0-9._]*$" },
        uriString: { type: "string", format: "uri" },
        uriReferenceString: uriReference,
      }
      : {},
    applicator: { schemaArray },
    validation: {
      nonNegativeInteger: { type: "integer", minimum: 0 },
      nonNegativeIntegerDefault0: reference("nonNegativeInteger"),
      simpleTypes: SIMPLE_TYPES,
      stringArray: { type: "array", items: STRING, uniqueItems: true },
    },
  };
  const documents = new Map<string, Plain>();
  const add = (name: string, content: Plain) => {
    const $schema = `${base}schema`;
    documents.set(base + name, { $schema, $id: base + name, ...anchor, ...ANY_SCHEMA, ...content });
  };
  for (const [name, keywords] of Object.entries(properties)) {
    add(`meta/${name}`, { properties: keywords, $defs: definitions[name] ?? {} });
  }
  add("schema", {
    allOf: Object.keys(properties).map((name) => ({ $ref: `meta/${name}` })),
    properties: {
      definitions: named(self),
      dependencies: named({
        anyOf: [
          self,
          { $ref: "meta/validation#/$defs/stringArray" },
        ],
      }),
      ...(is2020 && {
        $recursiveAnchor: { $ref: "meta/core#/$defs/anchorString" },
        $recursiveRef: { $ref: "meta/core#/$defs/uriReferenceString" },
      }),
    },
  });
  return documents;
}

/** The metaschema of a URI without fragment; undefined if there is none. */
export function metaschema(uri: string): JsonValue | undefined {
  const old = /^http:\/\/json-schema\.org\/draft-0([467])\/schema$/.exec(uri);
  if (old) return fromPlain(oneDocument(Number(old[1]) as 4 | 6 | 7));
  const edition = /^https:\/\/json-schema\.org\/draft\/(2019-09|2020-12)\//.exec(uri);
  const plain = edition && vocabularies(edition[1] === "2020-12" ? 2020 : 2019).get(uri);
  return plain ? fromPlain(plain) : undefined;
}
