// Reads a JSON Schema into the types that the machine enforces: its keywords are combined into one
// type for each place, and alternatives without values are dropped.

import type { JsonValue } from "../json/mod.ts";
import { Languages } from "../language/mod.ts";
import { checkSpelling } from "../number/mod.ts";
import type { SchemaTypes } from "../types.ts";
import { closeObjects } from "./closed_objects.ts";
import { closeTypes } from "./closed_types.ts";
import { collectShapes } from "./collect.ts";
import { Inhabited } from "./emptiness.ts";
import { explainEmptiness } from "./explain.ts";
import { lowerTypes } from "./lower.ts";
import { isLimit, SchemaError, type SchemaWarning } from "./schema_error.ts";
import type { SchemaOptions } from "./schema_input.ts";
import { SchemaReader } from "./schema_reader.ts";
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
