// How many columns of a terminal a text takes, and texts cut and padded to columns: a CJK character
// or an emoji takes two, a combining mark none.

import { stringWidth } from "../../dependencies.ts";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Columns that the text takes; control sequences take none. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The text with spaces behind, up to that many columns. */
export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** The text, or as much of its beginning as fits, with an ellipsis. No control sequences. */
export function truncate(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}…` : "";
}

/** All but tab and line feed. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** The text without its control characters, except for tabs and line feeds. */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, "");
}
