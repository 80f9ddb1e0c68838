// A form of grammars between reading and program. Everything regular is joined into one language,
// so that stacks of the machine are only needed for recursion, control tokens and JSON documents.

import type { LanguageId, Languages } from "../language/mod.ts";
import type { TypeId } from "../types.ts";

/** A text of a language. */
export interface TextPart {
  readonly type: "text";
  readonly language: LanguageId;
  /**
   * Approximate number of nodes of its expression; Infinity if it may not be part of a larger one.
   */
  readonly size: number;
  /** Most consecutive parts that may be empty: anywhere, and at the end. */
  readonly skips: number;
  readonly endSkips: number;
}

/** A part of a grammar. */
export type Part =
  | TextPart
  | { readonly type: "control"; readonly token: number }
  | { readonly type: "document"; readonly root: TypeId }
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "sequence"; readonly parts: readonly Part[] }
  | { readonly type: "choice"; readonly options: readonly Part[] }
  | { readonly type: "repeat"; readonly part: Part; readonly min: number; readonly max: number };

/** Largest language that others are joined to, because the time for derivatives grows with it. */
const MAX_SIZE = 4000;

/**
 * Most consecutive parts that may be empty, because from each part the text may skip to every later
 * one.
 */
const MAX_SKIPS = 24;

/** Most rounds of a repetition that is joined, because an automaton needs states for each round. */
const MAX_ROUNDS = 256;

/** Makes parts, joined into as few languages as is reasonable. */
export class Parts {
  readonly #languages: Languages;

  constructor(languages: Languages) {
    this.#languages = languages;
  }

  /** A text of a language. It is not joined if assertions refer to text beyond it. */
  text(language: LanguageId, size: number, inner = 0, innerEnd = inner): TextPart {
    const isAlone = !this.#languages.isClosed(language);
    const isSkipped = this.#languages.contains(language, "");
    const skips = Math.max(inner, Number(isSkipped));
    const endSkips = isSkipped ? skips : innerEnd;
    return { type: "text", language, size: isAlone ? Infinity : size, skips, endSkips };
  }

  /** Exactly this text. */
  literal(text: string): TextPart {
    return this.text(this.#languages.literal(text), text.length);
  }

  /** Whether a part is exactly the empty text. */
  isEmptyText(part: Part): boolean {
    return part.type === "text" && part.language === this.#languages.literal("");
  }

  /** A sequence. */
  sequence(parts: readonly Part[]): Part {
    const flat = parts.flatMap((part) => part.type === "sequence" ? part.parts : [part]);
    const joined: Part[] = [];
    for (const part of flat) {
      if (this.isEmptyText(part)) continue;
      const last = joined.at(-1);
      const both = last && this.#both(last, part);
      if (both) joined[joined.length - 1] = both;
      else joined.push(part);
    }
    if (joined.length === 0) return this.literal("");
    return joined.length === 1 ? joined[0]! : { type: "sequence", parts: joined };
  }

  /** Two consecutive texts as one; undefined if they should not be joined. */
  #both(first: Part, second: Part): TextPart | undefined {
    if (first.type !== "text" || second.type !== "text") return undefined;
    const size = first.size + second.size;
    const skips = Math.max(first.skips, first.endSkips + second.skips);
    if (size > MAX_SIZE || skips > MAX_SKIPS) return undefined;
    const isSkipped = this.#languages.contains(second.language, "");
    const endSkips = isSkipped ? first.endSkips + second.endSkips : second.endSkips;
    const language = this.#languages.sequence(first.language, second.language);
    return this.text(language, size, skips, endSkips);
  }

  /** A choice. */
  choice(options: readonly Part[]): Part {
    const flat = options.flatMap((part) => part.type === "choice" ? part.options : [part]);
    const others: Part[] = [];
    let group: TextPart[] = [];
    const texts: TextPart[] = [];
    const close = () => {
      if (group.length === 0) return;
      const language = this.#languages.union(...group.map((part) => part.language));
      texts.push(this.text(language, sizeOf(group), Math.max(...group.map((one) => one.skips))));
      group = [];
    };
    for (const part of flat) {
      if (part.type !== "text" || part.size > MAX_SIZE) {
        others.push(part);
        continue;
      }
      if (sizeOf(group) + part.size > MAX_SIZE) close();
      group.push(part);
    }
    close();
    const all = [...texts, ...others];
    return all.length === 1 ? all[0]! : { type: "choice", options: all };
  }

  /** A repetition. */
  repeat(part: Part, min: number, max: number): Part {
    if (max === 0) return this.literal("");
    if (min === 1 && max === 1) return part;
    if (part.type !== "text" || part.size > MAX_SIZE) return { type: "repeat", part, min, max };
    const skips = part.skips + part.endSkips;
    if (max > 1 && skips > MAX_SKIPS) return { type: "repeat", part, min, max };
    const isLong = Math.max(min, max < Infinity ? max : 0) > MAX_ROUNDS;
    // Characters can be counted beside an automaton, and rounds of longer texts beside a position.
    if (isLong && this.#languages.lengths(part.language).max > 1) {
      return { type: "repeat", part, min, max };
    }
    const language = this.#languages.repeat(part.language, min, max);
    if (isLong) return { type: "text", language, size: Infinity, skips, endSkips: skips };
    return this.text(language, part.size + 1, max > 1 ? skips : part.skips);
  }
}

function sizeOf(parts: readonly TextPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}
