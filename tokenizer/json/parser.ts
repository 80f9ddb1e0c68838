// An incremental parser of JSON (RFC 8259): a generator that pauses every few kilobytes, so that other
// requests are served while a large body is parsed, and that stops as soon as a bound is exceeded. It
// gives the values that JSON.parse gives, which tests check, but numbers that a double would change
// keep their text (JsonNumber).

import { type Latin1Reader, latin1Reader } from "../../host/mod.ts";
import { jsonNumber, LONGEST_NUMBER } from "./number.ts";

/** Bounds on what costs more memory or time than the bytes of the text. */
export interface JsonBounds {
  /** Levels of arrays and objects. */
  depth: number;
  /** Values of all kinds. */
  values: number;
  /** Arrays, objects and members of objects, which take most memory and time for their length. */
  members: number;
  /** Members of one object. To list their names takes one turn of the event loop. */
  siblings: number;
}

/** The bounds of a request's body. */
export const JSON_BOUNDS: JsonBounds = {
  // Deeper than any request has reason to be, and shallow enough for code that walks a body
  // recursively.
  depth: 512,
  // The longest are contexts and lists of inputs; to check and copy as many values takes 0.1 s.
  values: 1_000_000,
  // As many as 60,000 messages have, and more than any schema that could be compiled.
  members: 200_000,
  // Listing this number of names takes 15 ms in any case.
  siblings: 65_536,
};

/** A text that is no JSON. */
export class JsonSyntaxError extends SyntaxError {
  /** Name of the class. */
  override name: string = this.constructor.name;
}

/** A text of white space alone. */
export class EmptyJsonError extends JsonSyntaxError {}

/** A text that exceeds a bound. */
export class JsonBoundsError extends Error {
  /** Name of the class. */
  override name = "JsonBoundsError";
  /** @param bound which one */
  constructor(readonly bound: keyof JsonBounds, message: string) {
    super(message);
  }
}

/** Bytes between two pauses, and the most of a string that is decoded at a time. */
const PIECE_BYTES = 16 * 2 ** 10;

/** Digits of an integer that every double distinguishes. */
const EXACT_DIGITS = 15;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const LITERALS: Record<number, [string, unknown]> = {
  0x74: ["true", true],
  0x66: ["false", false],
  0x6e: ["null", null],
};

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [MINUS, ZERO] = [0x2d, 0x30];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** An array or object that is not complete, and the key whose value comes next. */
interface Open {
  container: unknown[] | Record<string, unknown>;
  key: string | undefined;
  /** Members so far. */
  members: number;
}

/**
 * Parses a text in UTF-8. Yields the number of values so far at each pause, and of all at the end;
 * returns the value.
 *
 * @throws {JsonSyntaxError}
 * @throws {JsonBoundsError}
 */
export function* parseJsonBytes(
  bytes: Uint8Array,
  bounds: JsonBounds,
): Generator<number, unknown, void> {
  const reader = new Reader(bytes, bounds);
  const open: Open[] = [];
  yield* reader.skipSpace();
  if (reader.at === bytes.length) throw new EmptyJsonError("there is nothing");
  for (;;) {
    yield* reader.pause();
    let value: unknown;
    const start = reader.next();
    if (start === ARRAY || start === OBJECT) {
      if (open.length === bounds.depth) {
        throw new JsonBoundsError("depth", `nested over ${bounds.depth} levels`);
      }
      reader.countMember();
      reader.at++;
      value = start === ARRAY ? [] : {};
      yield* reader.skipSpace();
      if (reader.next() !== (start === ARRAY ? ARRAY_END : OBJECT_END)) {
        const key = start === OBJECT ? yield* readKey(reader) : undefined;
        open.push({ container: value as Open["container"], key, members: 1 });
        yield* reader.skipSpace();
        continue;
      }
      reader.at++;
    } else {
      value = start === QUOTE ? yield* reader.readString() : reader.readScalar();
    }
    reader.countValue();
    // A complete value goes into its container, which may be complete then as well.
    for (;;) {
      yield* reader.skipSpace();
      const last = open.at(-1);
      if (!last) {
        if (reader.at < bytes.length) throw reader.unexpected();
        yield reader.values;
        return value;
      }
      const { container, key } = last;
      if (Array.isArray(container)) container.push(value);
      else if (key === "__proto__") setOwn(container, key, value);
      else container[key!] = value;
      const next = reader.next();
      if (next === COMMA) {
        reader.at++;
        yield* reader.skipSpace();
        if (key !== undefined) {
          if (++last.members > bounds.siblings) {
            throw new JsonBoundsError("siblings", `over ${bounds.siblings} members of one object`);
          }
          last.key = yield* readKey(reader);
          yield* reader.skipSpace();
        }
        break;
      }
      if (next !== (key === undefined ? ARRAY_END : OBJECT_END)) throw reader.unexpected();
      reader.at++;
      reader.countValue();
      value = container;
      open.pop();
    }
  }
}

/** The key of a member and the colon after it. */
function* readKey(reader: Reader): Generator<number, string, void> {
  if (reader.next() !== QUOTE) throw reader.unexpected();
  reader.countMember();
  const key = yield* reader.readString();
  yield* reader.skipSpace();
  if (reader.next() !== COLON) throw reader.unexpected();
  reader.at++;
  return key;
}

