// What the numbers of a frame are, kind by kind. A frame is a list of integers, so that equal frames are
// one and compare by number; here each of them has a name, which holds for the frames of one kind alone.

declare const OWNER: unique symbol;

/** Where in the frames of a kind a number stands. */
export type Field<Kind extends string = string> = number & { readonly [OWNER]?: Kind };

/** A frame: the number of its kind, and what its layout says. */
export type Frame = readonly number[];

/** Before a value of a type, which white space may come before. */
export const VALUE = {
  kind: 0,
  type: 1 as Field<"value">,
  spaces: 2 as Field<"value">,
  frame: (type: number, spaces: number): Frame => [0, type, spaces],
} as const;

/** In null, true or false, after some of its characters. */
export const LITERAL = {
  kind: 1,
  word: 1 as Field<"literal">,
  position: 2 as Field<"literal">,
  frame: (word: number, position: number): Frame => [1, word, position],
} as const;

/** In a number, in a state of the automaton of its set. */
export const NUMBER = {
  kind: 2,
  rules: 1 as Field<"number">,
  state: 2 as Field<"number">,
  frame: (rules: number, state: number): Frame => [2, rules, state],
} as const;

/** In a string, in a state of the automaton of its text, after a number of characters as far as it matters. */
export const STRING = {
  kind: 3,
  text: 1 as Field<"string">,
  state: 2 as Field<"string">,
  characters: 3 as Field<"string">,
  frame: (text: number, state: number, characters: number): Frame => [3, text, state, characters],
} as const;

/** In a declared key of the object below, one of a range of the sorted keys, after `depth` of its bytes. */
export const DECLARED_KEY = {
  kind: 4,
  first: 1 as Field<"declared key">,
  end: 2 as Field<"declared key">,
  depth: 3 as Field<"declared key">,
  frame: (first: number, end: number, depth: number): Frame => [4, first, end, depth],
} as const;

/** In another key of the object below, which must be none of a set of words: of which of the others. */
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

/** What frames of objects and of arrays have in common. */
export const CONTAINER = {
  /** The index of its rules. */
  rules: 1 as Field<"container">,
  phase: 2 as Field<"container">,
  /** White space that may come. */
  spaces: 3 as Field<"container">,
  /** What its rules remember of the keys or items so far. */
  ledger: 4 as Field<"container">,
  /** The other keys, or the unique items, that were there. */
  used: 5 as Field<"container">,
  /** 1 while the text of the last of them is not among these. */
  pending: 6 as Field<"container">,
} as const;

/** In an object. */
export const OBJECT = {
  ...CONTAINER,
  kind: 6,
  /** The type of the value whose key was the last, up to the colon; -1: none. */
  valueType: 7 as Field<"object">,
  frame: (rules: number, spaces: number, ledger: number): Frame => [
    6,
    rules,
    0,
    spaces,
    ledger,
    0,
    0,
    -1,
  ],
} as const;

/** In an array. */
export const ARRAY = {
  ...CONTAINER,
  kind: 7,
  /** What the rest of the item that is being read must not be, where items are unique. */
  avoided: 7 as Field<"array">,
  frame: (rules: number, spaces: number, ledger: number): Frame => [
    7,
    rules,
    0,
    spaces,
    ledger,
    0,
    0,
    0,
  ],
} as const;

/** After the root of a document. */
export const DOCUMENT_END = {
  kind: 8,
  spaces: 1 as Field<"document end">,
  frame: (spaces: number): Frame => [8, spaces],
} as const;

/** At a place of a grammar, after some rounds of a repetition. */
export const PLACE = {
  kind: 9,
  position: 1 as Field<"place">,
  rounds: 2 as Field<"place">,
  frame: (position: number, rounds: number): Frame => [9, position, rounds],
} as const;

/** In a text of a grammar. */
export const TEXT = {
  kind: 10,
  text: 1 as Field<"text">,
  state: 2 as Field<"text">,
  characters: 3 as Field<"text">,
  frame: (text: number, state: number, characters: number): Frame => [10, text, state, characters],
} as const;

/** Any of a set of stacks, on no other stack; never on top of a state's. */
export const EITHER = {
  kind: 11,
  set: 1 as Field<"either">,
  frame: (set: number): Frame => [11, set],
} as const;

/** Where in an object or array a frame is. A frame begins with the first. */
export const Phase = { OPEN: 0, KEY: 1, COLON: 2, NEXT: 3, COMMA: 4 } as const;

/** Where frames hold sets of words, by kind. */
export const WORD_FIELDS: Readonly<Record<number, readonly Field[]>> = {
  [OTHER_KEY.kind]: [OTHER_KEY.avoided],
  [OBJECT.kind]: [OBJECT.used],
  [ARRAY.kind]: [ARRAY.used, ARRAY.avoided],
};
