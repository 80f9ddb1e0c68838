// Makes expressions of the type graph from schemas: what a schema says about each JSON type is one
// shape, which is intersected with its other keywords. Schemas are read when the graph asks for
// them.

import { pollCancellation } from "../../cancellation.ts";
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { TypeId } from "../types.ts";
import { type DynamicScope, SchemaDocument } from "./document.ts";
import { ExactTypes } from "./exact.ts";
import { CONSTRAINTS, type Draft, type KeywordReader, textList } from "./keyword_reader.ts";
import { readArrays, readObjects } from "./read_objects.ts";
import { ANY, mentionedTypes, NONE } from "./shape.ts";
import { formatTypes, formatWarning, readNumbers, readStrings, readTypes } from "./read_values.ts";
import type { SchemaOptions } from "./schema_input.ts";
import { isLimit, SchemaError, type SchemaWarning } from "./schema_error.ts";
import type { TypeGraph } from "./type_graph.ts";
import { UnevaluatedReader } from "./unevaluated.ts";

/**
 * Most schemas of a document. More would take seconds to compile, for which other requests wait.
 */
const MAX_SCHEMAS = 65_536;

/** A schema in its document, with the scope of a path that leads to it. */
interface Visit {
  readonly keywords: KeywordReader;
  /** The scope within the schema. */
  readonly scope: DynamicScope;
  /** The type of a schema that this one contains or refers to. */
  readonly typeOf: (schema: JsonValue) => TypeId;
}

/** The schemas of one document as types. */
export class SchemaReader {
  readonly #document: SchemaDocument;
  readonly #exact: ExactTypes;
  readonly #unevaluated: UnevaluatedReader;
  /** By the scope of the path that leads to them. */
  readonly #ids = new Map<DynamicScope, Map<JsonObject, TypeId>>();
  readonly #keywords = new Map<TypeId, KeywordReader>();
  readonly #warnings = new Map<string, SchemaWarning>();
  #schemas = 0;

