// Keys of an object, and unique items of an array, must not come twice. Each one that ends is added
// to the set of words that must not come again. Stepping over bytes only marks it as pending,
// because frames do not hold texts. Settling finds its text in the document and adds it to the set.

import { UNKNOWN_TEXT } from "../collections.ts";
import { ARRAY, CONTAINER, EITHER, NUMBER, OBJECT, STRING } from "./layouts.ts";
import type { StackUnions } from "./stack_unions.ts";
import type { Stack, Stacks } from "./stacks.ts";

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

/** Stacks in which no key or item is pending any more. */
export function settle(settled: readonly Stack[], options: SettlingOptions): Stack[] {
  const { stacks } = options;
  const outside = new Settling(options, false);
  const inText = new Settling(options, true);
  return settled.map((stack) => {
    const isInText = stacks.kind(stack) === STRING.kind || stacks.isKey(stack);
    return (isInText ? inText : outside).settle(stack, 0, true);
  });
}

/** The settling of stacks at one position of one document. */
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
   * A stack without a pending key or item.
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

// The last key or item of an open object or array, found by reading the document backwards, so that
// text before the JSON does not matter. The JSON so far is known to be valid and is not checked.

const QUOTE = 0x22;

// The JSON texts of all values that equal a value: objects are equal in any order of their members.
// Other spellings of numbers are not listed, nor are orders if they are too many.

const BACKSLASH = 0x5c;

const COMMA = 0x2c;

const COLON = 0x3a;

/** The text that is wanted. */
interface TextQuestion {
  /** The open object or array: 0 is the innermost. */
  readonly level: number;
  readonly isObject: boolean;
  /** Whether the document ends within a string. */
  readonly isInText: boolean;
}

/** The content of the last complete key, or the last item without white space between its parts. */
function lastText(document: Uint8Array, question: TextQuestion): Uint8Array {
  let { level } = question;
  /** Closing brackets whose opening brackets have not been reached yet. */
  let closed = 0;
  let text: Uint8Array | undefined;
  let isBeforeColon = false;
  let index = document.length - 1;
  if (question.isInText) index = openingQuote(document, index) - 1;
  for (; index >= 0; index--) {
    const byte = document[index]!;
    const isThere = level === 0 && closed === 0;
    if (byte === QUOTE) {
      const start = openingQuote(document, index - 1);
      if (isThere) text = document.subarray(start + 1, index);
      if (isBeforeColon) break;
      index = start;
    } else if (byte === 0x7d || byte === 0x5d) {
      closed++;
    } else if (byte === 0x7b || byte === 0x5b) {
      if (isThere) break;
      if (closed > 0) closed--;
      else level--;
    } else if (isThere && byte === COMMA) {
      // Nothing follows this comma yet, so the last key is before it.
      if (!question.isObject || text) break;
    } else if (isThere && byte === COLON) isBeforeColon = true;
  }
  return question.isObject
    ? text ?? new Uint8Array(0)
    : withoutSpaces(document.subarray(index + 1));
}

/** The beginning of the string around `index`. Quotes in its content come after a backslash. */
function openingQuote(document: Uint8Array, index: number): number {
  for (;; index--) {
    while (index >= 0 && document[index] !== QUOTE) index--;
    let escapes = 0;
    while (document[index - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return index;
  }
}

function withoutSpaces(text: Uint8Array): Uint8Array {
  const kept: number[] = [];
  let isInText = false;
  for (let index = 0; index < text.length; index++) {
    const byte = text[index]!;
    const isSpace = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    if (isSpace && !isInText) continue;
    kept.push(byte);
    if (byte === BACKSLASH && isInText) kept.push(text[++index]!);
    else if (byte === QUOTE) isInText = !isInText;
  }
  return Uint8Array.from(kept);
}

const OPEN = "[{";

const CLOSE = "]}";

/** Most texts that are listed for one value. */
const MAX_SPELLINGS = 24;

/**
 * A JSON text without white space, with each object in every order of its members; only the text
 * itself if there are too many.
 */
function spellingsOf(text: Uint8Array): readonly Uint8Array[] {
  if (!text.includes(0x7b)) return [text];
  let bytes = "";
  for (const byte of text) bytes += String.fromCharCode(byte);
  const spelled = spell(bytes);
  return spelled?.map((one) => Uint8Array.from(one, (byte) => byte.charCodeAt(0))) ?? [text];
}

function spell(text: string): readonly string[] | undefined {
  const opening = text[0]!;
  if (!OPEN.includes(opening) || text.length === 2) return [text];
  let bodies: readonly string[][] = [[]];
  for (const part of split(text.slice(1, -1), ",")) {
    const at = opening === "{" ? split(part, ":")[0]!.length + 1 : 0;
    const values = spell(part.slice(at));
    if (!values || bodies.length * values.length > MAX_SPELLINGS) return undefined;
    const key = part.slice(0, at);
    bodies = bodies.flatMap((body) => values.map((value) => [...body, key + value]));
  }
  if (opening === "{") {
    if (bodies.length * factorial(bodies[0]!.length) > MAX_SPELLINGS) return undefined;
    bodies = bodies.flatMap(orders);
  }
  return bodies.map((body) => opening + body.join(",") + text.at(-1)!);
}

/**
 * The parts of a text between separators that are outside of strings, arrays and objects within it.
 */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let begin = 0;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isInText && unit === BACKSLASH) at++;
    else if (unit === QUOTE) isInText = !isInText;
    else if (isInText) continue;
    else if (OPEN.includes(text[at]!)) depth++;
    else if (CLOSE.includes(text[at]!)) depth--;
    else if (depth === 0 && text[at] === separator) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  return [...parts, text.slice(begin)];
}

function orders(list: readonly string[]): string[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((first, at) => orders(list.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

function factorial(count: number): number {
  return count < 2 ? 1 : Math.min(count * factorial(count - 1), MAX_SPELLINGS + 1);
}
