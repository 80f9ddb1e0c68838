// From schemas to expressions of the type graph: what a schema says of each JSON type is one shape; its
// sibling keywords are intersected with that, whatever they are. Schemas are read when the graph asks.

import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { TypeId } from "../types.ts";
import { SchemaDocument } from "./document.ts";
import { ExactTypes } from "./exact.ts";
import { type KeywordReader, textList } from "./keyword_reader.ts";
import { CONSTRAINTS } from "./keywords.ts";
import { withKey, withoutKey } from "./presence.ts";
import { readArrays } from "./read_arrays.ts";
import { readObjects } from "./read_objects.ts";
import { readNumbers, readStrings, readTypes } from "./read_values.ts";
import { SchemaError } from "./schema_error.ts";
import { ANY, NONE } from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";
import { UnevaluatedReader } from "./unevaluated.ts";

/** The schemas of one document as types. */
export class SchemaReader {
  readonly #document: SchemaDocument;
  readonly #exact: ExactTypes;
  readonly #unevaluated: UnevaluatedReader;
  readonly #ids = new Map<JsonObject, TypeId>();
  readonly #keywords = new Map<TypeId, KeywordReader>();

  /** Schemas of a document, read into a graph. */
  constructor(
    root: JsonValue,
    readonly graph: TypeGraph,
    readonly options: { readonly assertFormats: boolean },
  ) {
    this.#document = new SchemaDocument(root);
    this.#exact = new ExactTypes(graph);
    this.#unevaluated = new UnevaluatedReader(graph, this.#document, this.typeOf);
  }

  /** The type of a schema of the document. @throws {SchemaError} if it is no schema */
  readonly typeOf = (schema: JsonValue): TypeId => {
    if (typeof schema === "boolean") return schema ? ANY : NONE;
    if (!(schema instanceof Map)) {
      const pointer = this.#document.pointer(schema);
      throw new SchemaError(pointer, "", "a schema is an object or a boolean");
    }
    let id = this.#ids.get(schema);
    if (id === undefined) {
      id = [...schema.keys()].some((keyword) => CONSTRAINTS.has(keyword))
        ? this.#source(schema)
        : ANY;
      this.#ids.set(schema, id);
    }
    return id;
  };

  /** The keywords of a type that is one schema. */
  keywordsOf(id: TypeId): KeywordReader | undefined {
    return this.#keywords.get(id);
  }

  #source(schema: JsonObject): TypeId {
    const keywords = this.#document.keywords(schema);
    const id = this.graph.source({ pointer: keywords.pointer, read: () => this.#read(keywords) });
    this.#keywords.set(id, keywords);
    return id;
  }

  #read(keywords: KeywordReader): TypeId {
    const reference = keywords.text("$ref");
    const referred = reference === undefined
      ? ANY
      : this.typeOf(this.#document.resolve(keywords.schema, reference));
    if (reference !== undefined && this.#document.draft <= 7) return referred;
    return this.graph.all([
      this.#own(keywords),
      referred,
      ...this.#dynamic(keywords),
      ...this.#values(keywords),
      ...this.#combined(keywords),
      ...this.#conditional(keywords),
      ...this.#unevaluated.read(keywords),
    ]);
  }

  /** What the schema's own keywords say of each JSON type. */
  #own(keywords: KeywordReader): TypeId {
    const { graph } = this;
    const types = readTypes(keywords);
    return graph.constant({
      null: types.has("null"),
      booleans: types.has("boolean") ? [false, true] : [],
      numbers: readNumbers(keywords, types),
      strings: types.has("string")
        ? readStrings(keywords, graph.languages, this.options.assertFormats)
        : undefined,
      arrays: types.has("array") ? [readArrays(keywords, this.typeOf)] : [],
      objects: types.has("object") ? [readObjects(keywords, graph, this.typeOf)] : [],
    });
  }

  #dynamic(keywords: KeywordReader): TypeId[] {
    return ["$dynamicRef", "$recursiveRef"].flatMap((keyword) => {
      const reference = keywords.text(keyword);
      if (reference === undefined) return [];
      return this.typeOf(this.#document.resolveDynamic(keywords.schema, keyword, reference));
    });
  }

  #values(keywords: KeywordReader): TypeId[] {
    const parts: TypeId[] = [];
    const constant = keywords.get("const");
    if (constant !== undefined) parts.push(this.#exact.of([constant]));
    const listed = keywords.list("enum");
    if (listed !== undefined) parts.push(this.#exact.of(listed));
    return parts;
  }

  #combined(keywords: KeywordReader): TypeId[] {
    const parts = (keywords.list("allOf") ?? []).map(this.typeOf);
    const anyOf = keywords.list("anyOf");
    if (anyOf !== undefined) parts.push(this.graph.any(anyOf.map(this.typeOf)));
    const oneOf = keywords.list("oneOf");
    if (oneOf !== undefined) parts.push(this.graph.one(oneOf.map(this.typeOf)));
    const not = keywords.get("not");
    if (not !== undefined) parts.push(this.graph.not(this.typeOf(not)));
    return parts;
  }

  #conditional(keywords: KeywordReader): TypeId[] {
    const { graph } = this;
    const parts: TypeId[] = [];
    const [test, then, otherwise] = ["if", "then", "else"].map((keyword) => {
      const schema = keywords.get(keyword);
      return schema === undefined ? undefined : this.typeOf(schema);
    });
    if (test !== undefined && (then ?? otherwise) !== undefined) {
      parts.push(
        graph.any([
          graph.all([test, then ?? ANY]),
          otherwise === undefined ? graph.not(test) : graph.all([otherwise, graph.not(test)]),
        ]),
      );
    }
    for (const keyword of ["dependentSchemas", "dependencies"]) {
      for (const [key, schema] of keywords.named(keyword)) {
        if (typeof schema === "string" || textList(schema) !== undefined) continue;
        const type = this.typeOf(schema);
        parts.push(graph.any([withoutKey(graph, key), graph.all([withKey(graph, key), type])]));
      }
    }
    return parts;
  }
}
