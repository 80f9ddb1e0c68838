// The keywords for objects of one schema (JSON Schema Core 10.3.2, Validation 6.5) as an object
// type: the keys of `properties` in order, then keys that only `required` names, then all other
// keys, grouped by the patterns of `patternProperties` that they match, so that no two groups have
// a key in common.

import type { JsonValue } from "../json/mod.ts";
import type { TypeId } from "../types.ts";
import { type KeywordReader, textList } from "./keyword_reader.ts";
import { mergeCells } from "./objects.ts";
import { readKeyPattern } from "./read_values.ts";
import { AlgebraError } from "./schema_error.ts";
import {
  ANY,
  ANY_ARRAY,
  type ArrayShape,
  type Cell,
  type Clause,
  type Contained,
  NONE,
  type ObjectShape,
} from "./shape.ts";
import { folded } from "./strings.ts";
import type { TypeGraph } from "./type_graph.ts";

const KEYWORDS = [
  "additionalProperties",
  "dependencies",
  "dependentRequired",
  "maxProperties",
  "minProperties",
  "patternProperties",
  "properties",
  "propertyNames",
  "required",
];
/** Most groups into which overlapping patterns may split keys. */
const MAX_CELLS = 64;

/** The objects that a schema allows on its own. @throws {SchemaError} if a keyword is malformed */
export function readObjects(
  keywords: KeywordReader,
  graph: TypeGraph,
  typeOf: (schema: JsonValue) => TypeId,
): ObjectShape {
  if (!KEYWORDS.some((keyword) => keywords.has(keyword))) return graph.anyObject;
  const { languages } = graph;
  const names = readNames(keywords, graph, typeOf);
  const declared = keywords.named("properties");
  const patterns = [...keywords.named("patternProperties")].map(([source, schema]): Cell => ({
    keys: readKeyPattern(keywords, languages, source),
    type: typeOf(schema),
  }));
  const additional = keywords.get("additionalProperties");
  const otherwise = additional === undefined ? ANY : typeOf(additional);
  const required = new Set(keywords.texts("required"));
  const clauses = readDependencies(keywords);
  // Keys that a dependency requires count as declared, because a closed object must be able to have
  // them.
  const asked = clauses.flatMap((clause) => clause.filter(({ present }) => present));
  const named = new Set([...declared.keys(), ...required, ...asked.map(({ key }) => key)]);
  const isSaid = additional !== undefined || keywords.has("propertyNames");
  const keys = new Set([
    ...declared.keys(),
    ...required,
    ...clauses.flatMap((clause) => clause.map(({ key }) => key)),
  ]);
  const properties = new Map(
    [...keys].map((key) => {
      const matching = patterns.filter((pattern) => languages.contains(pattern.keys, key));
      const types = matching.map(({ type }) => type);
      const isDeclared = graph.closesObjects && (named.has(key) || types.length > 0 || isSaid);
      const schema = declared.get(key);
      if (schema !== undefined) types.unshift(typeOf(schema));
      if (types.length === 0) types.push(otherwise);
      const type = languages.contains(names, key) ? graph.all(types) : NONE;
      return [key, { type, required: required.has(key), ...isDeclared && { isDeclared } }];
    }),
  );
  const closes = graph.closesObjects &&
    (keywords.has("properties") || keywords.has("patternProperties"));
  return {
    properties,
    others: disjointCells(graph, names, patterns, { type: otherwise, isSaid }),
    min: keywords.count("minProperties", 0),
    max: keywords.count("maxProperties", Infinity),
    clauses,
    wantedKeys: [],
    ...closes && { isClosed: true },
  };
}

function readNames(
  keywords: KeywordReader,
  graph: TypeGraph,
  typeOf: (schema: JsonValue) => TypeId,
): number {
  const schema = keywords.get("propertyNames");
  if (schema === undefined) return graph.languages.any();
  const { strings } = graph.shape(typeOf(schema));
  return strings === undefined ? graph.languages.none() : folded(graph.languages, strings);
}

function readDependencies(keywords: KeywordReader): Clause[] {
  const clauses: Clause[] = [];
  for (const keyword of ["dependentRequired", "dependencies"]) {
    for (const [key, value] of keywords.named(keyword)) {
      // `dependencies` may also contain schemas, which are read elsewhere, and in draft 3 a single
      // name.
      const needed = textList(typeof value === "string" ? [value] : value);
      for (const other of needed ?? []) {
        clauses.push([{ key, present: false }, { key: other, present: true }]);
      }
    }
  }
  return clauses;
}

/**
 * The keys of `names` in groups: one for each set of patterns that some key matches, also for the
 * empty set.
 */
function disjointCells(
  graph: TypeGraph,
  names: number,
  patterns: readonly Cell[],
  otherwise: { readonly type: TypeId; readonly isSaid: boolean },
): Cell[] {
  const { languages } = graph;
  let cells = [{ keys: names, types: [] as TypeId[] }];
  for (const pattern of patterns) {
    const outside = languages.complement(pattern.keys);
    cells = cells.flatMap(({ keys, types }) => [
      { keys: languages.intersect(keys, pattern.keys), types: [...types, pattern.type] },
      { keys: languages.intersect(keys, outside), types },
    ]).filter(({ keys }) => !languages.isEmpty(keys));
    if (cells.length > MAX_CELLS) {
      throw new AlgebraError(`its patternProperties overlap in more than ${MAX_CELLS} ways`);
    }
  }
  const typed = cells.map(({ keys, types }) => ({
    keys,
    type: types.length > 0 ? graph.all(types) : otherwise.type,
    ...graph.closesObjects && (types.length > 0 || otherwise.isSaid) && { isDeclared: true },
  }));
  return mergeCells(graph, typed.filter(({ type }) => type !== NONE));
}

// The keywords for arrays of one schema (JSON Schema Core 10.3.1, Validation 6.4) as array types.
// Before 2020-12 `items` may be a list for the first items; `additionalItems` is then for all later
// ones.

const ARRAY_KEYWORDS = [
  "additionalItems",
  "contains",
  "items",
  "maxItems",
  "minItems",
  "prefixItems",
  "uniqueItems",
];

/** The arrays that a schema allows on its own. @throws {SchemaError} if a keyword is malformed */
export function readArrays(
  keywords: KeywordReader,
  typeOf: (schema: JsonValue) => TypeId,
): ArrayShape {
  if (!ARRAY_KEYWORDS.some((keyword) => keywords.has(keyword))) return ANY_ARRAY;
  const { prefix, rest } = arrayItems(keywords);
  return {
    prefix: prefix.map(typeOf),
    rest: rest === undefined ? ANY : typeOf(rest),
    min: keywords.count("minItems", 0),
    max: keywords.count("maxItems", Infinity),
    unique: keywords.get("uniqueItems") === true,
    contains: readContains(keywords, typeOf),
  };
}

/** The schemas of the first items, and of those after them. */
export function arrayItems(
  keywords: KeywordReader,
): { prefix: readonly JsonValue[]; rest: JsonValue | undefined } {
  const items = keywords.get("items");
  if (Array.isArray(items) && !keywords.has("prefixItems")) {
    return { prefix: items, rest: keywords.get("additionalItems") };
  }
  return { prefix: keywords.list("prefixItems") ?? [], rest: items };
}

function readContains(
  keywords: KeywordReader,
  typeOf: (schema: JsonValue) => TypeId,
): Contained[] {
  const schema = keywords.get("contains");
  if (schema === undefined) return [];
  return [{
    item: typeOf(schema),
    min: keywords.count("minContains", 1),
    max: keywords.count("maxContains", Infinity),
  }];
}
