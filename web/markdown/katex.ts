// KaTeX, as far as it is used: TeX to MathML.

import katex from "katex";

/** MathML within a span. */
export function toMathMl(tex: string, displayMode: boolean): string {
  return katex.renderToString(tex, {
    displayMode,
    output: "mathml",
    throwOnError: true,
    strict: "ignore",
    trust: false,
    maxExpand: 200,
    maxSize: 20,
  });
}
