// Where the last key or item of each open object and array stands in a document that is being
// written. Immutable, so that a look ahead costs nothing to undo. The document is valid JSON so
// far: nothing is checked here.

/** An open object or array. */
interface Level {
  readonly parent: Level | undefined;
  readonly isObject: boolean;
  /** First byte of the last key's content, or of the last item. */
  readonly start: number;
  /** Byte after it; Infinity: it is not over. */
  readonly end: number;
}

type Mode = "between" | "key" | "text" | "escaped key" | "escaped text";

/** A place in a document. */
export interface TextCursor {
  readonly level: Level | undefined;
  readonly mode: Mode;
  /** Whether the next quote begins a key. */
  readonly expectsKey: boolean;
}

/** The place before a document. */
export const DOCUMENT_START: TextCursor = { level: undefined, mode: "between", expectsKey: false };

const BACKSLASH = 0x5c;
const QUOTE = 0x22;

/** The place after a byte, which stands at `position`. */
export function advanceCursor(cursor: TextCursor, byte: number, position: number): TextCursor {
  const { mode, level } = cursor;
  if (mode !== "between") return inText(cursor, byte, position);
  switch (byte) {
    case QUOTE:
      if (!cursor.expectsKey) return { ...cursor, mode: "text" };
      return {
        level: level && { ...level, start: position + 1, end: Infinity },
        mode: "key",
        expectsKey: false,
      };
    case 0x7b: // {
    case 0x5b: { // [
      const isObject = byte === 0x7b;
      const opened = { parent: level, isObject, start: position + 1, end: Infinity };
      return { level: opened, mode, expectsKey: isObject };
    }
    case 0x7d: // }
    case 0x5d: // ]
      return { level: level?.parent, mode, expectsKey: false };
    case 0x2c: { // ,
      if (!level) return cursor;
      if (level.isObject) return { ...cursor, expectsKey: true };
      return { level: { ...level, start: position + 1 }, mode, expectsKey: false };
    }
    default:
      return cursor;
  }
}

function inText(cursor: TextCursor, byte: number, position: number): TextCursor {
  const { mode, level } = cursor;
  if (mode === "escaped key") return { ...cursor, mode: "key" };
  if (mode === "escaped text") return { ...cursor, mode: "text" };
  if (byte === BACKSLASH) {
    return { ...cursor, mode: mode === "key" ? "escaped key" : "escaped text" };
  }
  if (byte !== QUOTE) return cursor;
  if (mode === "text") return { ...cursor, mode: "between" };
  return { level: level && { ...level, end: position }, mode: "between", expectsKey: false };
}

/**
 * The text of the last key or item at a level, 0 for the innermost, in a document of `length`
 * bytes; an item without white space between its parts.
 */
export function textAt(
  cursor: TextCursor,
  depth: number,
  document: Uint8Array,
  length: number,
): Uint8Array {
  let level = cursor.level;
  for (let index = 0; index < depth; index++) level = level?.parent;
  if (!level) return new Uint8Array(0);
  const text = document.subarray(level.start, Math.min(level.end, length));
  return level.isObject ? text : withoutSpaces(text);
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
