// An OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1) from the descriptions of operations.
// Its schemas are the very ones that requests are validated against. Pure.

import { failuresOf } from "./failures.ts";
import type { NamedSchema, Operation, Parameter } from "./operation.ts";
import { SchemaComponents } from "./schema_components.ts";

const SECURITY_SCHEMES = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "The key of QUERN_API_KEY, as OpenAI's clients send it.",
  },
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The key of QUERN_API_KEY, as Anthropic's clients send it.",
  },
};

const SERVERS = [
  { url: "/", description: "The server that gave this document." },
  { url: "http://127.0.0.1:11434", description: "A server on this machine, as it is by default." },
];

/** The members of such a document. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string; license: object };
  servers: object[];
  security: object[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, object>>;
  components: { schemas: Record<string, object>; securitySchemes: object };
}

/**
 * The document of these operations.
 *
 * @param tags what each of their tags stands for
 * @throws {TypeError} if two schemas have the same name, or two operations the same id
 */
export function describeApi(
  operations: readonly Operation[],
  tags: OpenApiDocument["tags"],
  version: string,
): OpenApiDocument {
  const components = new SchemaComponents();
  const paths: OpenApiDocument["paths"] = {};
  const ids = new Set<string>();
  for (const operation of operations) {
    const { id, path, method } = operation;
    if (ids.has(id)) throw new TypeError(`Cannot describe the API: two operations are "${id}"`);
    ids.add(id);
    (paths[path] ??= {})[method] = describe(operation, (named) => {
      return { schema: components.add(named), example: named.example };
    });
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Quern",
      version,
      description: "Language models on this machine's GPU. A stream's schema is that of each of " +
        "its lines or events.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: SERVERS,
    // The last one says that a server without a key asks for none.
    security: [{ bearer: [] }, { apiKey: [] }, {}],
    tags,
    paths,
    components: { schemas: components.schemas(), securitySchemes: SECURITY_SCHEMES },
  };
}

/** A media type of a schema, with its example. */
type Refer = (named: NamedSchema) => { schema: object; example: unknown };

function describe(operation: Operation, refer: Refer): object {
  const { id, tag, path, summary, parameters = [], isOpen } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => describePart(name!));
  const all = [...inPath, ...parameters];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(isOpen && { security: [] }),
    ...(all.length > 0 && { parameters: all }),
    ...requestBody(operation, refer),
    responses: { ...successes(operation, refer), ...failures(operation, refer) },
  };
}

const PARTS: Record<string, Omit<Parameter, "name" | "in">> = {
  model: {
    description: "Name of a model. Slashes may be escaped.",
    schema: { type: "string" },
    example: "quern:tiny",
  },
  response_id: {
    description: "Id of a response that is kept.",
    schema: { type: "string" },
    example: `resp_${"0".repeat(48)}`,
  },
  digest: {
    description: "SHA-256 of the file.",
    schema: { type: "string", pattern: "^sha256[:-][0-9a-fA-F]{64}$" },
    example: `sha256:${"0".repeat(64)}`,
  },
};

/** A parameter of a path. */
function describePart(name: string): object {
  return { name, in: "path", required: true, ...PARTS[name] ?? { schema: { type: "string" } } };
}

function requestBody({ body, isUpload }: Operation, refer: Refer): { requestBody?: object } {
  if (isUpload) {
    return { requestBody: { required: true, content: { "application/octet-stream": {} } } };
  }
  if (!body) return {};
  return { requestBody: { required: true, content: { "application/json": refer(body) } } };
}

function successes({ answers, successes }: Operation, refer: Refer): Record<string, object> {
  const content = Object.entries(answers).map(([type, schema]) => [type, refer(schema)]);
  return Object.fromEntries(
    Object.entries(successes ?? { 200: "The answer." }).map(([status, description]) => [status, {
      description,
      ...(content.length > 0 && { content: Object.fromEntries(content) }),
    }]),
  );
}

function failures(operation: Operation, refer: Refer): Record<string, object> {
  const { error, otherErrors = {}, method } = operation;
  const responseOf = (description: string, media: object) => ({
    description,
    // An answer to HEAD has no body.
    ...(method !== "head" && { content: { "application/json": media } }),
  });
  const described = failuresOf(operation).map(({ status, description, message }) => {
    const other = otherErrors[status];
    const media = other ? refer(other) : { ...refer(error), example: error.tell(status, message) };
    return [status, responseOf(description, media)];
  });
  return {
    ...Object.fromEntries(described),
    default: responseOf("What else is wrong.", refer(error)),
  };
}
