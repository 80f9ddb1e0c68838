// unevaluatedProperties and unevaluatedItems (JSON Schema Core 11). What counts as evaluated
// depends on the branches that a value satisfies. So the schema is split into cases, each with a
// fixed answer; if there are too many, the schema is refused. The more is evaluated, the more is
// allowed. So a case need not say that the other branches do not hold.

import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { TypeId } from "../types.ts";
import type { DynamicScope, SchemaDocument } from "./document.ts";
import { type KeywordReader, textList } from "./keyword_reader.ts";
import { arrayItems } from "./read_objects.ts";
import { readKeyPattern } from "./read_values.ts";
import { ANY, ANY_ARRAY, anyObject, anyShape } from "./shape.ts";
import { literals } from "./strings.ts";
import type { TypeGraph } from "./type_graph.ts";

/** Most cases into which one schema may be split. */
const MAX_CASES = 64;
/** Number of cases from which on it is worthwhile to find out which are impossible. */
const FEW_CASES = 8;

/** Conditions, and what is at least evaluated in values that satisfy them. */
interface Case {
  readonly conditions: readonly TypeId[];
  readonly keys: number;
  /** The items before this index. */
  readonly items: number;
  /** Further items, of these types. */
  readonly matching: readonly TypeId[];
}

/** A schema with the scope of a path that leads to it. */
interface Visit {
  readonly keywords: KeywordReader;
  /** The scope within the schema. */
  readonly scope: DynamicScope;
  /** The keyword that depends on what is evaluated. */
  readonly asking: string;
}

/** The unevaluated keywords of one document. */
export class UnevaluatedReader {
  readonly #open = new Set<JsonObject>();

  constructor(
    readonly graph: TypeGraph,
    readonly document: SchemaDocument,
    readonly typeOf: (schema: JsonValue, scope: DynamicScope) => TypeId,
  ) {}

