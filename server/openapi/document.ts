// An OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1) from the descriptions of operations.
// Its schemas are the very ones that requests are validated against. Pure.

import type { NamedSchema, Operation } from "./operation.ts";

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer" },
  apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
};

/** What such a document has. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  security: object[];
  paths: Record<string, Record<string, object>>;
  components: { schemas: Record<string, object>; securitySchemes: object };
}

/**
 * The document of these operations.
 *
 * @throws {TypeError} if two schemas have the same name
 */
export function describeApi(operations: Operation[], version: string): OpenApiDocument {
  const schemas: Record<string, object> = {};
  const refer = ({ name, schema }: NamedSchema) => {
    if (schemas[name] !== undefined && schemas[name] !== schema) {
      throw new TypeError(`Cannot describe the API: two schemas have the name "${name}"`);
    }
    schemas[name] = schema;
    return { schema: { $ref: `#/components/schemas/${name}` } };
  };
  const paths: OpenApiDocument["paths"] = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = describe(operation, refer);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Quern",
      version,
      description: "Language models on this machine's GPU. A stream's schema is that of each of " +
        "its lines or events.",
    },
    // The last one says that a server without a key asks for none.
    security: [{ bearer: [] }, { apiKey: [] }, {}],
    paths,
    components: { schemas, securitySchemes: SECURITY_SCHEMES },
  };
}

function describe(operation: Operation, refer: (schema: NamedSchema) => object): object {
  const { tag, path, summary, answers, error, isOpen } = operation;
  const content = Object.entries(answers).map(([type, schema]) => [type, refer(schema)]);
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: "path", required: true, schema: { type: "string" } };
  });
  return {
    tags: [tag],
    summary,
    ...(isOpen && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(operation, refer),
    responses: {
      200: { description: "The answer.", content: Object.fromEntries(content) },
      default: {
        description: "What is wrong.",
        content: { "application/json": refer(error) },
      },
    },
  };
}

function requestBody(
  { body, isUpload }: Operation,
  refer: (schema: NamedSchema) => object,
): { requestBody?: object } {
  if (isUpload) {
    return { requestBody: { required: true, content: { "application/octet-stream": {} } } };
  }
  if (!body) return {};
  return { requestBody: { required: true, content: { "application/json": refer(body) } } };
}
