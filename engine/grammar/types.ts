// What a schema allows, as plain data between its reader and the machine: a union over JSON types,
// closed under intersection, union and complement. Recursion goes through ids. Strings and numbers
// have languages and sets of their own (language/, number/).

import type { LanguageId } from "./language/mod.ts";
import type { NumberSet } from "./number/mod.ts";

/** A type of a {@linkcode SchemaTypes}, by index. */
export type TypeId = number;

/** Allowed values by JSON type. What is missing is not allowed. */
export interface ValueType {
  readonly null?: true;
  /** The booleans that are allowed. */
  readonly booleans?: readonly boolean[];
  readonly numbers?: NumberSet;
  readonly strings?: StringType;
  /** Alternatives. */
  readonly arrays?: readonly ArrayType[];
  /** Alternatives. */
  readonly objects?: readonly ObjectType[];
}

/** The strings of a language with a number of characters (code points). */
export interface StringType {
  readonly language: LanguageId;
  readonly min: number;
  /** Infinity: any number. */
  readonly max: number;
}

/** Arrays: the items of `prefix` one by one, then any number of `rest`. */
export interface ArrayType {
  readonly prefix: readonly TypeId[];
  /** Missing: nothing may follow the prefix. */
  readonly rest?: TypeId;
  readonly min: number;
  readonly max: number;
  readonly unique: boolean;
  /** Rules about the numbers of items that count for them (`contains`). */
  readonly contains: readonly { readonly min: number; readonly max: number }[];
  /**
   * With `contains`: each type of `prefix` and `rest` in parts, by the rules for which an item
   * counts.
   */
  readonly splits?: ReadonlyMap<TypeId, readonly ItemPart[]>;
}

/** For each rule of `contains`, in order: whether items of this part count. */
export interface ItemPart {
  readonly type: TypeId;
  readonly counts: readonly boolean[];
}

/** Objects: declared properties in order, then other keys. */
export interface ObjectType {
  readonly properties: readonly PropertyType[];
  /** Keys that are not declared, by disjoint languages that contain no declared key. */
  readonly others: readonly { readonly keys: LanguageId; readonly type: TypeId }[];
  readonly min: number;
  readonly max: number;
  /** Clauses about declared keys: at least one literal of each holds. */
  readonly clauses: readonly (readonly { readonly key: string; readonly present: boolean }[])[];
}

/** A declared property. A forbidden key is not a property, and is excluded from `others`. */
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
