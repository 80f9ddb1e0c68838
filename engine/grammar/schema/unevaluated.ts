// unevaluatedProperties and unevaluatedItems (JSON Schema Core 11). What counts as evaluated depends on
// which branches a value satisfies, so the schema is split in cases, each with a fixed answer; where
// that takes too many cases, the schema is refused.

import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { TypeId } from "../types.ts";
import type { SchemaDocument } from "./document.ts";
import { type KeywordReader, textList } from "./keyword_reader.ts";
import { withKey } from "./presence.ts";
import { arrayItems } from "./read_arrays.ts";
import { readPattern } from "./read_values.ts";
import { ANY, ANY_ARRAY, anyObject, anyShape } from "./shape.ts";
import { literals } from "./strings.ts";
import type { TypeGraph } from "./type_graph.ts";

/** Most cases that one schema may be split in. */
const MAX_CASES = 32;

/** A condition, and what is evaluated in values that satisfy it. */
interface Case {
  readonly conditions: readonly TypeId[];
  /** The keys. */
  readonly keys: number;
  /** Items before this index. */
  readonly items: number;
  /** Further items of these types. */
  readonly matching: readonly TypeId[];
}

/** The unevaluated keywords of one document. */
export class UnevaluatedReader {
  readonly #open = new Set<JsonObject>();

  /** A reader for the schemas of a document. */
  constructor(
    readonly graph: TypeGraph,
    readonly document: SchemaDocument,
    readonly typeOf: (schema: JsonValue) => TypeId,
  ) {}

  /** The types that the two keywords of a schema ask for besides the others. */
  read(keywords: KeywordReader): TypeId[] {
    const parts: TypeId[] = [];
    const properties = keywords.get("unevaluatedProperties");
    if (properties !== undefined && properties !== true) {
      const type = this.typeOf(properties);
      parts.push(
        this.#split(keywords, "unevaluatedProperties", (known) => this.#objects(known, type)),
      );
    }
    const items = keywords.get("unevaluatedItems");
    if (items !== undefined && items !== true) {
      const type = this.typeOf(items);
      parts.push(this.#split(keywords, "unevaluatedItems", (known) => this.#arrays(known, type)));
    }
    return parts;
  }

  #objects(known: Case, type: TypeId): TypeId {
    const { languages } = this.graph;
    const others = [
      { keys: known.keys, type: ANY },
      { keys: languages.complement(known.keys), type },
    ].filter(({ keys }) => !languages.isEmpty(keys));
    return this.graph.constant({
      ...anyShape(languages),
      objects: [{ ...anyObject(languages), others }],
    });
  }

