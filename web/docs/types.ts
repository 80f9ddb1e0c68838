// What the explorer reads of an OpenAPI document. Format: https://spec.openapis.org/oas/v3.1.1

/** A JSON Schema, as far as it is shown. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
}

/** What a body may be, by content type. */
export type Content = Record<string, { schema?: Schema; example?: unknown }>;

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: {
    name: string;
    in: string;
    description?: string;
    schema?: Schema;
    example?: unknown;
  }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

export interface Document {
  info: { title: string; version: string; description?: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** An operation with its place. */
export interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

/** All operations, in the order of the document. */
export function entriesOf(document: Document): Entry[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation }))
  );
}

/** The schema that a reference leads to, and its name. */
export function resolved(document: Document, schema: Schema): { schema: Schema; name?: string } {
  const name = schema.$ref?.split("/").pop();
  if (name === undefined) return { schema };
  return { schema: document.components.schemas[name] ?? {}, name };
}
