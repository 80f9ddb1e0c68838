// The TypeScript types that follow from the JSON Schemas of bodies, and what schemas of requests are
// made of. A body, of a request or of an answer, is declared once: as the schema that it is checked
// against and that /openapi.json shows. Schemas of requests fix types only; what values mean is checked
// where they are used. null means "not given" almost everywhere. An object takes no members but those
// that its schema names, at any depth, so that nothing that a client asks for is dropped in silence.
// What schemas of answers are made of: api/openapi/answer_parts.ts.

/** The types that JSON Schema names, apart from arrays and objects. */
interface Scalars {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

/**
 * The type of the values that fit a schema, which is declared `as const`. Reads the keywords
 * `type`, `const`, `enum`, `anyOf`, `items`, `maxItems: 0`, `properties`, `required`,
 * `additionalProperties`, and references to `$defs`; what has none of them may be anything.
 *
 * @template Definitions what references lead to
 */
export type BodyOf<Schema, Definitions = Schema extends { $defs: infer Defs } ? Defs : unknown> =
  Schema extends { $ref: `#/$defs/${infer Name}` }
    ? Name extends keyof Definitions ? BodyOf<Definitions[Name], Definitions> : never
    : Schema extends { const: infer Value } ? Value
    : Schema extends { enum: readonly (infer Value)[] } ? Value
    : Schema extends { anyOf: readonly (infer Each)[] } ? EachOf<Each, Definitions>
    : Schema extends { type: readonly (infer Type)[] } ? ValueOf<Type, Schema, Definitions>
    : Schema extends { type: infer Type } ? ValueOf<Type, Schema, Definitions>
    : unknown;

/** The values of each of several schemas. */
type EachOf<Schema, Definitions> = Schema extends unknown ? BodyOf<Schema, Definitions> : never;

/** The values of one type, of each of several types in turn. */
type ValueOf<Type, Schema, Definitions> = Type extends keyof Scalars ? Scalars[Type]
  : Type extends "array" ? Schema extends { maxItems: 0 } ? never[]
    : Schema extends { items: infer Items } ? BodyOf<Items, Definitions>[]
    : unknown[]
  : Type extends "object"
    ? Schema extends { properties: infer Members }
      ? MembersOf<Members, RequiredOf<Schema> & keyof Members, Definitions>
    : Schema extends { additionalProperties: infer Each }
      ? Record<string, BodyOf<Each, Definitions>>
    : Record<string, unknown>
  : never;

type RequiredOf<Schema> = Schema extends { required: readonly (infer Name)[] } ? Name : never;

/** An object with these members, of which those that are not required may be left out or undefined. */
type MembersOf<Members, Required extends keyof Members, Definitions> =
  & { -readonly [Name in Required]: BodyOf<Members[Name], Definitions> }
  & {
    -readonly [Name in Exclude<keyof Members, Required>]?:
      | BodyOf<Members[Name], Definitions>
      | undefined;
  };

/** A member that may be left out or null, which both mean "not given". */
export type Given<T> = T | null | undefined;

/** Members that are refused where a body is read, and therefore in no schema. */
export type Refused<Name extends string> = { [Each in Name]?: unknown };

export const text = { type: ["string", "null"] } as const;
export const flag = { type: ["boolean", "null"] } as const;
export const number = { type: ["number", "null"] } as const;
export const integer = { type: ["integer", "null"] } as const;
export const texts = { type: ["array", "null"], items: { type: "string" } } as const;

/**
 * Any value, in which a number is JavaScript's. Where a schema names no type, numbers are data and keep
 * their text (JsonNumber).
 */
export const value = {
  type: ["null", "boolean", "number", "string", "array", "object"],
} as const;

/** An object of such values by name. */
export const values = { type: ["object", "null"], additionalProperties: value } as const;
/** An array of such items. */
export function list<const Items extends object>(items: Items) {
  return { type: ["array", "null"], items } as const;
}

/** A value that asks for nothing, whatever its member would mean. */
export const nothing = {
  anyOf: [
    { enum: [null, false, ""] },
    { type: "array", maxItems: 0 },
    { type: "object", properties: {}, additionalProperties: false },
  ],
} as const;

/** The schema of an object with exactly these members. */
export interface ClosedSchema<Type, Members extends object, Required> {
  readonly type: Type;
  readonly required: readonly Required[];
  readonly properties: Members;
  /** Other members pass if they ask for nothing. */
  readonly additionalProperties: typeof nothing;
}

/** An object with these members, of which the required ones have to be there. */
export function closed<
  const Members extends Record<string, object>,
  const Required extends keyof Members = never,
>(properties: Members, ...required: Required[]): ClosedSchema<"object", Members, Required> {
  return { type: "object", required, properties, additionalProperties: nothing };
}

export function optional<Members extends object, Required>(
  schema: ClosedSchema<"object", Members, Required>,
): ClosedSchema<readonly ["object", "null"], Members, Required> {
  return { ...schema, type: ["object", "null"] };
}

/** The schema of a member that nothing is read from. */
export interface UnreadSchema {
  readonly description: string;
  readonly anyOf?: readonly object[];
}

/**
 * A member that may have any value, because it changes nothing here.
 *
 * @param why the reason, as the second half of a sentence
 */
export function harmless(why: string): UnreadSchema {
  return { description: `Accepted and without effect: ${why}.` };
}

/**
 * A member that would change something, and that can only have the values with which it does not:
 * these, and those that ask for nothing.
 *
 * @param values strings, numbers and true; false asks for nothing unless true is one of them
 * @param why the reason, as the second half of a sentence
 */
export function only(values: readonly (string | number | true)[], why: string): UnreadSchema {
  const told = values.map((value) => JSON.stringify(value)).join(" or ") || "empty";
  const [{ enum: words }, ...empty] = nothing.anyOf;
  const others = values.includes(true) ? words.filter((word) => word !== false) : words;
  return {
    ...value,
    anyOf: [{ enum: [...others, ...values] }, ...empty],
    description: `Must be ${told}: ${why}.`,
  };
}

/** How long the model stays: a duration such as "5m", or seconds. */
export const keepAlive = { type: ["string", "number", "null"] } as const;
