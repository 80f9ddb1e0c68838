// Arrays of unique items with required positions for which only few values are possible: each earlier
// item must leave a value for them. Rules of `contains` are ignored here, and numbers of values
// above a limit count as enough.

import { canDiffer } from "../../matching.ts";
import type { TypeId } from "../../types.ts";
import { NO_WORDS, UNKNOWN_TEXT, type WordSet } from "../collections.ts";
import type { ArrayProgress } from "../rules/array_rules.ts";
import type { Rules } from "../rules/rules.ts";
import {
  ARRAY,
  CONTAINER,
  DECLARED_KEY,
  DOCUMENT_END,
  NUMBER,
  OBJECT,
  OTHER_KEY,
  Phase,
  STRING,
  VALUE,
} from "./layouts.ts";
import { settle } from "./settling.ts";
import type { StackUnions } from "./stack_unions.ts";
import { type Stack, type Stacks, UNRESOLVED_STACK } from "./stacks.ts";

/** Most values of a type that are listed. */
const MAX_VALUES = 64;

/** Most bytes that are tried to list them. */
const MAX_TRIALS = 50_000;

/** Steps of work for a trial. */
const TRIAL_STEPS = 4;

/** A position, and the texts of the values that are possible there. */
interface ScarcePosition {
  readonly position: number;
  readonly values: readonly string[];
}

/** Looks ahead to the positions of unique arrays for which only few values are possible. */
export class ScarceItems {
  readonly #rules: Rules;
  readonly #stacks: Stacks;
  readonly #unions: StackUnions;
  readonly #steps: ByteSteps;
  /** By type, and by the number of values from which on there are enough. */
  readonly #values = new Map<string, readonly string[] | undefined>();
  readonly #positions = new Map<number, readonly ScarcePosition[]>();
  readonly #avoided = new Map<string, WordSet>();

  /** @param steps steps stacks with regard to other items */
  constructor(rules: Rules, stacks: Stacks, unions: StackUnions, steps: ByteSteps) {
    this.#rules = rules;
    this.#stacks = stacks;
    this.#unions = unions;
    this.#steps = steps;
  }

  /**
   * The texts from which the next item of an array must differ: the items that are `used`, and
   * those that a later position needs. `after` is the progress after the item.
   */
  avoided(array: number, after: ArrayProgress, used: WordSet): WordSet {
    const key = `${array},${after},${used}`;
    let avoided = this.#avoided.get(key);
    if (avoided === undefined) {
      avoided = this.#findAvoided(array, after, used);
      this.#avoided.set(key, avoided);
    }
    return avoided;
  }

  #findAvoided(array: number, after: ArrayProgress, used: WordSet): WordSet {
    const { words } = this.#stacks;
    const count = this.#rules.arrays[array]!.count(after);
    const positions = this.#positionsOf(array)
      .filter(({ position }) => position >= count)
      .map(({ values }) => values.filter((value) => !words.has(used, toBytes(value))));
    let avoided = used;
    for (const value of new Set(positions.flat())) {
      const without = positions.map((values) => values.filter((one) => one !== value));
      if (!canDiffer(without, this.#rules.work)) avoided = words.add(avoided, toBytes(value));
    }
    return avoided;
  }

  /** The required positions with fewer possible values than there must be items. */
  #positionsOf(array: number): readonly ScarcePosition[] {
    let positions = this.#positions.get(array);
    if (!positions) {
      const { prefix, rest, min } = this.#rules.arrays[array]!.type;
      const found: ScarcePosition[] = [];
      const limit = Math.min(min, prefix.length + MAX_VALUES + 1);
      for (let position = 0; position < limit; position++) {
        const type = prefix[position] ?? rest;
        const values = type === undefined ? undefined : this.#valuesOf(type, min);
        if (values) found.push({ position, values });
      }
      this.#positions.set(array, positions = found);
    }
    return positions;
  }

  /**
   * The texts of all values of a type, a character for each byte; undefined if there are `many` or
   * more.
   */
  #valuesOf(type: TypeId, many: number): readonly string[] | undefined {
    const most = Math.min(many - 1, MAX_VALUES);
    const key = `${type},${most}`;
    if (!this.#values.has(key)) {
      // Within itself a type counts as one of many values.
      this.#values.set(key, undefined);
      const isOpen = this.#rules.hasManyStrings(type, most);
      this.#values.set(key, isOpen ? undefined : this.#list(type, most));
    }
    return this.#values.get(key);
  }

  /** Few values of a type, found anew. Whether there are more values matters, not which. */
  #list(type: TypeId, most: number): readonly string[] | undefined {
    const stacks = this.#stacks;
    const values = new Set<string>();
    const start = stacks.push(VALUE.frame(type, 0), stacks.root(DOCUMENT_END.frame(0)));
    const open: { stack: Stack; text: string }[] = [{ stack: start, text: "" }];
    let trials = 0;
    for (let next = open.pop(); next; next = open.pop()) {
      const { stack, text } = next;
      if (this.#isWhole(stack)) values.add(text);
      if (stacks.kind(stack) === DOCUMENT_END.kind) continue;
      const inText = this.#steps.candidates(stack) === undefined;
      for (const byte of this.#steps.candidates(stack) ?? IN_TEXTS) {
        if (++trials > MAX_TRIALS || values.size > most) return undefined;
        this.#rules.work.charge(TRIAL_STEPS);
        if (!inText && this.#rules.isSpace(byte)) continue;
        const out: Stack[] = [];
        this.#steps.step(stack, byte, out);
        if (out.includes(UNRESOLVED_STACK)) {
          out.length = 0;
          this.#steps.step(this.#settled(stack, text), byte, out);
        }
        for (const after of out) {
          open.push({ stack: after, text: text + String.fromCharCode(byte) });
        }
      }
    }
    return values.size > most ? undefined : [...values];
  }

  /** The stack after a text without a pending key or item. */
  #settled(stack: Stack, text: string): Stack {
    const [stacks, unions] = [this.#stacks, this.#unions];
    const document = toBytes(text);
    return settle([stack], { stacks, unions, document, isEnded: true })[0]!;
  }

  /** Whether a value that was listed can end here. */
  #isWhole(stack: Stack): boolean {
    const stacks = this.#stacks;
    if (stacks.kind(stack) === DOCUMENT_END.kind) return true;
    return stacks.kind(stack) === NUMBER.kind &&
      stacks.kind(stacks.parent(stack)) === DOCUMENT_END.kind &&
      this.#rules.numbers[stacks.field(stack, NUMBER.rules)]!.accepts(
        stacks.field(stack, NUMBER.state),
      );
  }
}

function toBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

// Arrays of unique items. While an item is a prefix of earlier items, the array's frame knows which
// ones, and the item may neither end as one of them nor get where it would have to. Items are
// compared by their bytes without white space, which compares values if each value has one
// spelling. Containers within such an item know the text of their current item or key.

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