function setOwn(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** Reads strings, numbers and literals, and counts what the bounds are about. */
class Reader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #ascii: Latin1Reader;
  readonly #bounds: JsonBounds;
  #values = 0;
  #members = 0;
  #pausedAt = 0;

  constructor(bytes: Uint8Array, bounds: JsonBounds) {
    this.#bytes = bytes;
    this.#ascii = latin1Reader(bytes);
    this.#bounds = bounds;
    // A byte order mark may be ignored (RFC 8259, section 8.1).
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.at = 3;
  }

  /** The next byte; undefined at the end. */
  next(): number | undefined {
    return this.#bytes[this.at];
  }

  /** The number of values so far. */
  get values(): number {
    return this.#values;
  }

  countValue(): void {
    const { values } = this.#bounds;
    if (++this.#values > values) throw new JsonBoundsError("values", `over ${values} values`);
  }

  countMember(): void {
    const { members } = this.#bounds;
    if (++this.#members <= members) return;
    throw new JsonBoundsError("members", `over ${members} arrays, objects and members`);
  }

  *pause(): Generator<number, void, void> {
    if (this.at - this.#pausedAt < PIECE_BYTES) return;
    this.#pausedAt = this.at;
    yield this.#values;
  }

  *skipSpace(): Generator<number, void, void> {
    const bytes = this.#bytes;
    for (;;) {
      const end = Math.min(bytes.length, this.at + PIECE_BYTES);
      while (this.at < end && isSpace(bytes[this.at]!)) this.at++;
      if (this.at < end || end === bytes.length) return;
      yield* this.pause();
    }
  }

  /** A number, true, false or null. */
  readScalar(): unknown {
    const bytes = this.#bytes;
    const literal = LITERALS[bytes[this.at]!];
    if (literal) {
      const [text, value] = literal;
      for (let index = 0; index < text.length; index++) {
        if (bytes[this.at] !== text.charCodeAt(index)) throw this.unexpected();
        this.at++;
      }
      return value;
    }
    const integer = this.#readShortInteger();
    if (integer !== undefined) return integer;
    const start = this.at;
    let end = start;
    while (isOfNumber(bytes[end]) && end - start <= LONGEST_NUMBER) end++;
    if (end === start) throw this.unexpected();
    const text = this.#ascii(start, end);
    if (end - start > LONGEST_NUMBER || !NUMBER.test(text)) {
      throw new JsonSyntaxError(`"${text.slice(0, 20)}" at byte ${start} is no number`);
    }
    this.at = end;
    return jsonNumber(text);
  }

  /** An integer that every double distinguishes, as most numbers are; undefined if another comes. */
  #readShortInteger(): number | undefined {
    const bytes = this.#bytes;
    const isNegative = bytes[this.at] === MINUS;
    const start = isNegative ? this.at + 1 : this.at;
    let end = start;
    let value = 0;
    while (end - start < EXACT_DIGITS && isDigit(bytes[end])) {
      value = 10 * value + bytes[end++]! - ZERO;
    }
    if (end === start || isOfNumber(bytes[end])) return undefined;
    if (bytes[start] === ZERO && (isNegative || end - start > 1)) return undefined;
    this.at = end;
    return isNegative ? -value : value;
  }

  /** A string, from its first quote to its last. */
  *readString(): Generator<number, string, void> {
    this.at++;
    let text = this.#readPiece();
    while (this.#bytes[this.at] !== QUOTE) {
      yield* this.pause();
      text += this.#readPiece();
    }
    this.at++;
    return text;
  }

  /** The text up to the quote at its end, or as much of it as is decoded at a time. */
  #readPiece(): string {
    const bytes = this.#bytes;
    const start = this.at;
    const limit = Math.min(bytes.length, start + PIECE_BYTES);
    let end = start;
    let [hasEscape, bits] = [false, 0];
    for (; end < limit; end++) {
      const byte = bytes[end]!;
      if (byte === QUOTE) break;
      if (byte < 0x20) throw this.unexpected(end);
      bits |= byte;
      if (byte !== BACKSLASH) continue;
      const length = bytes[end + 1] === 0x75 ? 6 : 2;
      if (end + length > limit && limit < bytes.length) break;
      hasEscape = true;
      end += length - 1;
    }
    end = Math.min(end, bytes.length);
    if (end === bytes.length) throw new JsonSyntaxError(`the string at byte ${start} has no end`);
    // Do not cut within a character: up to three such bytes follow its first one.
    const cut = end;
    while (cut === limit && cut - end < 3 && (bytes[end]! & 0xc0) === 0x80) end--;
    this.at = end;
    const text = bits < 0x80 ? this.#ascii(start, end) : this.#decode(start, end);
    if (!hasEscape) return text;
    try {
      return JSON.parse(`"${text}"`);
    } catch {
      throw new JsonSyntaxError(`the string at byte ${start} has a malformed escape`);
    }
  }

  #decode(start: number, end: number): string {
    try {
      return decoder.decode(this.#bytes.subarray(start, end));
    } catch {
      throw new JsonSyntaxError(`the string at byte ${start} is not UTF-8`);
    }
  }

  /** The fault of the byte that stands there. */
  unexpected(at = this.at): JsonSyntaxError {
    const byte = this.#bytes[at];
    if (byte === undefined) return new JsonSyntaxError("unexpected end");
    const isShown = byte >= 0x20 && byte < 0x7f;
    const shown = isShown ? `"${String.fromCharCode(byte)}"` : `0x${byte.toString(16)}`;
    return new JsonSyntaxError(`unexpected ${shown} at byte ${at}`);
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 9;
}

/** Digits, signs, point and exponent. */
function isOfNumber(byte: number | undefined): boolean {
  return isDigit(byte) || byte === MINUS || byte === 0x2b || byte === 0x2e || byte === 0x65 ||
    byte === 0x45;
}