  #arrays(known: Case, type: TypeId): TypeId {
    if (known.items === Infinity) return ANY;
    const rest = this.graph.any([...known.matching, type]);
    const prefix = Array.from({ length: known.items }, () => ANY);
    return this.graph.constant({
      ...anyShape(this.graph.languages),
      arrays: [{ ...ANY_ARRAY, prefix, rest, max: rest === 1 ? known.items : Infinity }],
    });
  }

  #split(
    keywords: KeywordReader,
    keyword: string,
    constrain: (known: Case) => TypeId,
  ): TypeId {
    const { graph } = this;
    const cases = this.#cases(keywords, keyword);
    return graph.any(
      cases.map((known) => graph.all([...known.conditions, constrain(known)])),
    );
  }

  /** The cases of a schema. @param skipped the keyword that asks */
  #cases(keywords: KeywordReader, skipped: string): Case[] {
    const { schema } = keywords;
    if (this.#open.has(schema)) {
      throw keywords.error(skipped, "what it leaves unevaluated hangs on itself");
    }
    this.#open.add(schema);
    try {
      return this.#combine(keywords, skipped);
    } finally {
      this.#open.delete(schema);
    }
  }

  #combine(keywords: KeywordReader, skipped: string): Case[] {
    let cases: Case[] = [this.#own(keywords, skipped)];
    const combine = (other: readonly Case[]) => {
      cases = cases.flatMap((a) => other.map((b) => this.#join(a, b)));
      const distinct = new Map(cases.map((known) => [JSON.stringify(known), known]));
      cases = [...distinct.values()];
      if (cases.length > MAX_CASES) {
        throw keywords.error(
          skipped,
          `it depends on more than ${MAX_CASES} combinations of branches`,
        );
      }
    };
    for (const inner of this.#always(keywords)) combine(this.#inner(inner, skipped));
    for (const name of ["anyOf", "oneOf"]) {
      for (const branch of keywords.list(name) ?? []) combine(this.#maybe(branch, skipped));
    }
    const test = keywords.get("if");
    if (test !== undefined) combine(this.#conditional(keywords, test, skipped));
    for (const name of ["dependentSchemas", "dependencies"]) {
      for (const [key, branch] of keywords.named(name)) {
        if (textList(branch) === undefined) combine(this.#dependent(key, branch, skipped));
      }
    }
    return cases;
  }

  #always(keywords: KeywordReader): JsonValue[] {
    const found = [...keywords.list("allOf") ?? []];
    const reference = keywords.text("$ref");
    if (reference !== undefined) found.push(this.document.resolve(keywords.schema, reference));
    for (const keyword of ["$dynamicRef", "$recursiveRef"]) {
      const dynamic = keywords.text(keyword);
      if (dynamic === undefined) continue;
      found.push(this.document.resolveDynamic(keywords.schema, keyword, dynamic));
    }
    return found;
  }

  #inner(schema: JsonValue, skipped: string): Case[] {
    if (!(schema instanceof Map)) return [this.#nothing()];
    return this.#cases(this.document.keywords(schema), skipped);
  }

  /** A branch that holds or does not; only the first tells what is evaluated. */
  #maybe(schema: JsonValue, skipped: string): Case[] {
    const type = this.typeOf(schema);
    const inner = this.#inner(schema, skipped);
    const plain = inner.length === 1 && this.#isNothing(inner[0]!);
    if (plain) return inner;
    return [
      ...inner.map((known) => ({ ...known, conditions: [type, ...known.conditions] })),
      { ...this.#nothing(), conditions: [this.graph.not(type)] },
    ];
  }

  #conditional(keywords: KeywordReader, test: JsonValue, skipped: string): Case[] {
    const type = this.typeOf(test);
    const branch = (name: string) => this.#inner(keywords.get(name) ?? true, skipped);
    const met = this.#inner(test, skipped).flatMap((a) =>
      branch("then").map((b) => this.#join(a, b))
    );
    return [
      ...met.map((known) => ({ ...known, conditions: [type, ...known.conditions] })),
      ...branch("else").map((known) => ({
        ...known,
        conditions: [this.graph.not(type), ...known.conditions],
      })),
    ];
  }

  #dependent(key: string, schema: JsonValue, skipped: string): Case[] {
    const has = withKey(this.graph, key);
    return [
      ...this.#inner(schema, skipped).map((known) => ({
        ...known,
        conditions: [has, ...known.conditions],
      })),
      { ...this.#nothing(), conditions: [this.graph.not(has)] },
    ];
  }

  #own(keywords: KeywordReader, skipped: string): Case {
    const { languages } = this.graph;
    let keys = literals(languages, [...keywords.named("properties").keys()]);
    for (const source of keywords.named("patternProperties").keys()) {
      keys = languages.union(keys, readPattern(keywords, languages, "patternProperties", source));
    }
    const asks = skipped === "unevaluatedProperties" && this.#open.size === 1;
    const rest = !asks && keywords.has("unevaluatedProperties");
    if (keywords.has("additionalProperties") || rest) keys = languages.any();
    const items = arrayItems(keywords);
    const asksItems = skipped === "unevaluatedItems" && this.#open.size === 1;
    const all = items.rest !== undefined || !asksItems && keywords.has("unevaluatedItems");
    const contains = keywords.get("contains");
    // Only the 2020-12 edition counts what `contains` matches as evaluated.
    const counts = contains !== undefined && this.document.draft >= 2020;
    return {
      conditions: [],
      keys,
      items: all ? Infinity : items.prefix.length,
      matching: counts ? [this.typeOf(contains)] : [],
    };
  }

  #nothing(): Case {
    return { conditions: [], keys: this.graph.languages.none(), items: 0, matching: [] };
  }

  #isNothing({ conditions, keys, items, matching }: Case): boolean {
    return conditions.length === 0 && items === 0 && matching.length === 0 &&
      this.graph.languages.isEmpty(keys);
  }

  #join(a: Case, b: Case): Case {
    return {
      conditions: [...new Set([...a.conditions, ...b.conditions])],
      keys: this.graph.languages.union(a.keys, b.keys),
      items: Math.max(a.items, b.items),
      matching: [...new Set([...a.matching, ...b.matching])],
    };
  }
}
