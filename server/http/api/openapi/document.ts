// An OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1) from the descriptions of operations.
// Its schemas are the very ones that requests are validated against. Pure.

import { type OptionInfo, OPTIONS } from "../../../../engine/mod.ts";
import { nothing } from "../../body/schema.ts";
import { GLOSSARY } from "./glossary.ts";
import type { Failure, NamedSchema, Operation, Parameter } from "./operation.ts";

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
    description: "Id of a response that is kept, or made in the background.",
    schema: { type: "string" },
    example: `resp_${"0".repeat(48)}`,
  },
  job_id: {
    description: "Id of a download.",
    schema: { type: "string" },
    example: "job_0123456789ab",
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

function requestBody(
  { body, form, isUpload }: Operation,
  refer: Refer,
): { requestBody?: object } {
  if (isUpload) {
    return { requestBody: { required: true, content: { "application/octet-stream": {} } } };
  }
  if (form) {
    return { requestBody: { required: true, content: { "multipart/form-data": refer(form) } } };
  }
  if (!body) return {};
  return { requestBody: { required: true, content: { "application/json": refer(body) } } };
}

/** What stands beside an answer that may begin before it is made. */
const LATE = "The answer. If it took so long that white space was sent before it " +
  "(QUERN_WHITE_SPACE_AFTER), it may be an error, with a member `error`.";

function successes(
  { answers, failures, successes }: Operation,
  refer: Refer,
): Record<string, object> {
  const isLate = answers["application/json"] && /busy|registry/.test(`${failures}`);
  const content = Object.entries(answers).map(([type, schema]) => [type, refer(schema)]);
  return Object.fromEntries(
    Object.entries(successes ?? { 200: isLate ? LATE : "The answer." }).map((
      [status, description],
    ) => [status, {
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

// The schemas of a document, each once under its name. Where a schema contains another named one, a
// reference takes its place; definitions of a schema (`$defs`) become components as well. That a request
// may have other members which ask for nothing is not told: clients have no reason to send them.

const OWN = "#/$defs/";
const SHARED = "#/components/schemas/";

type Members = Record<string, unknown>;

/** The components of a document. */
class SchemaComponents {
  readonly #byName = new Map<string, object>();
  readonly #names = new Map<object, string>();

  /**
   * Adds a schema; returns the reference to it.
   *
   * @throws {TypeError} if another one has its name
   */
  add({ name, schema }: Pick<NamedSchema, "name" | "schema">): { $ref: string } {
    const known = this.#byName.get(name);
    if (known === schema) return { $ref: SHARED + name };
    if (known) throw new TypeError(`Cannot describe the API: two schemas have the name "${name}"`);
    this.#byName.set(name, schema);
    this.#names.set(schema, name);
    const { $defs = {} } = schema as { $defs?: Record<string, object> };
    for (const [own, definition] of Object.entries($defs)) {
      this.add({ name: own, schema: definition });
    }
    return { $ref: SHARED + name };
  }

  /** All of them by name. */
  schemas(): Record<string, object> {
    return Object.fromEntries(
      this.#byName.entries().map(([name, schema]) => [
        name,
        withDescriptions(this.#members(schema as Members), name),
      ]),
    );
  }

  #copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((element) => this.#copy(element));
    if (typeof value !== "object" || value === null) return value;
    if (value === nothing) return false;
    const name = this.#names.get(value);
    return name === undefined ? this.#members(value as Members) : { $ref: SHARED + name };
  }

  #members({ $defs: _, ...members }: Members): Members {
    return Object.fromEntries(
      Object.entries(members).map(([name, value]) => [
        name,
        name === "$ref" && typeof value === "string"
          ? value.replace(OWN, SHARED)
          : this.#copy(value),
      ]),
    );
  }
}

/** Keywords that contain values, and no schemas. */
const VALUES = ["const", "enum", "default", "examples"];

/** What forms that set options show of them: titles, bounds, and what holds without them, by name. */
const FORMS: ReadonlyMap<string, object> = new Map(
  Object.values<OptionInfo>(OPTIONS).filter(({ title }) => title !== undefined).map((
    { name, title, help, minimum, maximum, standard, default: value },
  ) => [name, {
    title,
    "x-form": { help, minimum, maximum, standard: `${value ?? standard}` },
  }]),
);

/**
 * A schema whose members have the descriptions of the glossary where they have none of their own.
 *
 * @param areOptions whether its members are options of a request
 */
function withDescriptions(schema: Members, component: string, areOptions = false): Members {
  const descend = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(descend);
    if (typeof value !== "object" || value === null) return value;
    return withDescriptions(value as Members, component);
  };
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (VALUES.includes(key)) return [key, value];
      if (key !== "properties") return [key, descend(value)];
      const members = Object.entries(value as Record<string, Members>).map(([name, member]) => {
        const description = GLOSSARY[`${component}.${name}`] ?? GLOSSARY[name];
        const isClear = "description" in member || "const" in member || description === undefined;
        const described = withDescriptions(member, component, name === "options");
        const form = areOptions ? FORMS.get(name) : undefined;
        return [name, { ...form, ...described, ...(!isClear && { description }) }];
      });
      return [key, Object.fromEntries(members)];
    }),
  );
}

