// Hash-consed stacks of frames. A stack describes a position in a value by numbers, so that states
// need not be unrolled. A frame below another already has the state that it will have once the
// upper one ends.

import {
  ARRAY,
  CONTAINER,
  DECLARED_KEY,
  EITHER,
  type Field,
  type Frame,
  OBJECT,
  OTHER_KEY,
  WORD_FIELDS,
} from "./layouts.ts";
import { BegunTexts, IntegerLists, NO_WORDS, WordSets } from "../collections.ts";

/** A stack, by number. */
export type Stack = number;

/** The stack of what depends on the text of a key or item, which stacks do not hold. */
export const UNRESOLVED_STACK: Stack = -1;

/** Below the lowest frame. */
export const BOTTOM: Stack = 0;

/** Flags of stacks. */
const COMPARES = 1;

const PENDING = 2;

/**
 * A collection of stacks and frames. What is cached about a stack is valid as long as the
 * collection exists.
 */
export class Stacks {
  readonly words = new WordSets();
  readonly texts = new BegunTexts();
  readonly #frames = new IntegerLists();
  /**
   * Lists of a frame, the stack below, and flags that are set if they apply to this frame or one
   * below.
   */
  readonly #stacks = new IntegerLists();
  readonly #sets = new IntegerLists();

  constructor() {
    this.#frames.intern([-1]);
    this.#stacks.intern([0, BOTTOM, 0]);
  }

  /** The stack with only one frame. */
  root(frame: Frame): Stack {
    return this.push(frame, BOTTOM);
  }

  /** A frame on top of a stack. */
  push(frame: Frame, parent: Stack): Stack {
    const kind = frame[0];
    let flags = this.#stacks.at(parent, 2);
    if (kind === EITHER.kind) {
      for (const member of this.#sets.get(frame[EITHER.set]!)) flags |= this.#stacks.at(member, 2);
    }
    if (kind === ARRAY.kind && frame[ARRAY.avoided] !== NO_WORDS) flags |= COMPARES;
    const isContainer = kind === ARRAY.kind || kind === OBJECT.kind;
    if (isContainer && frame[CONTAINER.pending] === 1) flags |= PENDING;
    return this.#stacks.intern([this.#frames.intern(frame), parent, flags]);
  }

  setOf(stacks: readonly Stack[]): number {
    return this.#sets.intern([...stacks].sort((a, b) => a - b));
  }

  /** The stacks that a frame stands for. */
  members(stack: Stack): readonly Stack[] {
    return this.#sets.get(this.field(stack, EITHER.set));
  }

  /** The top frame, by number. */
  topOf(stack: Stack): number {
    return this.#stacks.at(stack, 0);
  }

  /** Whether there is no frame. */
  isBottom(stack: Stack): boolean {
    return stack === BOTTOM;
  }

  /** The kind of the top frame. */
  kind(stack: Stack): number {
    return this.#frames.at(this.#stacks.at(stack, 0), 0);
  }

  /** A number in the top frame. */
  field(stack: Stack, field: Field): number {
    return this.#frames.at(this.#stacks.at(stack, 0), field);
  }

  /** A copy of the top frame. */
  frame(stack: Stack): number[] {
    return this.#frames.get(this.#stacks.at(stack, 0));
  }

  /** The stack below the top frame. */
  parent(stack: Stack): Stack {
    return this.#stacks.at(stack, 1);
  }

  /** Whether the top frame is a key, which belongs to the object below it. */
  isKey(stack: Stack): boolean {
    const kind = this.kind(stack);
    return kind === DECLARED_KEY.kind || kind === OTHER_KEY.kind;
  }

  /** Whether some array of unique items compares the item that is being read. */
  compares(stack: Stack): boolean {
    return (this.#stacks.at(stack, 2) & COMPARES) !== 0;
  }

  /** Whether the text of some key or item has not been added to those that must not come again. */
  isPending(stack: Stack): boolean {
    return (this.#stacks.at(stack, 2) & PENDING) !== 0;
  }

  /** The stack with another top frame. */
  withFrame(stack: Stack, frame: Frame): Stack {
    return this.push(frame, this.parent(stack));
  }

  /** The stack with another number in its top frame. */
  withField(stack: Stack, field: Field, value: number): Stack {
    const frame = this.frame(stack);
    frame[field] = value;
    return this.withFrame(stack, frame);
  }

  /**
   * The stack with each frame changed, from the top to the bottom; undefined leaves a frame as it
   * is.
   */
  map(
    stack: Stack,
    change: (stack: Stack, isTop: boolean) => Frame | undefined,
  ): Stack {
    const changed: Frame[] = [];
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
   * The stack that corresponds to a stack of another collection.
   *
   * @param change translates those numbers in a frame whose meaning differs here
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
      if (frame[0] === ARRAY.kind || frame[0] === OBJECT.kind) {
        frame[CONTAINER.text] = this.texts.adopt(other.texts, frame[CONTAINER.text]!);
      }
      if (frame[0] === EITHER.kind) {
        frame[EITHER.set] = this.#adoptSet(other, frame[EITHER.set]!, change, known);
      }
      change(frame);
      result = this.push(frame, result);
    }
    return result;
  }

  /** Stacks that several sets share are visited once: those that are `known` are skipped. */
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
