// The types that the algebra works on: like ../types.ts, but open. Forbidden keys are declared with the
// type NONE, the languages of other keys need not avoid declared ones, and an object may have to hold a
// key of a language (a witness), as complements ask. lower.ts turns shapes into what the machine runs.

import type { LanguageId, Languages } from "../language/mod.ts";
import { allNumbers, type NumberSet } from "../number/mod.ts";
import type { StringType, TypeId } from "../types.ts";

/** The type of all values. */
export const ANY: TypeId = 0;
/** The type without values. */
export const NONE: TypeId = 1;

/** Most alternatives of arrays or objects that one type may have. */
export const MAX_ALTERNATIVES = 256;

/** Values that are allowed, by JSON type. */
export interface Shape {
  readonly null: boolean;
  /** The booleans that are allowed, false first. */
  readonly booleans: readonly boolean[];
  readonly numbers: NumberSet | undefined;
  readonly strings: StringType | undefined;
  /** Any of these. */
  readonly arrays: readonly ArrayShape[];
  /** Any of these. */
  readonly objects: readonly ObjectShape[];
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
 * Objects: declared keys, and others by disjoint languages; keys that are in none are forbidden. What
 * complements and conditions say of a key is no declaration of it: that is noted beside.
 */
export interface ObjectShape {
  readonly properties: ReadonlyMap<string, PropertyShape>;
  readonly others: readonly Cell[];
  readonly min: number;
  readonly max: number;
  /** At least one literal of each holds; their keys are declared. */
  readonly clauses: readonly Clause[];
  /** For each, some key of the language has a value of the type. */
  readonly witnesses: readonly Cell[];
  /** Whether keys that no schema declares are not begun: see closed_objects.ts. */
  readonly isClosed?: boolean;
}

/** The value of a declared key; of type NONE: the key is forbidden. */
export interface PropertyShape {
  readonly type: TypeId;
  readonly required: boolean;
  /** Whether a schema names it or allows it in so many words; of use where objects are closed. */
  readonly isDeclared?: boolean;
}

/** Keys of a language, with values of a type. */
export interface Cell {
  readonly keys: LanguageId;
  readonly type: TypeId;
  /** Whether a schema allows them in so many words. */
  readonly isDeclared?: boolean;
}

/** That a key is there, or that it is not. */
export interface Literal {
  readonly key: string;
  readonly present: boolean;
}

/** Literals of which at least one holds. */
export type Clause = readonly Literal[];

/** What the algebra needs of the graph of types. */
export interface TypeAlgebra {
  readonly languages: Languages;
  /** The intersection of types. */
  all(parts: readonly TypeId[]): TypeId;
  /** The union of types. */
  any(parts: readonly TypeId[]): TypeId;
  /** The complement of a type. */
  not(part: TypeId): TypeId;
  /** True if the type surely has no value; false says nothing. */
  isKnownEmpty(type: TypeId): boolean;
  /** The values of a type of few strings, numbers and booleans, as texts; undefined for all others. */
  fewValues(type: TypeId): ReadonlySet<string> | undefined;
  /** Counts steps. @throws {AlgebraError} over the budget of one schema */
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
    witnesses: [],
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
  };
}

/** True if no value is allowed on the face of it. */
export function isVoid(shape: Shape): boolean {
  return !shape.null && shape.booleans.length === 0 && shape.numbers === undefined &&
    shape.strings === undefined && shape.arrays.length === 0 && shape.objects.length === 0;
}