// The statuses that an operation may fail with, and what each says. They follow from what the operation
// takes and needs: a body, a model, the disk.

/** A status of failure, described. */
interface FailureStatus {
  status: number;
  description: string;
  /** A sentence of such an error. */
  message: string;
}

const FORBIDDEN: FailureStatus = {
  status: 403,
  description: "The Host or the Origin of the request is not allowed here, or the model's server " +
    "refuses.",
  message: 'host "example.com" is not allowed: add it to QUERN_HOSTS',
};

const UNAUTHORIZED: FailureStatus = {
  status: 401,
  description: "The server has QUERN_API_KEY set, and the request lacks the key.",
  message: 'the API key is missing: send it as "Authorization: Bearer" or "x-api-key"',
};

const BAD_REQUEST: FailureStatus = {
  status: 400,
  description: "The request cannot be done as it stands. The sentence names the member at fault.",
  message: "model is required",
};

/** Failures of any request with a body. */
const OF_BODIES: FailureStatus[] = [
  BAD_REQUEST,
  {
    status: 408,
    description: "The body did not come in time.",
    message: "the request body did not come in time",
  },
  {
    status: 413,
    description: "The body is too large.",
    message: "the request body is larger than 33554432 bytes",
  },
  {
    status: 415,
    description: "The body's Content-Encoding is neither gzip nor zstd.",
    message: 'content-encoding must be gzip or zstd, not "br"',
  },
];

const BUSY: FailureStatus = {
  status: 503,
  description: "The server is busy or shutting down. Retry-After says when to come back.",
  message: "the server is shutting down",
};

const OF_NEEDS: Record<Failure, FailureStatus> = {
  model: {
    status: 404,
    description: "There is no such model.",
    message: "model 'gemma3:1b' not found",
  },
  response: {
    status: 404,
    description: "What is named is not kept here: it never was, is too old, or is another key's.",
    message: "no response 'resp_1' is kept here",
  },
  request: {
    status: 404,
    description: "No such request is running.",
    message: 'no request "my-request-1" is running',
  },
  job: {
    status: 404,
    description: "There is no such download.",
    message: 'job_id: there is no download "job_1"',
  },
  file: { status: 404, description: "There is no such file.", message: "404 page not found" },
  blob: { status: 404, description: "The blob is not there.", message: "not found" },
  busy: BUSY,
  disk: {
    status: 507,
    description: "The disk has no room, or may not be read or written.",
    message: "Cannot write to the folder of the models: the disk is full",
  },
  registry: {
    status: 502,
    description: "The registry cannot be reached, or failed.",
    message: "Cannot reach the registry",
  },
  remote: {
    status: 502,
    description: "The server that has the model cannot be reached, or failed.",
    message: "Cannot reach the server of the model",
  },
};

/** The statuses that an operation may fail with, each once, in order. */
function failuresOf(operation: Operation): FailureStatus[] {
  const { body, form, isUpload, isOpen, parameters = [], failures = [] } = operation;
  const hasQuery = parameters.some((parameter) => parameter.in === "query");
  const found = [
    FORBIDDEN,
    ...(isOpen ? [] : [UNAUTHORIZED, BUSY]),
    ...(body || form || isUpload ? OF_BODIES : []),
    ...(hasQuery ? [BAD_REQUEST] : []),
    ...failures.map((failure) => OF_NEEDS[failure]),
    // To find a model, files are read.
    ...(failures.includes("model") ? [OF_NEEDS.disk] : []),
  ];
  const byStatus = new Map(found.map((failure) => [failure.status, failure]));
  return [...byStatus.values()].sort((a, b) => a.status - b.status);
}
