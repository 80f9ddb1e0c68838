// The documents in a grammar: the types of several schemas, over the same languages.

import type { Languages } from "../language/mod.ts";
import type { JsonGrammar } from "../grammar.ts";
import { readSchema, type SchemaOptions, schemaValue, type SchemaWarning } from "../schema/mod.ts";
import type { SchemaTypes, TypeId, ValueType } from "../types.ts";

/** Collects the types of schemas. */
export class Documents {
  readonly #languages: Languages;
  readonly #options: SchemaOptions;
  readonly #types: ValueType[] = [];
  readonly #known = new Map<unknown, TypeId>();

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
   * The type of a schema's documents.
   *
   * @throws {SchemaError} if the schema cannot be enforced
   */
  add({ schema, isQuiet = false }: JsonGrammar): TypeId {
    let root = this.#known.get(schema);
    if (root === undefined) {
      const read = readSchema(schemaValue(schema), this.#options, this.#languages);
      const { types, warnings } = read;
      if (!isQuiet) this.warnings.push(...warnings);
      const offset = this.#types.length;
      for (const type of types.types) this.#types.push(shift(type, offset));
      root = types.root + offset;
      this.#known.set(schema, root);
    }
    return root;
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
