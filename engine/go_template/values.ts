// The values of a Go template: Go's, as far as JavaScript lacks them. Booleans, slices (arrays), maps
// (in the order in which they are visited), nil (null) and ints (numbers) are JavaScript's own;
// strings are, too, unless they have data in them. The keys of maps are data: only they have maps.
// Fixed by Go's packages text/template, fmt and encoding/json.

import { countObjects, taint, TaintedText, type Text } from "../../tokenizer/mod.ts";

/** Anything that an expression can give. */
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

/** A float64, which is what every number of JSON is to Go; a plain number is an int. */
export class Float64 {
  /** Wraps a number, whole ones too. */
  constructor(readonly value: number) {}
}

/** One field of a struct. */
export interface Field {
  /** What templates call it. */
  name: string;
  /** What JSON calls it. */
  key: Text;
  value: GoValue;
  /** JSON leaves it out where it is empty. */
  omitsEmpty?: boolean;
}

/** A struct: unlike in a map, asking it for a field that it lacks is an error. */
export class Struct {
  readonly #fields: readonly Field[];
  readonly #values: ReadonlyMap<string, GoValue>;

  /** A struct with the given fields; of two of a name the first counts. */
  constructor(fields: readonly Field[]) {
    countObjects(2 * fields.length);
    this.#fields = fields;
    this.#values = new Map(fields.toReversed().map(({ name, value }) => [name, value]));
  }

  /** The fields in order. */
  get fields(): readonly Field[] {
    return this.#fields;
  }

  /** The value of a field; undefined where there is none. */
  get(name: string): GoValue | undefined {
    return this.#values.get(name);
  }
}

/** A value that prints in a way of its own, as types with a String method do. */
export class Stringer {
  /** @param value what it is otherwise @param text how it prints @param json what JSON sees */
  constructor(readonly value: GoValue, readonly text: Text, readonly json: GoValue = value) {}
}

/** Whether a value is a string. */
export function isText(value: GoValue | undefined): value is Text {
  return typeof value === "string" || value instanceof TaintedText;
}

/** The value without its own way to print. */
export function bare(value: GoValue): Exclude<GoValue, Stringer> {
  return value instanceof Stringer ? bare(value.value) : value;
}

/** Whether `if` takes the value for true. */
export function isTrue(value: GoValue): boolean {
  const plain = bare(value);
  if (plain instanceof Float64) return plain.value !== 0;
  if (plain instanceof Map) return plain.size > 0;
  return Array.isArray(plain) ? plain.length > 0 : Boolean(plain);
}

/** The value that plain data is to Go, its strings marked; maps are in the order of their keys. */
export function toGoValue(data: unknown): GoValue {
  countObjects(1);
  if (Array.isArray(data)) return data.map(toGoValue);
  switch (typeof data) {
    case "number":
      return new Float64(data);
    case "string":
      return taint(data);
    case "boolean":
      return data;
    case "object": {
      if (data === null) return null;
      const entries = Object.entries(data).filter(([, value]) => value !== undefined);
      entries.sort(([a], [b]) => a < b ? -1 : 1);
      return new Map(entries.map(([key, value]) => [key, toGoValue(value)]));
    }
    default:
      return null;
  }
}
