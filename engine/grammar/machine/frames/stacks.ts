// Hash-consed stacks of frames: where in a value the machine is, with numbers instead of unrolled
// states. A frame that lies below another is kept as it will be once what lies above is done.

import { IntegerLists } from "../collections/integer_lists.ts";
import { NO_WORDS, WordSets } from "../collections/word_sets.ts";

/** What a frame is in the middle of; the element 0 of its list. */
export const Kind = {
  /** [kind, type, spaces]: before a value. */
  VALUE: 0,
  /** [kind, word, position]: in null, true or false. */
  LITERAL: 1,
  /** [kind, number set, state]. */
  NUMBER: 2,
  /** [kind, string, state, characters]. */
  STRING: 3,
  /** [kind, first, end, depth]: in a declared key, one of a range of the sorted keys. */
  KEY: 4,
  /** [kind, string, state, avoided keys, which of the others]: in another key. */
  OTHER_KEY: 5,
  /** [kind, object, phase, spaces, ledger, used keys, pending, type of the value]. */
  OBJECT: 6,
  /** [kind, array, phase, spaces, ledger, used items, pending, what of them the item may be]. */
  ARRAY: 7,
  /** [kind, spaces]: after the root of a document. */
  END: 8,
  /** [kind, position, count]: at a place of a grammar, after some rounds of a repetition. */
  PLACE: 9,
  /** [kind, text, state, characters]: in a text of a grammar. */
  TEXT: 10,
  /** [kind, set of stacks]: any of several stacks, on no other; never on top of a state's. */
  EITHER: 11,
} as const;

/** Where in an object or array a frame is. */
export const Phase = { OPEN: 0, KEY: 1, COLON: 2, NEXT: 3, COMMA: 4 } as const;

/** Fields of OBJECT and ARRAY frames. */
export const Field = {
  INDEX: 1,
  PHASE: 2,
  SPACES: 3,
  LEDGER: 4,
  USED: 5,
  PENDING: 6,
  LAST: 7,
} as const;

/** Where frames of each kind hold sets of words. */
const WORD_FIELDS: Readonly<Record<number, readonly number[]>> = {
  [Kind.OTHER_KEY]: [3],
  [Kind.OBJECT]: [Field.USED],
  [Kind.ARRAY]: [Field.USED, Field.LAST],
};

/** A stack, by number. */
export type Stack = number;

/** Stands for stacks that depend on the text of a key or item, which no stack holds. */
export const UNRESOLVED_STACK: Stack = -1;

/** Below the lowest frame. */
export const BOTTOM: Stack = 0;

/** Flags of stacks. */
const COMPARES = 1;

const PENDING = 2;

/** Stacks and their frames; what is kept of one lasts as long as this does. */
export class Stacks {
  readonly words = new WordSets();
  readonly #frames = new IntegerLists();
  /** Lists of frame, parent, and flags that hold of this frame or one below. */
  readonly #stacks = new IntegerLists();
  readonly #sets = new IntegerLists();

  constructor() {
    this.#frames.intern([-1]);
    this.#stacks.intern([0, BOTTOM, 0]);
  }

  /** The stack with only one frame. */
  root(frame: readonly number[]): Stack {
    return this.push(frame, BOTTOM);
  }

