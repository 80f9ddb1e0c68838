// The types of the algebra: like ../types.ts, with fewer guarantees. Forbidden keys are declared
// with the type NONE, languages of other keys may contain declared ones, and an object may have to
// contain a key of a language (a wanted key), as complements require. lower.ts turns shapes into the
// types of the machine.

import type { LanguageId, Languages } from "../language/mod.ts";
import { allNumbers, type NumberSet } from "../number/mod.ts";
import type { StringType, TypeId } from "../types.ts";
import type { KeywordReader } from "./keyword_reader.ts";

/** The type of all values. */
export const ANY: TypeId = 0;
/** The type without values. */
export const NONE: TypeId = 1;

/** Most alternatives of arrays or objects that one type may have. */
export const MAX_ALTERNATIVES = 256;

/** JSON types, a bit each. */
export type JsonTypes = number;

/** Values that are allowed, by JSON type. */
export interface Shape {
  readonly null: boolean;
  /** The booleans that are allowed, false first. */
  readonly booleans: readonly boolean[];
  readonly numbers: NumberSet | undefined;
  readonly strings: StringType | undefined;
  /** Alternatives. */
  readonly arrays: readonly ArrayShape[];
  /** Alternatives. */
  readonly objects: readonly ObjectShape[];
  /** JSON types of which a schema says something; 0 if no schema says anything: see mentionedTypes(). */
  readonly mentioned: JsonTypes;
}

/** Arrays: `prefix`, then any number of `rest`. */
export interface ArrayShape {
  readonly prefix: readonly TypeId[];
  readonly rest: TypeId;
  readonly min: number;
  readonly max: number;
  readonly unique: boolean;
  readonly contains: readonly Contained[];
}

/** How many items must be of a type. */
export interface Contained {
  readonly item: TypeId;
  readonly min: number;
  readonly max: number;
}

/**
 * Objects: declared keys, and others by disjoint languages. All other keys are forbidden. Keys that
 * occur only in complements and conditions do not count as declared, which `isDeclared` says.
 */
export interface ObjectShape {
  readonly properties: ReadonlyMap<string, PropertyShape>;
  readonly others: readonly Cell[];
  readonly min: number;
  readonly max: number;
  /** Clauses: at least one literal of each holds. Their keys are declared. */
  readonly clauses: readonly Clause[];
  /** Wanted keys: for each of them, some key of its language has a value of its type. */
  readonly wantedKeys: readonly Cell[];
  /** Whether keys that no schema declares are not written: see closed_types.ts. */
  readonly isClosed?: boolean;
}

/** The value of a declared key; NONE if the key is forbidden. */
export interface PropertyShape {
  readonly type: TypeId;
  readonly required: boolean;
  /**
   * Whether a schema names the key or allows it explicitly, which matters if objects are closed.
   */
  readonly isDeclared?: boolean;
}

/** Keys of a language, with values of a type. */
export interface Cell {
  readonly keys: LanguageId;
  readonly type: TypeId;
  /** Whether a schema allows them explicitly. */
  readonly isDeclared?: boolean;
}

/** The presence of a key, or its absence. */
export interface Literal {
  readonly key: string;
  readonly present: boolean;
}

/** Literals, at least one of which holds. */
export type Clause = readonly Literal[];

/** The part of the graph of types that the algebra uses. */
export interface TypeAlgebra {
  readonly languages: Languages;
  /** The intersection of types. */
  all(parts: readonly TypeId[]): TypeId;
  /** The union of types. */
  any(parts: readonly TypeId[]): TypeId;
  /** The complement of a type. */
  not(part: TypeId): TypeId;
  /** True if the type certainly has no value; false if that is not known. */
  isKnownEmpty(type: TypeId): boolean;
  /**
   * The values of a type of few strings, numbers and booleans, as texts; undefined for all others.
   */
  fewValues(type: TypeId): ReadonlySet<string> | undefined;
  /** Counts steps. @throws {AlgebraError} if the budget of a schema is spent */
  spend(steps: number): void;
}

