// How an operation of the API is described: enough for /openapi.json and for the tests that hold
// every answer against it. One list per dialect, in the files beside this one.

/** A JSON Schema under the name that the document gives it. */
export interface NamedSchema {
  /** Unique in the document, such as "ChatRequest". */
  name: string;
  schema: object;
}

/** A method of a path. */
export interface Operation {
  method: "get" | "head" | "post" | "delete";
  /** Parameters in braces: `/v1/models/{model}`. */
  path: string;
  /** The API that it belongs to. */
  tag: string;
  summary: string;
  /** What the request's JSON body must be. */
  body?: NamedSchema;
  /** Whether the request's body is a file instead. */
  isUpload?: boolean;
  /**
   * What answers of status 200 are, by content type. Of `application/x-ndjson` and
   * `text/event-stream`, what the JSON value of each line or event is.
   */
  answers: Record<string, NamedSchema>;
  /** The JSON body of an error. */
  error: NamedSchema;
  /** Answered without the API key. */
  isOpen?: boolean;
}

/** Names a schema. */
export function named(name: string, schema: object): NamedSchema {
  return { name, schema };
}
