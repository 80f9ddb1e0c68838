// Arrays of unique items. While an item is a prefix of earlier items, the array's frame knows which
// ones, and the item may neither end as one of them nor get where it would have to. Items are
// compared by their bytes without white space, which compares values if each value has one
// spelling. Containers within such an item know the text of their current item or key.

import { NO_WORDS, UNKNOWN_TEXT } from "../collections.ts";
import type { Rules } from "../rules/rules.ts";
import { ARRAY, CONTAINER, DECLARED_KEY, OBJECT, OTHER_KEY, Phase, STRING } from "./layouts.ts";
import type { Stack, Stacks } from "./stacks.ts";

/** Longest path along earlier items that is searched for a way to differ. */
const MAX_DEPTH = 1000;

/** Bytes that may come within a string, or end it. */
export const IN_TEXTS: readonly number[] = [...Array(0xf5 - 0x20).keys()].map((index) =>
  0x20 + index
);

/** Steps of work for stepping over a byte. */
const STEP_STEPS = 4;

/** Stepping over bytes. */
export interface ByteSteps {
  /** Adds to `out` the stacks after a byte. */
  step(stack: Stack, byte: number, out: Stack[]): void;
  /** The bytes that a stack may accept, perhaps with others; undefined if they are many. */
  candidates(stack: Stack): Iterable<number> | undefined;
}

/** Keeps items of an array distinct. */
export class UniqueItems {
  readonly #rules: Rules;
  readonly #stacks: Stacks;
  readonly #steps: ByteSteps;
  readonly #possible = new Map<Stack, boolean>();

  /** @param steps steps stacks without regard to other items */
  constructor(rules: Rules, stacks: Stacks, steps: ByteSteps) {
    this.#rules = rules;
    this.#stacks = stacks;
    this.#steps = steps;
  }

  /**
   * The array on top after its item was ended by the byte that follows; undefined if the item may
   * not end.
   */
  finished(stack: Stack): Stack | undefined {
    const among = this.#stacks.field(stack, ARRAY.avoided);
    if (among === NO_WORDS) return stack;
    if (this.#stacks.words.hasEmpty(among)) return undefined;
    return this.#stacks.withField(stack, ARRAY.avoided, NO_WORDS);
  }

  /**
   * Keeps those of the stacks in `out` from `begin` on whose items can stay distinct after a byte.
   */
  keepDistinct(from: Stack, byte: number, out: Stack[], begin: number): void {
    if (begin === out.length) return;
    let kept = begin;
    for (let index = begin; index < out.length; index++) {
      const stack = this.follow(from, byte, out[index]!);
      if (stack !== undefined && this.isPossible(stack)) out[kept++] = stack;
    }
    out.length = kept;
  }

  /** Whether the items that are being read can still become distinct. */
  isPossible(stack: Stack): boolean {
    return stack < 0 || !this.#stacks.compares(stack) || this.#search(stack, 0);
  }

  #search(stack: Stack, depth: number): boolean {
    const known = this.#possible.get(stack);
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH) return false;
    const along: Stack[] = [];
    const out: Stack[] = [];
    const { work } = this.#rules;
    const isInText = this.#isInText(stack);
    for (const byte of this.#steps.candidates(stack) ?? IN_TEXTS) {
      // White space between the parts of an item does not make it differ from others.
      if (!isInText && this.#rules.isSpace(byte)) continue;
      work.charge(STEP_STEPS);
      out.length = 0;
      this.#steps.step(stack, byte, out);
      for (const raw of out) {
        const next = this.follow(stack, byte, raw);
        if (next === undefined) continue;
        if (next < 0 || !this.#stacks.compares(next)) {
          this.#possible.set(stack, true);
          return true;
        }
        along.push(next);
      }
    }
    const possible = along.some((next) => next !== stack && this.#search(next, depth + 1));
    this.#possible.set(stack, possible);
    return possible;
  }

  /**
   * A stack after a byte, in which each array has advanced by that byte in its earlier items, and each
   * container in the text of its current item or key; undefined if an item has ended that has come
   * before.
   */
  follow(from: Stack, byte: number, stack: Stack): Stack | undefined {
    if (stack < 0 || !this.#stacks.compares(stack)) return stack;
    if (this.#rules.isSpace(byte) && !this.#isInText(from)) return stack;
    let repeats = false;
    let isKnown = false;
    const followed = this.#stacks.map(stack, (at, isTop) => {
      const kind = this.#stacks.kind(at);
      if (kind !== ARRAY.kind && kind !== OBJECT.kind) return undefined;
      const frame = this.#stacks.frame(at);
      isKnown ||= frame[CONTAINER.text] !== UNKNOWN_TEXT;
      const isInside = kind === ARRAY.kind || frame[OBJECT.phase] === Phase.KEY;
      if (isInside) {
        frame[CONTAINER.text] = this.#stacks.texts.after(frame[CONTAINER.text]!, byte);
      }
      if (kind === OBJECT.kind || frame[ARRAY.avoided] === NO_WORDS) return frame;
      const among = this.#stacks.words.after(frame[ARRAY.avoided]!, byte);
      const isDone = isTop && frame[ARRAY.phase] === Phase.NEXT;
      repeats ||= isDone && this.#stacks.words.hasEmpty(among);
      frame[ARRAY.avoided] = isDone ? NO_WORDS : among;
      return frame;
    });
    if (repeats) return undefined;
    return isKnown ? this.#withoutTexts(followed) : followed;
  }

  /** The stack without texts around which nothing is compared any more. */
  #withoutTexts(stack: Stack): Stack {
    return this.#stacks.map(stack, (at) => {
      const kind = this.#stacks.kind(at);
      const isOver = (kind === ARRAY.kind || kind === OBJECT.kind) &&
        this.#stacks.field(at, CONTAINER.text) !== UNKNOWN_TEXT &&
        !this.#stacks.compares(this.#stacks.parent(at));
      if (!isOver) return undefined;
      const frame = this.#stacks.frame(at);
      frame[CONTAINER.text] = UNKNOWN_TEXT;
      return frame;
    });
  }

  #isInText(stack: Stack): boolean {
    const kind = this.#stacks.kind(stack);
    return kind === STRING.kind || kind === DECLARED_KEY.kind ||
      kind === OTHER_KEY.kind;
  }
}
