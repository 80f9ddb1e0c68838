// The last key or item of an open object or array, found by reading the document backwards, so that
// text before the JSON does not matter. The JSON so far is known to be valid and is not checked.

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

const COMMA = 0x2c;

const COLON = 0x3a;

/** The text that is wanted. */
export interface TextQuestion {
  /** The open object or array: 0 is the innermost. */
  readonly level: number;
  readonly isObject: boolean;
  /** Whether the document ends within a string. */
  readonly isInText: boolean;
}

/** The content of the last complete key, or the last item without white space between its parts. */
export function lastText(document: Uint8Array, question: TextQuestion): Uint8Array {
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
