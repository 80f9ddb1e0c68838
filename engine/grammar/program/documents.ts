// The documents in a grammar: the types of several schemas, over the same languages.

import type { LanguageId, Languages } from "../language/mod.ts";
import type { JsonGrammar, JsonType, SchemaPointer, StringGrammar } from "../grammar.ts";
import {
  type SchemaOptions,
  SchemaSource,
  schemaValue,
  type SchemaWarning,
} from "../schema/mod.ts";
import type { SchemaTypes, TypeId, ValueType } from "../types.ts";

const MEMBERS: Readonly<Record<JsonType, keyof ValueType>> = {
  null: "null",
  boolean: "booleans",
  number: "numbers",
  string: "strings",
  array: "arrays",
  object: "objects",
};

/** Collects the types of schemas. */
export class Documents {
  readonly #languages: Languages;
  readonly #options: SchemaOptions;
  readonly #types: ValueType[] = [];
  readonly #sources = new Map<unknown, SchemaSource>();
  /** The roots of what was read, by document and pointer. */
  readonly #roots = new Map<unknown, Map<string, TypeId>>();

  /** What is not enforced of the schemas that are not quiet. */
  readonly warnings: SchemaWarning[] = [];

  /** @param languages the languages of strings */
  constructor(languages: Languages, options: SchemaOptions) {
    this.#languages = languages;
    this.#options = options;
  }

  /** All types so far, without a root. */
  get types(): SchemaTypes {
    return { types: this.#types, root: 0 };
  }

  /**
   * The type of a schema's documents; undefined if it has none of the types that are asked for.
   *
   * @throws {SchemaError} if the schema cannot be enforced
   */
  add({ types, ...pointer }: JsonGrammar): TypeId | undefined {
    const root = this.#rootOf(pointer);
    if (types === undefined) return root;
    const whole = this.#types[root]!;
    const members = types.map((type) => MEMBERS[type]).filter((name) => whole[name] !== undefined);
    if (members.length === 0) return undefined;
    return this.#types.push(
      Object.fromEntries(members.map((name) => [name, whole[name]])),
    ) - 1;
  }

  /**
   * The strings that a schema allows, perhaps none.
   *
   * @throws {SchemaError} if the schema cannot be enforced
   */
  strings(pointer: StringGrammar): LanguageId {
    const { strings } = this.#types[this.#rootOf(pointer)]!;
    if (!strings) return this.#languages.none();
    const { language, min, max } = strings;
    if (min === 0 && max === Infinity) return language;
    return this.#languages.intersect(language, this.#languages.ofLength(min, max));
  }

  #rootOf({ schema, at = "", isQuiet = false }: SchemaPointer): TypeId {
    let roots = this.#roots.get(schema);
    if (!roots) this.#roots.set(schema, roots = new Map());
    let root = roots.get(at);
    if (root === undefined) {
      const { types, warnings } = this.#sourceOf(schema).read(at);
      if (!isQuiet) this.warnings.push(...warnings);
      const offset = this.#types.length;
      for (const type of types.types) this.#types.push(shift(type, offset));
      roots.set(at, root = types.root + offset);
    }
    return root;
  }

  #sourceOf(schema: unknown): SchemaSource {
    let source = this.#sources.get(schema);
    if (!source) {
      source = new SchemaSource(schemaValue(schema), this.#options, this.#languages);
      this.#sources.set(schema, source);
    }
    return source;
  }
}

/** A type whose parts have moved in the list of types. */
function shift(type: ValueType, offset: number): ValueType {
  const arrays = type.arrays?.map((array) => ({
    ...array,
    prefix: array.prefix.map((item) => item + offset),
    ...(array.rest !== undefined && { rest: array.rest + offset }),
    ...(array.splits && {
      splits: new Map(
        [...array.splits].map(([item, parts]) => [
          item + offset,
          parts.map((part) => ({ ...part, type: part.type + offset })),
        ]),
      ),
    }),
  }));
  const objects = type.objects?.map((object) => ({
    ...object,
    properties: object.properties.map((one) => ({ ...one, type: one.type + offset })),
    others: object.others.map((one) => ({ ...one, type: one.type + offset })),
  }));
  return { ...type, ...(arrays && { arrays }), ...(objects && { objects }) };
}
