// Text that records which parts of it are data: what people and tools wrote, as opposed to the
// template's words (taint tracking). Control tokens are only recognized in the template's words, so
// that no data can end a turn or begin one. A plain string is a template's words throughout.

import { countObjects, countRead, countSteps, countText } from "./render_budget.ts";

/** Text, with or without data in it. */
export type Text = string | TaintedText;

/** A text with data in it. */
export class TaintedText {
  #spans: readonly number[] | undefined;
  #parts: readonly Text[];

  /**
   * Makes a text from its spans, or from the parts of which it was joined.
   *
   * @param text all of it
   * @param spans where data is, in UTF-16 units: start, end, start, end ...; ascending, none empty,
   *   no two of them adjacent
   * @param parts instead of spans, which are then computed on demand, because templates append to a
   *   text again and again
   */
  constructor(readonly text: string, spans: readonly number[] | undefined, parts: Text[] = []) {
    this.#spans = spans;
    this.#parts = parts;
  }

  /** The spans of data: start, end, start, end ... */
  get spans(): readonly number[] {
    if (!this.#spans) {
      this.#spans = this.#putTogether();
      this.#parts = [];
    }
    return this.#spans;
  }

  /** Length in UTF-16 units. */
  get length(): number {
    return this.text.length;
  }

  /** Whether any of [start, end) is data. */
  overlaps(start: number, end: number): boolean {
    const first = firstSpanAfter(this.spans, start);
    return first < this.spans.length && this.spans[first]! < end;
  }

  /** The text without its spans. */
  toString(): string {
    return this.text;
  }

  #putTogether(): number[] {
    const spans: number[] = [];
    // A stack with the next part on top. Recursion would be too deep for a text that was appended
    // to often.
    const left = this.#parts.toReversed();
    for (let offset = 0; left.length > 0;) {
      const part = left.pop()!;
      countSteps(0.25);
      if (typeof part !== "string" && !part.#spans) {
        for (let i = part.#parts.length - 1; i >= 0; i--) left.push(part.#parts[i]!);
        continue;
      }
      if (typeof part !== "string") append(spans, part.#spans!, offset);
      offset += part.length;
    }
    return spans;
  }
}

function append(spans: number[], more: readonly number[], offset: number): void {
  countRead(16 * more.length);
  let first = 0;
  if (spans.length > 0 && spans.at(-1) === offset + more[0]!) {
    // Adjacent spans become one.
    spans[spans.length - 1] = offset + more[1]!;
    first = 2;
  }
  for (let i = first; i < more.length; i++) spans.push(offset + more[i]!);
}

/** Marks all of a text as data. */
export function taint(text: string): Text {
  return text === "" ? "" : new TaintedText(text, [0, text.length]);
}

/** The text without its spans. */
export function plain(text: Text): string {
  return typeof text === "string" ? text : text.text;
}

/**
 * A text computed from others, whose parts cannot be traced. It is all data if any of the others
 * has data.
 */
export function taintLike(made: string, ...sources: readonly Text[]): Text {
  return sources.some((source) => typeof source !== "string") ? taint(made) : made;
}

/**
 * A text made from another unit by unit. It keeps the spans if it has the same length; otherwise it
 * is all data.
 */
export function withSpansOf(made: string, source: Text): Text {
  if (typeof source === "string" || made === "") return made;
  return made.length === source.length ? new TaintedText(made, source.spans) : taint(made);
}

/** The part [start, end), in UTF-16 units within the text. */
export function sliceText(text: Text, start: number, end = text.length): Text {
  // If the engine has the text as a sum of two, it has to join them first.
  countRead(text.length / 4);
  return cutText(text, start, end);
}

/** sliceText() for a text that was counted as read before, so that only spans are counted. */
export function cutText(text: Text, from: number, to = text.length): Text {
  countObjects(1);
  if (from >= to) return "";
  if (typeof text === "string") return text.slice(from, to);
  const spans: number[] = [];
  for (let i = firstSpanAfter(text.spans, from); i < text.spans.length; i += 2) {
    if (text.spans[i]! >= to) break;
    spans.push(Math.max(from, text.spans[i]!) - from, Math.min(to, text.spans[i + 1]!) - from);
  }
  countRead(16 * spans.length);
  const part = text.text.slice(from, to);
  return spans.length === 0 ? part : new TaintedText(part, spans);
}

/** Two texts, one after the other. */
export function addText(left: Text, right: Text): Text {
  // The longer text is not copied, because engines keep such a sum as two parts.
  countText(Math.min(left.length, right.length));
  if (typeof left === "string" && typeof right === "string") return left + right;
  return new TaintedText(plain(left) + plain(right), undefined, [left, right]);
}

/** Texts one after the other, with a separator between them. */
export function joinTexts(texts: readonly Text[], separator: Text = ""): Text {
  const between = separator.length * Math.max(0, texts.length - 1);
  countText(texts.reduce<number>((sum, text) => sum + text.length, between));
  const made = texts.map(plain).join(plain(separator));
  if (typeof separator === "string" && texts.every((text) => typeof text === "string")) return made;
  const parts = separator.length === 0
    ? texts
    : texts.flatMap((text, i) => i === 0 ? [text] : [separator, text]);
  const joined = new TaintedText(made, undefined, [...parts]);
  return joined.spans.length === 0 ? made : joined;
}

/**
 * The text with the matches of a pattern replaced. @param pattern a global one to replace all
 * matches
 */
export function replaceMatches(
  text: Text,
  pattern: RegExp,
  replace: (match: RegExpExecArray) => Text,
): Text {
  countRead(text.length);
  const parts: Text[] = [];
  let end = 0;
  for (const match of plain(text).matchAll(pattern)) {
    parts.push(cutText(text, end, match.index), replace(match));
    end = match.index + match[0].length;
  }
  return parts.length === 0 ? text : joinTexts([...parts, cutText(text, end)]);
}

/** Index of the first span that ends behind a position. */
function firstSpanAfter(spans: readonly number[], position: number): number {
  let [low, high] = [0, spans.length / 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[2 * middle + 1]! > position) high = middle;
    else low = middle + 1;
  }
  return 2 * low;
}
