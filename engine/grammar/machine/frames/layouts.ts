// The meaning of the integers of a frame, for each kind of frames. A frame is a list of integers,
// so that equal frames are stored once and compared by number. Here each element of such a list
// gets a name, which is valid for one kind only.

import { UNKNOWN_TEXT } from "../collections.ts";

declare const OWNER: unique symbol;

/** The index of each field in the frames of a kind. */
export type Field<Kind extends string = string> = number & { readonly [OWNER]?: Kind };

/** A frame: the number of its kind, then the fields of its layout. */
export type Frame = readonly number[];

/** Before a value of a type; white space may come first. */
export const VALUE = {
  kind: 0,
  type: 1 as Field<"value">,
  spaces: 2 as Field<"value">,
  frame: (type: number, spaces: number): Frame => [0, type, spaces],
} as const;

/** Within null, true or false, after some of its characters. */
export const LITERAL = {
  kind: 1,
  word: 1 as Field<"literal">,
  position: 2 as Field<"literal">,
  frame: (word: number, position: number): Frame => [1, word, position],
} as const;

/** Within a number: the state of its automaton. */
export const NUMBER = {
  kind: 2,
  rules: 1 as Field<"number">,
  state: 2 as Field<"number">,
  frame: (rules: number, state: number): Frame => [2, rules, state],
} as const;

/** Within a string: the state of its automaton, and its number of characters if that matters. */
export const STRING = {
  kind: 3,
  text: 1 as Field<"string">,
  state: 2 as Field<"string">,
  characters: 3 as Field<"string">,
  frame: (text: number, state: number, characters: number): Frame => [3, text, state, characters],
} as const;

/**
 * Within a declared key of the object below: the range of sorted keys that are still possible,
 * after `depth` bytes.
 */
export const DECLARED_KEY = {
  kind: 4,
  first: 1 as Field<"declared key">,
  end: 2 as Field<"declared key">,
  depth: 3 as Field<"declared key">,
  frame: (first: number, end: number, depth: number): Frame => [4, first, end, depth],
} as const;

/** Within an undeclared key: its text, and the words from which it must differ. */
export const OTHER_KEY = {
  kind: 5,
  text: 1 as Field<"other key">,
  state: 2 as Field<"other key">,
  avoided: 3 as Field<"other key">,
  which: 4 as Field<"other key">,
  frame: (text: number, state: number, avoided: number, which: number): Frame => [
    5,
    text,
    state,
    avoided,
    which,
  ],
} as const;

/** The fields that frames of objects and of arrays share. */
export const CONTAINER = {
  /** The index of its rules. */
  rules: 1 as Field<"container">,
  phase: 2 as Field<"container">,
  /** Bytes of white space that may come. */
  spaces: 3 as Field<"container">,
  /**
   * The progress: a number that stands for what the rules need to know of the keys or items so far.
   */
  progress: 4 as Field<"container">,
  /** The set of undeclared keys, or of unique items, so far. */
  used: 5 as Field<"container">,
  /** 1 if the last of them has not been added to that set yet. */
  pending: 6 as Field<"container">,
  /**
   * The text of the last undeclared key after its quote, or of the current item, as long as an item
   * around the container is a prefix of earlier ones: only then what may come next decides whether
   * that item can still differ from them.
   */
  text: 8 as Field<"container">,
} as const;

/** Within an object, between keys and values. */
export const OBJECT = {
  ...CONTAINER,
  kind: 6,
  /** The type of the value for the last key, until its colon has come; then -1. */
  valueType: 7 as Field<"object">,
  frame: (rules: number, spaces: number, progress: number): Frame => [
    6,
    rules,
    0,
    spaces,
    progress,
    0,
    0,
    -1,
    UNKNOWN_TEXT,
  ],
} as const;

/** Within an array, between items. */
export const ARRAY = {
  ...CONTAINER,
  kind: 7,
  /** If items are unique: the words from which the rest of the current item must differ. */
  avoided: 7 as Field<"array">,
  frame: (rules: number, spaces: number, progress: number): Frame => [
    7,
    rules,
    0,
    spaces,
    progress,
    0,
    0,
    0,
    UNKNOWN_TEXT,
  ],
} as const;

/** After the root of a document. */
export const DOCUMENT_END = {
  kind: 8,
  spaces: 1 as Field<"document end">,
  frame: (spaces: number): Frame => [8, spaces],
} as const;

/** At a position of a grammar, after some rounds of a repetition. */
export const GRAMMAR_POSITION = {
  kind: 9,
  position: 1 as Field<"grammar position">,
  rounds: 2 as Field<"grammar position">,
  frame: (position: number, rounds: number): Frame => [9, position, rounds],
} as const;

/** Within a text of a grammar. */
export const TEXT = {
  kind: 10,
  text: 1 as Field<"text">,
  state: 2 as Field<"text">,
  characters: 3 as Field<"text">,
  frame: (text: number, state: number, characters: number): Frame => [10, text, state, characters],
} as const;

/** Any stack of a set, instead of the stack below. It is never the top frame of a state. */
export const EITHER = {
  kind: 11,
  set: 1 as Field<"either">,
  frame: (set: number): Frame => [11, set],
} as const;

/** The phases of an object or array between its items; a new one is in the first phase. */
export const Phase = { OPEN: 0, KEY: 1, COLON: 2, NEXT: 3, COMMA: 4 } as const;

/** The fields that are sets of words, by kind of frames. */
export const WORD_FIELDS: Readonly<Record<number, readonly Field[]>> = {
  [OTHER_KEY.kind]: [OTHER_KEY.avoided],
  [OBJECT.kind]: [OBJECT.used],
  [ARRAY.kind]: [ARRAY.used, ARRAY.avoided],
};
