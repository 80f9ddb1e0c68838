// Arrays of unique items with required positions for which only few values are possible: each earlier
// item must leave a value for them. Rules of `contains` are ignored here, and numbers of values
// above a limit count as enough.

import type { TypeId } from "../../types.ts";
import type { WordSet } from "../collections.ts";
import type { ArrayProgress } from "../rules/array_rules.ts";
import { canDiffer } from "../../matching.ts";
import type { Rules } from "../rules/rules.ts";
import { DOCUMENT_END, NUMBER, VALUE } from "./layouts.ts";
import { settle } from "./settling.ts";
import type { StackUnions } from "./stack_unions.ts";
import { type Stack, type Stacks, UNRESOLVED_STACK } from "./stacks.ts";
import { type ByteSteps, IN_TEXTS } from "./unique_items.ts";

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
