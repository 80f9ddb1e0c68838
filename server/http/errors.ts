// The one place where an error becomes an HTTP status and a sentence for the client.
// A client's mistake is never a 5xx: SDKs send those again, up to three times.

import type { ContentfulStatusCode } from "../dependencies.ts";
import {
  AdapterError,
  ChatTemplateError,
  ContextLengthError,
  GgufError,
  GrammarError,
  InsufficientMemoryError,
  ModelClosedError,
  ModelNotFoundError,
  NotFiniteError,
  RequestError,
  SchemaError,
  StoreError,
  TokenizerError,
  UnsupportedModelError,
} from "../../engine/mod.ts";
import { DiskFullError, RegistryError } from "../registry/mod.ts";
import { RemoteError } from "../remote/mod.ts";

/** An error that the HTTP layer itself finds, with its status. */
export class HttpError extends Error {
  override name = "HttpError";
  /**
   * @param param the member of the request at fault, for dialects that name it apart
   * @param code what programs tell the error by, likewise
   */
  constructor(
    readonly status: ContentfulStatusCode,
    message: string,
    readonly param?: string,
    readonly code?: string,
  ) {
    // Only a fault of the server is logged with its trace, which is dear where thousands are refused.
    const { stackTraceLimit } = Error;
    if (status < 500 || status === 503) Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const STATUS_HEADERS: Record<number, Record<string, string>> = {
  401: { "www-authenticate": "Bearer" },
  503: { "retry-after": "1" },
};

/** What is wrong with the files of a model, among them a template that does not take the messages. */
const FAULTS_OF_FILES = [
  AdapterError,
  ChatTemplateError,
  GgufError,
  NotFiniteError,
  TokenizerError,
  UnsupportedModelError,
];

/** Status of what the disk has no room for, or may not be written. */
const INSUFFICIENT_STORAGE = 507 as ContentfulStatusCode;

/** Status of a request that the client gave up, as proxies and Ollama log it. */
export const CLIENT_CLOSED_REQUEST = 499 as ContentfulStatusCode;

/** The status that answers a request which failed with this error. */
export function statusOf(error: unknown): ContentfulStatusCode {
  if (error instanceof HttpError) return error.status;
  if (error instanceof ModelNotFoundError) return 404;
  if (error instanceof ContextLengthError) return 400;
  if (error instanceof RequestError) return 400;
  if (error instanceof SchemaError || error instanceof GrammarError) return 400;
  // What is wrong with a model's files stays wrong: the request has to name another model.
  if (FAULTS_OF_FILES.some((fault) => error instanceof fault)) return 400;
  // It would fail again, so it is no 5xx: the request can name a smaller window or another model.
  if (error instanceof InsufficientMemoryError) return 400;
  if (error instanceof ModelClosedError) return 503;
  if (error instanceof DiskFullError) return INSUFFICIENT_STORAGE;
  if (error instanceof RegistryError) return statusOfRegistry(error);
  if (error instanceof RemoteError) return error.status as ContentfulStatusCode;
  // What has a cause is the disk's fault, a name or a file that will not do the client's.
  if (error instanceof StoreError) return error.cause === undefined ? 400 : INSUFFICIENT_STORAGE;
  if (error instanceof DOMException && error.name === "AbortError") return CLIENT_CLOSED_REQUEST;
  return 500;
}

/** What a registry refuses it would refuse again; what it fails at is no fault of the client. */
function statusOfRegistry({ status }: RegistryError): ContentfulStatusCode {
  if (status === 404) return 404;
  return status === 401 || status === 403 ? 403 : 502;
}

/** Headers that an answer to such an error has: when to come back, how to say who one is. */
export function headersOf(error: unknown): Record<string, string> {
  const retryAfter = error instanceof RemoteError ? error.retryAfter : undefined;
  return {
    ...STATUS_HEADERS[statusOf(error)],
    ...(retryAfter !== undefined && { "retry-after": retryAfter }),
  };
}
