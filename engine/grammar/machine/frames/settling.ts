// Keys of an object, and unique items of an array, must not come twice. Each one that ends is added
// to the set of words that must not come again. Stepping over bytes only marks it as pending,
// because frames do not hold texts. Settling finds its text in the document and adds it to the set.

import { UNKNOWN_TEXT } from "../collections/begun_texts.ts";
import { lastText } from "./last_text.ts";
import { ARRAY, CONTAINER, EITHER, NUMBER, OBJECT, STRING } from "./layouts.ts";
import { spellingsOf } from "./spellings.ts";
import type { Stack, Stacks } from "./stacks.ts";
import type { StackUnions } from "./stack_unions.ts";

/** The parts that settling uses. */
export interface SettlingOptions {
  readonly stacks: Stacks;
  readonly unions: StackUnions;
  /** The document so far. */
  readonly document: Uint8Array;
  /** Whether a number on top is known to have ended. */
  readonly isEnded: boolean;
}

/**
 * The container on top without a pending key or item; undefined if its text is not known, so that the
 * document is needed.
 */
export function settledTop(stack: Stack, stacks: Stacks): Stack | undefined {
  const frame = stacks.frame(stack);
  if (frame[CONTAINER.pending] !== 1) return stack;
  if (frame[CONTAINER.text] === UNKNOWN_TEXT) return undefined;
  const text = stacks.texts.bytesOf(frame[CONTAINER.text]!);
  const isObject = stacks.kind(stack) === OBJECT.kind;
  addWords(frame, stacks, isObject ? [text.subarray(1)] : spellingsOf(text));
  return stacks.withFrame(stack, frame);
}

/** Adds the text of a pending key, or the spellings of a pending item, to those of a container. */
function addWords(frame: number[], { words }: Stacks, texts: readonly Uint8Array[]): void {
  for (const text of texts) frame[CONTAINER.used] = words.add(frame[CONTAINER.used]!, text);
  frame[CONTAINER.pending] = 0;
  frame[CONTAINER.text] = UNKNOWN_TEXT;
}

/** The same stacks without a pending key or item. */
export function settle(settled: readonly Stack[], options: SettlingOptions): Stack[] {
  const { stacks } = options;
  const outside = new Settling(options, false);
  const inText = new Settling(options, true);
  return settled.map((stack) => {
    const isInText = stacks.kind(stack) === STRING.kind || stacks.isKey(stack);
    return (isInText ? inText : outside).settle(stack, 0, true);
  });
}

/** The settling of stacks at one place of one document. */
class Settling {
  readonly #options: SettlingOptions;
  /** Whether the document ends within a string. */
  readonly #isInText: boolean;
  /** The results by stack, because several stacks may share the one below them. */
  readonly #known = new Map<number, Stack>();
  /** The texts of the last key or item, by level. */
  readonly #words = new Map<number, readonly Uint8Array[]>();

  constructor(options: SettlingOptions, isInText: boolean) {
    this.#options = options;
    this.#isInText = isInText;
  }

  /**
   * The same stack without a pending key or item.
   * @param level number of objects and arrays above it
   * @param canEnd whether nothing is above it, except for a number that may have ended
   */
  settle(stack: Stack, level: number, canEnd: boolean): Stack {
    const { stacks, unions, isEnded } = this.#options;
    const key = 2 * stack + Number(canEnd);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const frames: number[][] = [];
    let below = stack;
    for (
      ;
      stacks.isPending(below) && stacks.kind(below) !== EITHER.kind;
      below = stacks.parent(below)
    ) {
      const frame = stacks.frame(below);
      const kind = stacks.kind(below);
      const isItemOver = canEnd;
      canEnd &&= isEnded && kind === NUMBER.kind;
      frames.push(frame);
      if (kind !== OBJECT.kind && kind !== ARRAY.kind) continue;
      const isDue = frame[CONTAINER.pending] === 1 && (kind === OBJECT.kind || isItemOver);
      if (isDue) addWords(frame, stacks, this.#wordsAt(level, kind === OBJECT.kind));
      level++;
    }
    let settled = below;
    if (stacks.isPending(below)) {
      const members = stacks.members(below);
      settled = unions.either(
        members.map((one) => this.settle(one, level, canEnd)),
      );
    }
    for (const frame of frames.reverse()) settled = stacks.push(frame, settled);
    this.#known.set(key, settled);
    return settled;
  }

  /** The last key of an open object, or the spellings of the last item of an array. */
  #wordsAt(level: number, isObject: boolean): readonly Uint8Array[] {
    let words = this.#words.get(level);
    if (!words) {
      const { document } = this.#options;
      const text = lastText(document, { level, isObject, isInText: this.#isInText });
      words = isObject ? [text] : spellingsOf(text);
      this.#words.set(level, words);
    }
    return words;
  }
}
