// The values of a Go template: Go's, as far as JavaScript lacks them. Booleans, slices (arrays),
// maps (in the order in which they are visited), nil (null) and ints (numbers) are JavaScript's
// own, and so are strings without data in them. The keys of maps are always data. Defined by Go's
// packages text/template, fmt and encoding/json.

import {
  countObjects,
  isSameNumber,
  numberText,
  taint,
  TaintedText,
  type Text,
} from "../../tokenizer/mod.ts";

/** The value of an expression. */
export type GoValue =
  | null
  | boolean
  | number
  | Text
  | Float64
  | GoValue[]
  | Map<string, GoValue>
  | Struct
  | Stringer;

/** A float64, which is Go's type of every number in JSON. A JavaScript number is an int. */
export class Float64 {
  /**
   * @param value the number, which may be whole
   * @param text how JSON wrote it, if the double is another number: it prints so, because a prompt
   *   must not lose digits
   */
  constructor(readonly value: number, readonly text?: string) {}
}

/** A field of a struct. */
export interface Field {
  /** Its name in templates. */
  name: string;
  /** Its name in JSON. */
  key: Text;
  value: GoValue;
  /** Whether JSON omits it if it is empty. */
  omitsEmpty?: boolean;
}

/** A struct. Unlike in a map, reading a field that it lacks is an error. */
export class Struct {
  readonly #fields: readonly Field[];
  readonly #values: ReadonlyMap<string, GoValue>;

  /** A struct with these fields. Of two with the same name the first counts. */
  constructor(fields: readonly Field[]) {
    countObjects(2 * fields.length);
    this.#fields = fields;
    this.#values = new Map(fields.toReversed().map(({ name, value }) => [name, value]));
  }

  /** The fields in order. */
  get fields(): readonly Field[] {
    return this.#fields;
  }

  /** The value of a field; undefined if there is none. */
  get(name: string): GoValue | undefined {
    return this.#values.get(name);
  }
}

/** A value with a format of its own, like types with a String method. */
export class Stringer {
  /** @param value the value otherwise @param text how it prints @param json its value in JSON */
  constructor(readonly value: GoValue, readonly text: Text, readonly json: GoValue = value) {}
}

/** Whether a value is a string. */
export function isText(value: GoValue | undefined): value is Text {
  return typeof value === "string" || value instanceof TaintedText;
}

/** The value without its own format. */
export function bare(value: GoValue): Exclude<GoValue, Stringer> {
  return value instanceof Stringer ? bare(value.value) : value;
}

/** Whether `if` considers the value true. */
export function isTrue(value: GoValue): boolean {
  const plain = bare(value);
  if (plain instanceof Float64) return plain.value !== 0;
  if (plain instanceof Map) return plain.size > 0;
  return Array.isArray(plain) ? plain.length > 0 : Boolean(plain);
}

/**
 * The value of plain data in Go. Its strings are marked as data; maps are in the order of their
 * keys.
 */
export function toGoValue(data: unknown): GoValue {
  countObjects(1);
  if (Array.isArray(data)) return data.map(toGoValue);
  switch (typeof data) {
    case "number":
    case "bigint":
      return toFloat64(data);
    case "string":
      return taint(data);
    case "boolean":
      return data;
    case "object": {
      if (data === null) return null;
      if (numberText(data) !== undefined) return toFloat64(data);
      const entries = Object.entries(data).filter(([, value]) => value !== undefined);
      entries.sort(([a], [b]) => a < b ? -1 : 1);
      return new Map(entries.map(([key, value]) => [key, toGoValue(value)]));
    }
    default:
      return null;
  }
}

function toFloat64(number: unknown): Float64 {
  const text = numberText(number);
  const value = Number(number);
  const isExact = text === undefined || isSameNumber(text, value);
  return isExact ? new Float64(value) : new Float64(value, text);
}
