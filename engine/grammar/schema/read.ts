// Reads a JSON Schema into the types that the machine enforces: its keywords are combined into one
// type for each schema, and alternatives without values are dropped. An error names the innermost
// schema that allows nothing.

import type { JsonValue } from "../json/mod.ts";
import { Languages } from "../language/mod.ts";
import { checkSpelling } from "../number/mod.ts";
import type { SchemaTypes, TypeId } from "../types.ts";
import { closeObjects, closeTypes } from "./closed_types.ts";
import { collectShapes } from "./collect.ts";
import { Inhabited } from "./emptiness.ts";
import { lowerTypes } from "./lower.ts";
import { contradiction, readTypes } from "./read_values.ts";
import { isLimit, SchemaError, type SchemaWarning } from "./schema_error.ts";
import type { SchemaOptions } from "./schema_input.ts";
import { SchemaReader } from "./schema_reader.ts";
import { ANY, type ArrayShape, NONE, type ObjectShape } from "./shape.ts";
import { TypeGraph } from "./type_graph.ts";

/** Types, and the languages of their strings. */
export interface ReadSchema {
  readonly types: SchemaTypes;
  readonly languages: Languages;
  /** Whether 1.0 is not an integer, because draft 4 defines integers by their spelling. */
  readonly integersAsSpelled: boolean;
  /** What is not enforced. */
  readonly warnings: readonly SchemaWarning[];
}

/**
 * Reads a JSON Schema of drafts 4 to 2020-12. Unknown keywords are annotations. Known ones are
 * enforced, or the schema is refused; unknown formats are told as warnings.
 *
 * @param languages receives the languages of strings
 * @throws {SchemaError} if the schema is malformed, unsupported, too large or cannot be satisfied
 */
export function readSchema(
  schema: JsonValue,
  options: SchemaOptions = {},
  languages: Languages = new Languages(),
): ReadSchema {
  return new SchemaSource(schema, options, languages).read();
}

/** A document with schemas, which are read one by one. */
export class SchemaSource {
  readonly #graph: TypeGraph;
  readonly #reader: SchemaReader;
  readonly #openObjects: boolean;

  /** @param languages receives the languages of strings */
  constructor(
    readonly document: JsonValue,
    { formats = true, openObjects = true }: SchemaOptions,
    readonly languages: Languages,
  ) {
    this.#graph = new TypeGraph(languages, !openObjects);
    this.#reader = new SchemaReader(document, this.#graph, { formats });
    this.#openObjects = openObjects;
  }

  /**
   * The schema at a JSON pointer. Errors: those of {@linkcode readSchema}.
   */
  read(at = ""): ReadSchema {
    const { languages } = this;
    const graph = this.#graph;
    const reader = this.#reader;
    try {
      const root = reader.typeAt(at);
      const shapes = collectShapes(graph, root);
      const inhabited = new Inhabited(graph, shapes);
      if (!inhabited.has(root)) throw explainEmptiness(reader, root, inhabited);
      const living = { shapes, inhabited };
      const closed = this.#openObjects ? living : closeObjects(graph, closeTypes(graph, living));
      const types = lowerTypes(graph, closed.shapes, closed.inhabited, root);
      for (const { numbers, strings, objects } of types.types) {
        if (numbers) checkSpelling(numbers);
        // The first examination finds out what is too large to be enforced.
        if (strings) languages.automaton(strings.language);
        for (const { others } of objects ?? []) {
          for (const { keys } of others) languages.automaton(keys);
        }
      }
      const { draft, warnings } = reader;
      return { types, languages, integersAsSpelled: draft === 4, warnings };
    } catch (error) {
      throw isLimit(error) ? new SchemaError("", "", error.message) : error;
    }
  }
}

// Why a schema allows nothing: the search for the innermost schema that is at fault, and its error.
// It only runs when the result is an error anyway.

/** Most types that are examined; after that, the best explanation so far is used. */
const MAX_STEPS = 64;

/** The error of a type without values. @param inhabited the types that have a value */
function explainEmptiness(
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
    const found = graph.pointer(at);
    if (found !== undefined) {
      pointer = found;
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
    const pointers = parts.map((part) => graph.pointer(part)).filter((one) => one !== undefined);
    if (pointers.length > 1) {
      reason = `no value satisfies both ${pointers.slice(0, 2).join(" and ")}`;
      keyword = pointers[0]!.slice(pointer.length + 1).split("/")[0]!;
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
