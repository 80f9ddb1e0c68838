// Arrays of unique items: while an item is a prefix of items that were there, the array's frame
// knows which, and the item may neither end as one of them nor run into having to. Items compare
// by their bytes without white space, which is by value where a value is spelled in one way.

import { NO_WORDS } from "../collections/word_sets.ts";
import type { Rules } from "../rules/rules.ts";
import { ARRAY, DECLARED_KEY, OTHER_KEY, Phase, STRING } from "./layouts.ts";
import type { Stack, Stacks } from "./stacks.ts";

/** Longest way along items that were there that is searched for a way out. */
const MAX_DEPTH = 1000;

/** Bytes that the content of a string may have, and its quotes. */
export const IN_TEXTS: readonly number[] = [...Array(0xf5 - 0x20).keys()].map((index) =>
  0x20 + index
);

/** Steps of work that a step over a byte takes. */
const STEP_STEPS = 4;

/** Steps that do not look at other items of an array. */
export interface RawSteps {
  /** Adds to `out` the stacks after a byte. */
  step(stack: Stack, byte: number, out: Stack[]): void;
  /** Bytes among which are all that a stack may take; undefined where they are not few. */
  candidates(stack: Stack): Iterable<number> | undefined;
}

/** Keeps items of an array distinct. */
export class UniqueItems {
  readonly #rules: Rules;
  readonly #stacks: Stacks;
  readonly #steps: RawSteps;
  readonly #possible = new Map<Stack, boolean>();

  /** Keeps items of arrays distinct among `steps`, which do not look at other items. */
  constructor(rules: Rules, stacks: Stacks, steps: RawSteps) {
    this.#rules = rules;
    this.#stacks = stacks;
    this.#steps = steps;
  }

  /** The array on top, once its item was ended by what follows it; undefined: it may not end. */
  finished(stack: Stack): Stack | undefined {
    const among = this.#stacks.field(stack, ARRAY.avoided);
    if (among === NO_WORDS) return stack;
    if (this.#stacks.words.hasEmpty(among)) return undefined;
    return this.#stacks.withField(stack, ARRAY.avoided, NO_WORDS);
  }

  /** Of the stacks in `out` from `begin` on, after a byte, keeps those that can stay distinct. */
  keepDistinct(from: Stack, byte: number, out: Stack[], begin: number): void {
    if (begin === out.length) return;
    let kept = begin;
    for (let index = begin; index < out.length; index++) {
      const stack = this.#follow(from, byte, out[index]!);
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
      // White space between the parts of an item tells it from no other.
      if (!isInText && this.#rules.isSpace(byte)) continue;
      work.charge(STEP_STEPS);
      out.length = 0;
      this.#steps.step(stack, byte, out);
      for (const raw of out) {
        const next = this.#follow(stack, byte, raw);
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

  /** A stack after a byte, its arrays one byte further in the items that were there. */
  #follow(from: Stack, byte: number, stack: Stack): Stack | undefined {
    if (stack < 0 || !this.#stacks.compares(stack)) return stack;
    if (this.#rules.isSpace(byte) && !this.#isInText(from)) return stack;
    let repeats = false;
    const followed = this.#stacks.map(stack, (at, isTop) => {
      if (this.#stacks.kind(at) !== ARRAY.kind) return undefined;
      const frame = this.#stacks.frame(at);
      if (frame[ARRAY.avoided] === NO_WORDS) return undefined;
      const among = this.#stacks.words.after(frame[ARRAY.avoided]!, byte);
      const isDone = isTop && frame[ARRAY.phase] === Phase.NEXT;
      repeats ||= isDone && this.#stacks.words.hasEmpty(among);
      frame[ARRAY.avoided] = isDone ? NO_WORDS : among;
      return frame;
    });
    return repeats ? undefined : followed;
  }

  #isInText(stack: Stack): boolean {
    const kind = this.#stacks.kind(stack);
    return kind === STRING.kind || kind === DECLARED_KEY.kind ||
      kind === OTHER_KEY.kind;
  }
}