  /**
   * The types that the two keywords of a schema require. @param scope the scope within the schema
   */
  read(keywords: KeywordReader, scope: DynamicScope): TypeId[] {
    const read = (keyword: string, constrain: (known: Case, type: TypeId) => TypeId) => {
      const schema = keywords.get(keyword);
      if (schema === undefined) return [];
      if (schema === true) return this.graph.closesObjects ? [this.#declared()] : [];
      const type = this.typeOf(schema, scope);
      const cases = this.#cases({ keywords, scope, asking: keyword });
      return this.graph.any(
        cases.map((known) => this.graph.all([...known.conditions, constrain(known, type)])),
      );
    };
    return [
      read("unevaluatedProperties", (known, type) => this.#objects(known, type)),
      read("unevaluatedItems", (known, type) => this.#arrays(known, type)),
    ].flat();
  }

  #objects(known: Case, type: TypeId): TypeId {
    const { languages } = this.graph;
    const others = [
      { keys: known.keys, type: ANY },
      {
        keys: languages.complement(known.keys),
        type,
        ...this.graph.closesObjects && { isDeclared: true },
      },
    ].filter(({ keys }) => !languages.isEmpty(keys));
    return this.graph.constant({
      ...anyShape(languages),
      objects: [{ ...anyObject(languages), others }],
    });
  }

  /** Every value, explicitly allowed. */
  #declared(): TypeId {
    const { languages } = this.graph;
    const others = [{ keys: languages.any(), type: ANY, isDeclared: true }];
    const objects = [{ ...anyObject(languages), others }];
    return this.graph.constant({ ...anyShape(languages), objects });
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

  /** The cases of a schema. */
  #cases(visit: Visit): Case[] {
    const { keywords: { schema }, asking } = visit;
    if (this.#open.has(schema)) {
      throw visit.keywords.error(asking, "what it leaves unevaluated hangs on itself");
    }
    this.#open.add(schema);
    try {
      return this.#combine(visit);
    } finally {
      this.#open.delete(schema);
    }
  }

  #combine(visit: Visit): Case[] {
    const { keywords, scope, asking } = visit;
    let cases: Case[] = [this.#own(visit)];
    const combine = (other: readonly Case[]) => {
      const joined = cases.flatMap((a) => other.map((b) => this.#join(a, b)));
      cases = [...new Map(joined.map((known) => [JSON.stringify(known), known])).values()];
      if (cases.length > FEW_CASES) cases = cases.filter((known) => this.#isPossible(known));
      if (cases.length <= MAX_CASES) return;
      throw keywords.error(asking, `it depends on more than ${MAX_CASES} combinations of branches`);
    };
    const always = [
      ...keywords.list("allOf") ?? [],
      ...this.document.dynamicTargets(keywords, scope),
    ];
    const reference = keywords.text("$ref");
    if (reference !== undefined) always.push(this.document.resolve(keywords.schema, reference));
    for (const inner of always) combine(this.#inner(inner, visit));
    for (const branch of keywords.list("anyOf") ?? []) combine(this.#maybe(branch, visit));
    const oneOf = keywords.list("oneOf");
    if (oneOf !== undefined) combine(this.#oneOf(oneOf, visit));
    const test = keywords.get("if");
    if (test !== undefined) combine(this.#conditional(test, visit));
    for (const name of ["dependentSchemas", "dependencies"]) {
      for (const [key, branch] of keywords.named(name)) {
        if (textList(branch) !== undefined) continue;
        const inner = under(this.graph.withKey(key), this.#inner(branch, visit));
        combine([...inner, this.#nothing()]);
      }
    }
    return cases;
  }

  #inner(schema: JsonValue, { scope, asking }: Visit): Case[] {
    if (!(schema instanceof Map)) return [this.#nothing()];
    const keywords = this.document.keywords(schema);
    return this.#cases({ keywords, scope: this.document.enter(scope, schema), asking });
  }

  /** A branch that may hold. */
  #maybe(schema: JsonValue, visit: Visit): Case[] {
    const inner = this.#inner(schema, visit);
    if (inner.every((known) => this.#isNothing(known))) return [this.#nothing()];
    return [...under(this.typeOf(schema, visit.scope), inner), this.#nothing()];
  }

  /** Branches, of which one holds. */
  #oneOf(schemas: readonly JsonValue[], visit: Visit): Case[] {
    const cases = schemas.flatMap((schema) => {
      const inner = this.#inner(schema, visit);
      const isPlain = inner.every((known) => this.#isNothing(known));
      return isPlain ? inner : under(this.typeOf(schema, visit.scope), inner);
    });
    return cases.length > 0 ? cases : [this.#nothing()];
  }

  #conditional(test: JsonValue, visit: Visit): Case[] {
    const type = this.typeOf(test, visit.scope);
    const branch = (name: string) => this.#inner(visit.keywords.get(name) ?? true, visit);
    const met = this.#inner(test, visit).flatMap((a) =>
      branch("then").map((b) => this.#join(a, b))
    );
    return [...under(type, met), ...under(this.graph.not(type), branch("else"))];
  }

  #own({ keywords, scope, asking }: Visit): Case {
    const { languages } = this.graph;
    const isAsking = this.#open.size === 1;
    let keys = literals(languages, [...keywords.named("properties").keys()]);
    for (const source of keywords.named("patternProperties").keys()) {
      keys = languages.union(keys, readKeyPattern(keywords, languages, source));
    }
    const evaluates = (keyword: string) =>
      keywords.has(keyword) && !(isAsking && asking === keyword);
    if (keywords.has("additionalProperties") || evaluates("unevaluatedProperties")) {
      keys = languages.any();
    }
    const { prefix, rest } = arrayItems(keywords);
    const all = rest !== undefined || evaluates("unevaluatedItems");
    const contains = keywords.get("contains");
    // Only the 2020-12 edition counts items that `contains` matches as evaluated.
    const counts = contains !== undefined && keywords.draft >= 2020;
    return {
      conditions: [],
      keys,
      items: all ? Infinity : prefix.length,
      matching: counts ? [this.typeOf(contains, scope)] : [],
    };
  }

  #isPossible({ conditions }: Case): boolean {
    return !this.graph.isKnownEmpty(this.graph.all(conditions));
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

/** Cases that are only possible if a condition holds. */
function under(condition: TypeId, cases: readonly Case[]): Case[] {
  return cases.map((known) => ({ ...known, conditions: [condition, ...known.conditions] }));
}