  /** @param graph receives the types of the schemas of the document with this root */
  constructor(
    root: JsonValue,
    readonly graph: TypeGraph,
    readonly options: Required<Pick<SchemaOptions, "formats">>,
  ) {
    this.#document = new SchemaDocument(root);
    this.#exact = new ExactTypes(graph);
    this.#unevaluated = new UnevaluatedReader(
      graph,
      this.#document,
      (schema, scope) => this.typeOf(schema, scope),
    );
  }

  /**
   * The type of a schema of the document.
   *
   * @param scope the scope of the path that leads to it
   * @throws {SchemaError} if it is not a schema
   */
  typeOf(schema: JsonValue, scope = this.#document.outside): TypeId {
    if (typeof schema === "boolean") return schema ? ANY : NONE;
    if (!(schema instanceof Map)) {
      const pointer = this.#document.pointer(schema);
      throw new SchemaError(pointer, "", "a schema is an object or a boolean");
    }
    let ids = this.#ids.get(scope);
    if (ids === undefined) this.#ids.set(scope, ids = new Map());
    let id = ids.get(schema);
    if (id === undefined) {
      const says = [...schema.keys()].some((keyword) => CONSTRAINTS.has(keyword));
      ids.set(schema, id = says ? this.#source(schema, scope) : ANY);
    }
    return id;
  }

  /** The type of the schema at a JSON pointer. @throws {SchemaError} if there is none */
  typeAt(pointer: string): TypeId {
    return this.typeOf(this.#document.at(pointer));
  }

  /** The edition of JSON Schema that the document uses. */
  get draft(): Draft {
    return this.#document.draft;
  }

  /** What is not enforced of the schemas that were read. */
  get warnings(): SchemaWarning[] {
    return [...this.#warnings.values()];
  }

  keywordsOf(id: TypeId): KeywordReader | undefined {
    return this.#keywords.get(id);
  }

  #source(schema: JsonObject, outer: DynamicScope): TypeId {
    pollCancellation();
    const keywords = this.#document.keywords(schema);
    if (++this.#schemas > MAX_SCHEMAS) {
      throw keywords.error("", `it has more than ${MAX_SCHEMAS} schemas within it`);
    }
    const scope = this.#document.enter(outer, schema);
    const typeOf = (inner: JsonValue) => this.typeOf(inner, scope);
    const id = this.graph.source({
      keywords,
      read: () => located(keywords, "", () => this.#read({ keywords, scope, typeOf })),
    });
    this.#keywords.set(id, keywords);
    return id;
  }

  #read(visit: Visit): TypeId {
    const { keywords, scope, typeOf } = visit;
    const reference = keywords.text("$ref");
    const referred = reference === undefined
      ? ANY
      : typeOf(this.#document.resolve(keywords.schema, reference));
    if (reference !== undefined && keywords.draft <= 7) return referred;
    return this.graph.all([
      this.#own(visit),
      referred,
      ...this.#dynamic(visit),
      ...this.#values(keywords),
      ...this.#combined(visit),
      ...this.#conditional(visit),
      ...this.#unevaluated.read(keywords, scope),
    ]);
  }

  /** What the schema's own keywords say of each JSON type. */
  #own({ keywords, typeOf }: Visit): TypeId {
    const { graph } = this;
    const types = readTypes(keywords);
    const warning = formatWarning(keywords, graph.languages, this.options.formats);
    if (warning) this.#warnings.set(`${warning.pointer} ${warning.keyword}`, warning);
    return graph.constant({
      null: types.has("null"),
      booleans: types.has("boolean") ? [false, true] : [],
      numbers: readNumbers(keywords, types, this.options.formats),
      strings: types.has("string")
        ? readStrings(keywords, graph.languages, this.options.formats)
        : undefined,
      arrays: types.has("array") ? [readArrays(keywords, typeOf)] : [],
      objects: types.has("object") ? [readObjects(keywords, graph, typeOf)] : [],
      mentioned: mentionedTypes(
        keywords,
        formatTypes(keywords, graph.languages, this.options.formats),
      ),
    });
  }

  #dynamic({ keywords, scope, typeOf }: Visit): TypeId[] {
    return this.#document.dynamicTargets(keywords, scope).map(typeOf);
  }

  #values(keywords: KeywordReader): TypeId[] {
    const constant = keywords.get("const");
    const listed = keywords.list("enum");
    const exactly = (keyword: string, values: readonly JsonValue[]) =>
      located(keywords, keyword, () => this.#exact.of(values));
    return [
      ...(constant === undefined ? [] : [exactly("const", [constant])]),
      ...(listed === undefined ? [] : [exactly("enum", listed)]),
    ];
  }

  #combined({ keywords, typeOf }: Visit): TypeId[] {
    const parts = (keywords.list("allOf") ?? []).map(typeOf);
    const anyOf = keywords.list("anyOf");
    if (anyOf !== undefined) parts.push(this.graph.any(anyOf.map(typeOf)));
    const oneOf = keywords.list("oneOf");
    if (oneOf !== undefined) parts.push(this.graph.one(oneOf.map(typeOf)));
    const not = keywords.get("not");
    if (not !== undefined) parts.push(this.graph.not(typeOf(not)));
    return parts;
  }

  #conditional({ keywords, typeOf }: Visit): TypeId[] {
    const { graph } = this;
    const parts: TypeId[] = [];
    const [test, then, otherwise] = ["if", "then", "else"].map((keyword) => {
      const schema = keywords.get(keyword);
      return schema === undefined ? undefined : typeOf(schema);
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
        const type = typeOf(schema);
        parts.push(graph.any([graph.withoutKey(key), graph.all([graph.withKey(key), type])]));
      }
    }
    return parts;
  }
}

/** The type of a schema or keyword. If it exceeds a limit, the error says where. */
function located(keywords: KeywordReader, keyword: string, read: () => TypeId): TypeId {
  try {
    return read();
  } catch (error) {
    throw isLimit(error) ? keywords.error(keyword, error.message) : error;
  }
}
