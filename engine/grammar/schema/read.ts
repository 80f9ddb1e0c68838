// From a JSON Schema to the types that a machine enforces: read, combined, freed of what cannot occur.

import type { JsonValue } from "../json/mod.ts";
import { LanguageError, Languages, PatternError } from "../language/mod.ts";
import { NumberError } from "../number/mod.ts";
import type { SchemaTypes } from "../types.ts";
import { collectShapes } from "./collect.ts";
import { Inhabited } from "./emptiness.ts";
import { explainEmptiness } from "./explain.ts";
import { lowerTypes } from "./lower.ts";
import { AlgebraError, SchemaError } from "./schema_error.ts";
import { SchemaReader } from "./schema_reader.ts";
import { TypeGraph } from "./type_graph.ts";

/** How a schema is read. */
export interface SchemaOptions {
  /** Whether `format` binds, which the specification leaves open. Default true. */
  readonly formats?: boolean;
}

/** Types, and the languages that their strings are of. */
export interface ReadSchema {
  readonly types: SchemaTypes;
  readonly languages: Languages;
}

/**
 * Reads a JSON Schema of drafts 4 to 2020-12. Keywords that are unknown are annotations; those that
 * are known bind, or the schema is refused.
 *
 * @throws {SchemaError} if the schema is malformed, unsupported, too large or cannot be satisfied
 */
export function readSchema(schema: JsonValue, options: SchemaOptions = {}): ReadSchema {
  const languages = new Languages();
  const graph = new TypeGraph(languages);
  const reader = new SchemaReader(schema, graph, { assertFormats: options.formats ?? true });
  try {
    const root = reader.typeOf(schema);
    const shapes = collectShapes(graph, root);
    const inhabited = new Inhabited(graph, shapes);
    if (!inhabited.has(root)) throw explainEmptiness(reader, root);
    return { types: lowerTypes(graph, shapes, inhabited, root), languages };
  } catch (error) {
    const isLimit = error instanceof AlgebraError || error instanceof LanguageError ||
      error instanceof PatternError || error instanceof NumberError;
    throw isLimit ? new SchemaError("", "", error.message) : error;
  }
}
