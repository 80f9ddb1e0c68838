// A grammar between its reading and its program: what is regular is one language, so that only
// recursion, control tokens and JSON documents are left to the stacks of the machine.

import type { LanguageId, Languages } from "../language/mod.ts";
import type { TypeId } from "../types.ts";

/** Text of a language. */
export interface TextPart {
  readonly type: "text";
  readonly language: LanguageId;
  /** About how many nodes its expression has; Infinity: it may not be part of a larger one. */
  readonly size: number;
}

/** What a place of a grammar allows. */
export type Part =
  | TextPart
  | { readonly type: "control"; readonly token: number }
  | { readonly type: "document"; readonly root: TypeId }
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "sequence"; readonly parts: readonly Part[] }
  | { readonly type: "choice"; readonly options: readonly Part[] }
  | { readonly type: "repeat"; readonly part: Part; readonly min: number; readonly max: number };

/** Largest language that others are joined into: derivatives take time in proportion. */
const MAX_SIZE = 4000;

/** Most rounds of what is joined: an automaton has states for each. */
const MAX_ROUNDS = 256;

/** Makes parts, of as few and as large languages as is good. */
export class Parts {
  readonly #languages: Languages;

  constructor(languages: Languages) {
    this.#languages = languages;
  }

  /** Text of a language; alone where assertions look beyond it. */
  text(language: LanguageId, size: number): TextPart {
    return { type: "text", language, size: this.#languages.isClosed(language) ? size : Infinity };
  }

  /** Exactly this text. */
  literal(text: string): TextPart {
    return this.text(this.#languages.literal(text), text.length);
  }

  /** Whether a part is the empty text, and nothing else. */
  isEmptyText(part: Part): boolean {
    return part.type === "text" && part.language === this.#languages.literal("");
  }

  /** One after the other. */
  sequence(parts: readonly Part[]): Part {
    const flat = parts.flatMap((part) => part.type === "sequence" ? part.parts : [part]);
    const joined: Part[] = [];
    for (const part of flat) {
      if (this.isEmptyText(part)) continue;
      const last = joined.at(-1);
      if (last?.type === "text" && part.type === "text" && last.size + part.size <= MAX_SIZE) {
        const language = this.#languages.sequence(last.language, part.language);
        joined[joined.length - 1] = this.text(language, last.size + part.size);
      } else joined.push(part);
    }
    if (joined.length === 0) return this.literal("");
    return joined.length === 1 ? joined[0]! : { type: "sequence", parts: joined };
  }

  /** Any one of them. */
  choice(options: readonly Part[]): Part {
    const flat = options.flatMap((part) => part.type === "choice" ? part.options : [part]);
    const others: Part[] = [];
    let group: TextPart[] = [];
    const texts: TextPart[] = [];
    const close = () => {
      if (group.length === 0) return;
      const language = this.#languages.union(...group.map((part) => part.language));
      texts.push(this.text(language, sizeOf(group)));
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

  /** Over and over. */
  repeat(part: Part, min: number, max: number): Part {
    if (max === 0) return this.literal("");
    if (min === 1 && max === 1) return part;
    if (part.type !== "text" || part.size > MAX_SIZE) return { type: "repeat", part, min, max };
    const isLong = Math.max(min, max < Infinity ? max : 0) > MAX_ROUNDS;
    // Single characters can be counted beside an automaton, rounds of more beside a place.
    const { max: longest } = this.#languages.lengths(part.language);
    if (isLong && longest > 1) return { type: "repeat", part, min, max };
    const language = this.#languages.repeat(part.language, min, max);
    return isLong ? { type: "text", language, size: Infinity } : this.text(language, part.size + 1);
  }
}

function sizeOf(parts: readonly TextPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}
