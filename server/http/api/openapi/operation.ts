// How an operation of the API is described, for /openapi.json and for the tests that check every answer
// against it. The operations stand in operations.ts beside the routes that they describe.

import type { BodyOf } from "../../body/schema.ts";

/** A JSON Schema under the name that the document gives it. */
export interface NamedSchema {
  /** Unique in the document, such as "ChatRequest". */
  name: string;
  schema: object;
  /** A value that fits; of a request, one that a server can answer. */
  example: unknown;
}

/** The errors of a dialect. */
export interface ErrorSchema extends NamedSchema {
  /** How the dialect tells of an error. */
  tell: (status: number, message: string) => unknown;
}

/** A parameter of a query, a header or a path. */
export interface Parameter {
  name: string;
  in: "query" | "header" | "path";
  description: string;
  schema: object;
  example?: unknown;
}

/** Failures that only some operations can have. */
export type Failure =
  | "file"
  | "model"
  | "request"
  | "response"
  | "job"
  | "blob"
  | "busy"
  | "disk"
  | "registry"
  | "remote";

/** A method of a path. */
export interface Operation {
  /** Unique in the document; names of functions in generated clients. */
  id: string;
  method: "get" | "head" | "post" | "delete";
  /** Parameters in braces: `/v1/models/{model}`. */
  path: string;
  /** The API that it belongs to. */
  tag: string;
  summary: string;
  parameters?: Parameter[];
  /** The schema of the request's JSON body. */
  body?: NamedSchema;
  /** The schema of the fields of a multipart form, if the request has that instead. */
  form?: NamedSchema;
  /** Whether the request's body is a file instead. */
  isUpload?: boolean;
  /** Statuses of success, and what they say, if there are others than 200. */
  successes?: Record<number, string>;
  /**
   * What answers of these statuses are, by content type. Of `application/x-ndjson` and
   * `text/event-stream`, what the JSON value of each line or event is.
   */
  answers: Record<string, NamedSchema>;
  failures?: Failure[];
  /** The JSON body of an error. */
  error: ErrorSchema;
  /** Bodies of the failures that have another. */
  otherErrors?: Record<number, NamedSchema>;
  /** Answered without the API key. */
  isOpen?: boolean;
}

/** Names a schema. The example has to fit it. */
export function named<const Schema extends object>(
  name: string,
  schema: Schema,
  example: NoInfer<BodyOf<Schema>>,
): NamedSchema {
  return { name, schema, example };
}

/** One JSON value. */
export function whole<const Schema extends object>(
  name: string,
  schema: Schema,
  example: NoInfer<BodyOf<Schema>>,
): Operation["answers"] {
  return { "application/json": named(name, schema, example) };
}
