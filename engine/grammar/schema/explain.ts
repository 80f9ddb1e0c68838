// Why a schema allows nothing: the search for the innermost schema that is at fault, and its error.
// It only runs when the result is an error anyway.

import type { TypeId } from "../types.ts";
import { collectShapes } from "./collect.ts";
import { Inhabited } from "./emptiness.ts";
import { contradiction, readTypes } from "./read_values.ts";
import { SchemaError } from "./schema_error.ts";
import type { SchemaReader } from "./schema_reader.ts";
import { ANY, type ArrayShape, NONE, type ObjectShape } from "./shape.ts";

/** Most types that are examined; after that, the best explanation so far is used. */
const MAX_STEPS = 64;

/** The error of a type without values. @param inhabited the types that have a value */
export function explainEmptiness(
  reader: SchemaReader,
  root: TypeId,
  inhabited: Inhabited,
): SchemaError {
  const { graph } = reader;
  const isEmpty = (id: TypeId) =>
    id === NONE || inhabited.shapes.has(id)
      ? !inhabited.has(id)
      : !new Inhabited(graph, collectShapes(graph, id)).has(id);
  const seen = new Set<TypeId>();
  let pointer = "";
  let at: TypeId | undefined = root;
  let last: TypeId = root;
  let keyword = "";
  let reason = "no value satisfies it";
  while (at !== undefined && seen.size < MAX_STEPS && !seen.has(at)) {
    seen.add(at);
    last = at;
    const place = graph.pointer(at);
    if (place !== undefined) {
      pointer = place;
      const keywords = reader.keywordsOf(at)!;
      const types = [...readTypes(keywords)];
      [keyword, reason] = contradiction(keywords, types.length < 7 ? types[0] : undefined);
    }
    const dead: TypeId | undefined = graph.operands(at).find(isEmpty);
    if (dead !== undefined && dead !== NONE) {
      at = dead;
      continue;
    }
    const shape = graph.shape(at);
    const needed: Needed | undefined = [
      ...shape.objects.flatMap(neededKeys),
      ...shape.arrays.flatMap(neededItems),
    ].find(({ type }) => isEmpty(type));
    if (needed?.type === NONE) return new SchemaError(pointer, needed.keyword, needed.what);
    at = needed?.type;
  }
  if (at !== undefined && seen.has(at)) {
    const endless = "it cannot be satisfied: it needs itself within itself, without an end; " +
      "let it be optional somewhere";
    return new SchemaError(pointer, keyword || "$ref", endless);
  }
  const parts = graph.operands(last).filter((part) => part !== ANY);
  if (parts.length > 1 && graph.pointer(last) === undefined) {
    const places = parts.map((part) => graph.pointer(part)).filter((place) => place !== undefined);
    if (places.length > 1) {
      reason = `no value satisfies both ${places.slice(0, 2).join(" and ")}`;
      keyword = places[0]!.slice(pointer.length + 1).split("/")[0]!;
    }
  }
  return new SchemaError(pointer, keyword, `it cannot be satisfied: ${reason}`);
}

/** A type of which a value is required. */
interface Needed {
  readonly type: TypeId;
  readonly keyword: string;
  readonly what: string;
}

function neededKeys(object: ObjectShape): Needed[] {
  return [...object.properties].filter(([, { required }]) => required)
    .map(([key, { type }]) => ({
      type,
      keyword: "required",
      what: `it cannot be satisfied: "${key}" is required, but not allowed; declare or allow it`,
    }));
}

function neededItems(array: ArrayShape): Needed[] {
  const items = array.prefix.slice(0, array.min);
  if (array.min > array.prefix.length) items.push(array.rest);
  return items.map((type) => ({
    type,
    keyword: "minItems",
    what: "it cannot be satisfied: items are needed, but not allowed; allow them",
  }));
}
