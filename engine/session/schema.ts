// Schemas of arguments and of answers: a JSON Schema, or a validator that keeps to Standard Schema
// (standardschema.dev), as those of zod, valibot and arktype. The mask enforces the JSON Schema; the
// validator checks what a JSON Schema cannot say, and changes values as it likes. And what TypeScript
// knows of the values.

import { RequestError } from "../errors.ts";

/** What a validator says of a value. */
export type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] };

/** What is wrong with a value. */
export interface ValidationIssue {
  /** A sentence for people and models. */
  readonly message: string;
  /** Keys that lead to the part of the value, from the outside. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A validator that keeps to Standard Schema, and to Standard JSON Schema where it can. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** Its properties by the standard. */
  readonly "~standard": {
    readonly version: 1;
    /** Name of its library. */
    readonly vendor: string;
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
    /** Gives the JSON Schema of the values that it takes. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A JSON Schema as a value. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A JSON Schema or a validator. */
export type Schema = JsonSchema | StandardSchema;

/** The type of the values that a schema allows; `unknown` where TypeScript cannot tell. */
export type ValueOf<S> = S extends StandardSchema<infer _, infer Output> ? Output : JsonValueOf<S>;

/** The type of a tool's arguments. */
export type ArgumentsOf<S> = unknown extends ValueOf<S> ? Record<string, unknown> : ValueOf<S>;

/**
 * The type of the values of a JSON Schema: by `const`, `enum`, `anyOf`, `oneOf`, `type`, `properties`,
 * `required` and `items`; `unknown` where others decide.
 */
export type JsonValueOf<S, Type = TypeNameOf<S>> = S extends { readonly const: infer Value } ? Value
  : S extends { readonly enum: readonly (infer Value)[] } ? Value
  : S extends { readonly anyOf: readonly (infer One)[] } ? JsonValueOf<One>
  : S extends { readonly oneOf: readonly (infer One)[] } ? JsonValueOf<One>
  : Type extends "string" ? string
  : Type extends "number" | "integer" ? number
  : Type extends "boolean" ? boolean
  : Type extends "null" ? null
  : Type extends "array"
    ? S extends { readonly items: infer Item } ? JsonValueOf<Item>[] : unknown[]
  : Type extends "object" ? JsonObjectOf<S>
  : unknown;

/** The names in `type`; `unknown` if there are none. */
export type TypeNameOf<S> = S extends { readonly type: readonly (infer Type)[] } ? Type
  : S extends { readonly type: infer Type } ? Type
  : S extends { readonly properties: object } ? "object"
  : unknown;

/** The type of the objects of a JSON Schema. */
export type JsonObjectOf<S> = S extends { readonly properties: infer P } ? (
    & { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: JsonValueOf<P[K]> }
    & { -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: JsonValueOf<P[K]> }
  ) extends infer Both ? { [K in keyof Both]: Both[K] }
  : never
  : Record<string, unknown>;

/** The names in `required`. */
export type RequiredOf<S> = S extends { readonly required: readonly (infer Key)[] } ? Key : never;

/** The version of JSON Schema that validators are asked for. */
const TARGET = "draft-2020-12";

/** Whether a schema is a validator. Those of arktype are functions. */
export function isValidator(schema: Schema): schema is StandardSchema {
  return "~standard" in schema;
}

/**
 * The JSON Schema of a schema, which the mask enforces.
 *
 * @param subject what it is of, for the message
 * @throws {RequestError} for a validator that gives none
 */
export function jsonSchemaOf(schema: Schema, subject: string): Record<string, unknown> {
  if (!isValidator(schema)) return schema;
  const { vendor, jsonSchema } = schema["~standard"];
  if (!jsonSchema) {
    throw new RequestError(
      `Cannot enforce the schema of ${subject}: the validator of ${vendor} gives no JSON Schema ` +
        `(Standard JSON Schema); give its JSON Schema as jsonSchema beside it`,
    );
  }
  try {
    return jsonSchema.input({ target: TARGET });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RequestError(`Cannot enforce the schema of ${subject}: ${reason}`, { cause: error });
  }
}

/** A value as its validator gives it, or what is wrong with it. The mask has held JSON Schemas already. */
export async function validate(schema: Schema, value: unknown): Promise<Validation<unknown>> {
  return isValidator(schema) ? await schema["~standard"].validate(value) : { value };
}

/** Issues as a text, one a line. */
export function describeIssues(issues: readonly ValidationIssue[]): string {
  return issues.map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return keys.length > 0 ? `${keys.join(".")}: ${message}` : message;
  }).join("\n");
}
