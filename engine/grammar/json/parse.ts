// Reads JSON texts (RFC 8259) strictly into values that keep the order of keys and exact numbers.
// Containers that are open are on a stack of its own, so that deep nesting cannot overflow the
// caller's stack.

import { numberText } from "../../../tokenizer/mod.ts";
import { pollCancellation } from "../../cancellation.ts";
import { Decimal, JsonError } from "./decimal.ts";

const BLANK = /[ \t\n\r]*/y;
const NUMBER = /-?[0-9][0-9.eE+-]*/y;
const WORD = /null|true|false/y;
// deno-lint-ignore no-control-regex -- JSON strings are exactly those without control characters.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** An array or object that is not closed yet. */
type Open = { items: JsonValue[] } | { members: Map<string, JsonValue>; key: string };

/**
 * Reads a JSON text. Of equal keys the last one counts, at the position of the first.
 *
 * @throws JsonError, with the offset, if the text is no JSON, is nested more than 512 deep, has more
 * than 160,000 values, or a number out of range
 */
export function parseJson(text: string): JsonValue {
  return new Reader(text).read();
}

class Reader {
  readonly #text: string;
  #offset = 0;
  #values = 0;
  readonly #open: Open[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonValue {
    for (;;) {
      let value = this.#begin();
      // A complete value may complete what contains it.
      while (value !== undefined) {
        const parent = this.#open.at(-1);
        if (parent === undefined) return this.#end(value);
        value = this.#add(parent, value);
      }
    }
  }

  /** Reads a scalar or an empty container; enters any other container and returns undefined. */
  #begin(): JsonValue | undefined {
    pollCancellation();
    if (++this.#values > MAX_VALUES) throw this.#error(`more than ${MAX_VALUES} values`);
    this.#match(BLANK);
    switch (this.#text[this.#offset]) {
      case "{":
        return this.#enter({ members: new Map(), key: "" }, "}");
      case "[":
        return this.#enter({ items: [] }, "]");
      case '"':
        return this.#string();
    }
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#number(number);
    const word = this.#match(WORD);
    if (word === undefined) throw this.#error("expected a value");
    return word === "null" ? null : word === "true";
  }

  #enter(open: Open, close: string): JsonValue | undefined {
    if (this.#open.length === MAX_DEPTH) {
      throw this.#error(`nested more than ${MAX_DEPTH} deep`);
    }
    this.#offset++;
    if (this.#take(close)) return "items" in open ? open.items : open.members;
    if ("members" in open) open.key = this.#key();
    this.#open.push(open);
    return undefined;
  }

  /** Adds a member or an item; returns the container if that was the last one. */
  #add(open: Open, value: JsonValue): JsonValue | undefined {
    if ("items" in open) open.items.push(value);
    else open.members.set(open.key, value);
    if (this.#take(",")) {
      if ("members" in open) open.key = this.#key();
      return undefined;
    }
    const close = "items" in open ? "]" : "}";
    if (!this.#take(close)) throw this.#error(`expected "," or "${close}"`);
    this.#open.pop();
    return "items" in open ? open.items : open.members;
  }

  #end(value: JsonValue): JsonValue {
    this.#match(BLANK);
    if (this.#offset < this.#text.length) throw this.#error("expected the end of the text");
    return value;
  }

  #key(): string {
    this.#match(BLANK);
    const key = this.#string();
    if (!this.#take(":")) throw this.#error('expected ":"');
    return key;
  }

  #string(): string {
    const literal = this.#match(STRING);
    if (literal === undefined) throw this.#error("expected a string");
    return JSON.parse(literal);
  }

  #number(literal: string): Decimal {
    try {
      return Decimal.parse(literal);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this.#offset -= literal.length;
      throw this.#error(error.message, { cause: error });
    }
  }

  /** Skips blanks and then `character`, if it is next. */
  #take(character: string): boolean {
    this.#match(BLANK);
    if (this.#text[this.#offset] !== character) return false;
    this.#offset++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    const match = pattern.exec(this.#text)?.[0];
    this.#offset += match?.length ?? 0;
    return match;
  }

  #error(problem: string, options?: ErrorOptions): JsonError {
    return new JsonError(`Read JSON at ${this.#offset}: ${problem}`, this.#offset, options);
  }
}

// JSON values that keep what JSON.parse loses: the order of keys, keys such as __proto__, and the
// exact values of numbers. Made from a text by parseJson, or from plain values here.

/** A JSON value. Objects keep the order of their keys. */
export type JsonValue = null | boolean | string | Decimal | JsonArray | JsonObject;

export type JsonArray = readonly JsonValue[];

export type JsonObject = ReadonlyMap<string, JsonValue>;

/** Deepest nesting. Deeper values are refused, so that functions can recurse over values. */
export const MAX_DEPTH = 512;
/**
 * Most values, ten times as many as the largest schemas in use have. More would take over a second;
 * and a plain value can contain another one several times, so that its size grows exponentially.
 */
const MAX_VALUES = 160_000;

/**
 * The JSON value of a plain value, as JSON.stringify sees it: members that are undefined are left
 * out, undefined items are null. Numbers that keep their text (JsonNumber) and bigints are exact.
 *
 * @throws JsonError for functions, symbols, numbers that are not finite, values that are nested more
 * than 512 deep, such as cyclic ones, and more than 160,000 values
 */
export function fromPlain(value: unknown): JsonValue {
  return convert(value, 0, { left: MAX_VALUES });
}

function convert(value: unknown, depth: number, values: { left: number }): JsonValue {
  if (depth > MAX_DEPTH) {
    throw new JsonError(`Read a plain value: it is nested more than ${MAX_DEPTH} deep`);
  }
  pollCancellation();
  if (values.left-- === 0) {
    throw new JsonError(`Read a plain value: there are more than ${MAX_VALUES} values in it`);
  }
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (value instanceof Decimal) return value;
  const number = numberText(value);
  if (number !== undefined) return Decimal.parse(number);
  if (Array.isArray(value)) {
    return Array.from(value, (item) => convert(item ?? null, depth + 1, values));
  }
  if (typeof value === "object") {
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    return new Map(
      entries.filter(([, member]) => member !== undefined)
        .map(([key, member]) => [String(key), convert(member, depth + 1, values)]),
    );
  }
  throw new JsonError(`Read a plain value: ${String(value)} is no JSON`);
}
