// Markdown to tokens, with maths between $ signs, \( \) and \[ \]. Whatever is HTML stays text.

import { Marked, type Token, type TokenizerExtension } from "marked";

/** Maths in TeX. */
export interface MathToken {
  type: "math";
  raw: string;
  tex: string;
  isBlock: boolean;
}

const block: TokenizerExtension = {
  name: "math",
  level: "block",
  start: (text) => text.search(/\$\$|\\\[/),
  tokenizer(text) {
    const match = /^\$\$([^]+?)\$\$(?:\n|$)/.exec(text) ?? /^\\\[([^]+?)\\\](?:\n|$)/.exec(text);
    return match ? mathToken(match, true) : undefined;
  },
};

const inline: TokenizerExtension = {
  name: "math",
  level: "inline",
  start: (text) => text.search(/\$|\\\(|\\\[/),
  tokenizer(text) {
    // As Pandoc has it: no space inside the signs, and no digit after, so that prices stay prices.
    const match = /^\$\$([^$]+?)\$\$/.exec(text) ??
      /^\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)/.exec(text) ??
      /^\\\(([^]+?)\\\)/.exec(text) ?? /^\\\[([^]+?)\\\]/.exec(text);
    return match ? mathToken(match, false) : undefined;
  },
};

function mathToken([raw, tex]: RegExpExecArray, isBlock: boolean): MathToken {
  return { type: "math", raw, tex: tex!.trim(), isBlock };
}

const marked = new Marked({ gfm: true, breaks: false, extensions: [block, inline] });

/** The blocks of a text; each has the source that it was read from. */
export function lex(text: string): Token[] {
  return marked.lexer(text);
}

/** Blocks at the end of a text that may still change while it grows. */
const UNSETTLED = 3;

/**
 * The blocks of a text that grows: those before the last few are not read again. What only a later part
 * of the text tells of an earlier one, as definitions of links do, is seen once the text is read whole.
 */
export class GrowingText {
  #settled = "";
  #tokens: Token[] = [];

  /** The blocks of the text as it is now. */
  lex(text: string): Token[] {
    if (!text.startsWith(this.#settled)) [this.#settled, this.#tokens] = ["", []];
    const latest = lex(text.slice(this.#settled.length));
    const all = [...this.#tokens, ...latest];
    if (latest.length > UNSETTLED) {
      const more = latest.slice(0, -UNSETTLED);
      this.#settled += more.map(({ raw }) => raw).join("");
      this.#tokens = [...this.#tokens, ...more];
    }
    return all;
  }

  /** The blocks of the text now that it has ended: read again only if it may define links. */
  end(text: string): Token[] {
    return text.includes("]:") ? lex(text) : this.lex(text);
  }
}
