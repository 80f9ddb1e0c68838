// What a schema allows, as plain data between its reader and the machine that enforces it: a union of
// what is allowed of each JSON type, closed under intersection, union and complement. Recursion goes
// through ids. Strings and numbers are languages and sets of their own (language/, number/).

import type { LanguageId } from "./language/mod.ts";
import type { NumberSet } from "./number/mod.ts";

/** A type of a {@linkcode SchemaTypes}, by index. */
export type TypeId = number;

/** Values that are allowed, by JSON type; what is missing is not allowed. */
export interface ValueType {
  readonly null?: true;
  /** The booleans that are allowed. */
  readonly booleans?: readonly boolean[];
  readonly numbers?: NumberSet;
  readonly strings?: StringType;
  /** Any of these. */
  readonly arrays?: readonly ArrayType[];
  /** Any of these. */
  readonly objects?: readonly ObjectType[];
}

/** Strings of a language, of a number of characters (code points). */
export interface StringType {
  readonly language: LanguageId;
  readonly min: number;
  /** Infinity: any. */
  readonly max: number;
}

/** Arrays: `prefix` items one by one, then any number of `rest`. */
export interface ArrayType {
  readonly prefix: readonly TypeId[];
  /** Missing: nothing after the prefix. */
  readonly rest?: TypeId;
  readonly min: number;
  readonly max: number;
  readonly unique: boolean;
  /** Rules about how many items count for them. */
  readonly contains: readonly { readonly min: number; readonly max: number }[];
  /** With `contains`: each type of `prefix` and `rest` in parts, by the rules that an item counts for. */
  readonly splits?: ReadonlyMap<TypeId, readonly ItemPart[]>;
}

/** Items that count (true) and do not count (false) for each rule of `contains`, in order. */
export interface ItemPart {
  readonly type: TypeId;
  readonly counts: readonly boolean[];
}

/** Objects: declared properties in their order, then other keys. */
export interface ObjectType {
  readonly properties: readonly PropertyType[];
  /** Keys that are not declared, by disjoint languages that hold no declared key. */
  readonly others: readonly { readonly keys: LanguageId; readonly type: TypeId }[];
  readonly min: number;
  readonly max: number;
  /** What must hold of the declared keys besides: at least one literal of each clause. */
  readonly clauses: readonly (readonly { readonly key: string; readonly present: boolean }[])[];
}

/** A declared property; one that is forbidden is no property, and excluded from `others`. */
export interface PropertyType {
  readonly key: string;
  readonly type: TypeId;
  readonly required: boolean;
}

/** A schema that can be satisfied, without dead branches: every type has at least one value. */
export interface SchemaTypes {
  readonly types: readonly ValueType[];
  readonly root: TypeId;
}