/** No value. */
export const NO_SHAPE: Shape = {
  null: false,
  booleans: [],
  numbers: undefined,
  strings: undefined,
  arrays: [],
  objects: [],
  mentioned: 0,
};

/** Every array. */
export const ANY_ARRAY: ArrayShape = {
  prefix: [],
  rest: ANY,
  min: 0,
  max: Infinity,
  unique: false,
  contains: [],
};

/** Every object. */
export function anyObject(languages: Languages): ObjectShape {
  return {
    properties: new Map(),
    others: [{ keys: languages.any(), type: ANY }],
    min: 0,
    max: Infinity,
    clauses: [],
    wantedKeys: [],
  };
}

/** Every value. */
export function anyShape(languages: Languages): Shape {
  return {
    null: true,
    booleans: [false, true],
    numbers: allNumbers(),
    strings: { language: languages.any(), min: 0, max: Infinity },
    arrays: [ANY_ARRAY],
    objects: [anyObject(languages)],
    mentioned: 0,
  };
}

/** Whether a shape obviously allows no value. */
export function isVoid(shape: Shape): boolean {
  return !shape.null && shape.booleans.length === 0 && shape.numbers === undefined &&
    shape.strings === undefined && shape.arrays.length === 0 && shape.objects.length === 0;
}

// The JSON types that a schema says something about: those of `type`, `const` and `enum`, and those that its
// other keywords restrict, as `properties` does objects. closed_types.ts leaves out the others.

/** The bits of {@linkcode JsonTypes}. Integers are numbers. */
export const BITS = {
  null: 1,
  boolean: 2,
  integer: 4,
  number: 4,
  string: 8,
  array: 16,
  object: 32,
} as const;

/** The keywords that restrict one JSON type. */
const KEYWORDS: ReadonlyMap<string, JsonTypes> = new Map(
  Object.entries(
    {
      number: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
      string: "minLength maxLength pattern",
      array: "items prefixItems additionalItems unevaluatedItems minItems maxItems uniqueItems " +
        "contains minContains maxContains",
      object: "properties patternProperties additionalProperties unevaluatedProperties required " +
        "minProperties maxProperties propertyNames dependentRequired dependentSchemas dependencies",
    } as const,
  ).flatMap(([type, keywords]) =>
    keywords.split(" ").map((keyword) => [keyword, BITS[type as keyof typeof BITS]])
  ),
);

/**
 * The JSON types that a schema's own keywords mention, apart from those of `const` and `enum`.
 *
 * @param format the types of its format
 */
export function mentionedTypes(keywords: KeywordReader, format: JsonTypes): JsonTypes {
  const type = keywords.get("type");
  if (type !== undefined) return bitsOf([type].flat() as readonly string[]);
  const said = [...keywords.schema.keys()].filter((keyword) => keywords.has(keyword));
  return said.reduce((types, keyword) => types | (KEYWORDS.get(keyword) ?? 0), format);
}

/** The JSON types of which a shape has values, as far as it is known. */
export function typesOf(shape: Omit<Shape, "mentioned">): JsonTypes {
  return bitsOf([
    ...shape.null ? ["null"] : [],
    ...shape.booleans.length > 0 ? ["boolean"] : [],
    ...shape.numbers ? ["number"] : [],
    ...shape.strings ? ["string"] : [],
    ...shape.arrays.length > 0 ? ["array"] : [],
    ...shape.objects.length > 0 ? ["object"] : [],
  ]);
}

/** What a union mentions: an alternative that mentions nothing is meant with all its values. */
export function mentionedByAny(shapes: readonly Shape[]): JsonTypes {
  if (shapes.every(({ mentioned }) => mentioned === 0)) return 0;
  return shapes.reduce((types, shape) => {
    const own = typesOf(shape);
    return types | (own & shape.mentioned || own);
  }, 0);
}

function bitsOf(types: readonly string[]): JsonTypes {
  return types.reduce((bits, type) => bits | BITS[type as keyof typeof BITS], 0);
}
