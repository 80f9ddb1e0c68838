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