  /** A frame on top of a stack. */
  push(frame: readonly number[], parent: Stack): Stack {
    const kind = frame[0];
    let flags = this.#stacks.at(parent, 2);
    if (kind === Kind.EITHER) {
      for (const member of this.#sets.get(frame[1]!)) flags |= this.#stacks.at(member, 2);
    }
    if (kind === Kind.ARRAY && frame[Field.LAST] !== NO_WORDS) flags |= COMPARES;
    if ((kind === Kind.ARRAY || kind === Kind.OBJECT) && frame[Field.PENDING] === 1) {
      flags |= PENDING;
    }
    return this.#stacks.intern([this.#frames.intern(frame), parent, flags]);
  }

  /** A set of stacks, by number. */
  setOf(stacks: readonly Stack[]): number {
    return this.#sets.intern([...stacks].sort((a, b) => a - b));
  }

  /** The stacks of a frame that stands for several. */
  members(stack: Stack): readonly Stack[] {
    return this.#sets.get(this.field(stack, 1));
  }

  /** The top frame, by number. */
  topOf(stack: Stack): number {
    return this.#stacks.at(stack, 0);
  }

  /** Whether there is no frame at all. */
  isBottom(stack: Stack): boolean {
    return stack === BOTTOM;
  }

  /** The kind of the top frame. */
  kind(stack: Stack): number {
    return this.field(stack, 0);
  }

  /** A number in the top frame. */
  field(stack: Stack, index: number): number {
    return this.#frames.at(this.#stacks.at(stack, 0), index);
  }

  /** A copy of the top frame. */
  frame(stack: Stack): number[] {
    return this.#frames.get(this.#stacks.at(stack, 0));
  }

  /** What lies below the top frame. */
  parent(stack: Stack): Stack {
    return this.#stacks.at(stack, 1);
  }

  /** Whether the top frame is a key, which goes with the object below it. */
  isKey(stack: Stack): boolean {
    const kind = this.kind(stack);
    return kind === Kind.KEY || kind === Kind.OTHER_KEY;
  }

  /** Whether an array of unique items compares the item that is being read. */
  compares(stack: Stack): boolean {
    return (this.#stacks.at(stack, 2) & COMPARES) !== 0;
  }

  /** Whether the text of a key or item has not been put among those that may not come again. */
  isPending(stack: Stack): boolean {
    return (this.#stacks.at(stack, 2) & PENDING) !== 0;
  }

  /** The stack with another top frame. */
  withFrame(stack: Stack, frame: readonly number[]): Stack {
    return this.push(frame, this.parent(stack));
  }

  /** The stack with another number in its top frame. */
  withField(stack: Stack, index: number, value: number): Stack {
    const frame = this.frame(stack);
    frame[index] = value;
    return this.withFrame(stack, frame);
  }

  /** Frames from the top to the bottom, changed one by one; undefined leaves a frame. */
  map(
    stack: Stack,
    change: (stack: Stack, isTop: boolean) => readonly number[] | undefined,
  ): Stack {
    const changed: (readonly number[])[] = [];
    let lowest = -1;
    let below = stack;
    for (let depth = 0; !this.isBottom(below); depth++) {
      const frame = change(below, depth === 0);
      if (frame) lowest = depth;
      changed.push(frame ?? this.frame(below));
      below = this.parent(below);
    }
    if (lowest < 0) return stack;
    let result = stack;
    for (let depth = 0; depth <= lowest; depth++) result = this.parent(result);
    for (let depth = lowest; depth >= 0; depth--) result = this.push(changed[depth]!, result);
    return result;
  }

  /**
   * A stack of another collection.
   *
   * @param change translates the numbers in a frame that mean something else here
   */
  adopt(
    other: Stacks,
    stack: Stack,
    change: (frame: number[]) => void,
    known: Map<Stack, Stack> = new Map(),
  ): Stack {
    const frames: number[][] = [];
    for (let at = stack; !other.isBottom(at); at = other.parent(at)) frames.push(other.frame(at));
    let result = BOTTOM;
    for (const frame of frames.reverse()) {
      for (const field of WORD_FIELDS[frame[0]!] ?? []) {
        frame[field] = this.words.adopt(other.words, frame[field]!);
      }
      if (frame[0] === Kind.EITHER) frame[1] = this.#adoptSet(other, frame[1]!, change, known);
      change(frame);
      result = this.push(frame, result);
    }
    return result;
  }

  /** Sets share stacks: those that are `known` are not gone through again. */
  #adoptSet(
    other: Stacks,
    set: number,
    change: (frame: number[]) => void,
    known: Map<Stack, Stack>,
  ): number {
    const members = other.#sets.get(set).map((member) => {
      const adopted = known.get(member) ?? this.adopt(other, member, change, known);
      known.set(member, adopted);
      return adopted;
    });
    return this.setOf(members);
  }
}
