// The one place where an error becomes an HTTP status and a message for the client. Messages that the
// HTTP layer makes itself begin in lower case with the member at fault, as Ollama's do. A mistake of
// the client is never a 5xx status, because SDKs repeat such requests up to three times.

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
  ResourceError,
  SchemaError,
  StoreError,
  TokenizerError,
  UnsupportedModelError,
} from "../../engine/mod.ts";
import { bounded } from "../bounded.ts";
import type { ContentfulStatusCode } from "../dependencies.ts";
import { messageOf } from "../log.ts";
import { DiskFullError, RegistryError } from "../registry/mod.ts";
import { RemoteError } from "../remote/mod.ts";

/** An error that the HTTP layer itself finds, with its status. */
export class HttpError extends Error {
  override name: string = this.constructor.name;
  /**
   * @param param the member of the request at fault, for dialects that name it apart
   * @param code by which programs recognise the error, likewise
   */
  constructor(
    readonly status: ContentfulStatusCode,
    message: string,
    readonly param?: string,
    readonly code?: string,
  ) {
    // Only a fault of the server is logged with its trace, which takes long when thousands are
    // refused.
    const { stackTraceLimit } = Error;
    if (status < 500 || status === 503) Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A client has asked for as much as it may. */
export class LimitError extends HttpError {
  /** @param headers when it may ask again, and what its limits are */
  constructor(message: string, readonly headers: Readonly<Record<string, string>>) {
    super(429, message, undefined, "rate_limit_exceeded");
  }
}

const STATUS_HEADERS: Record<number, Record<string, string>> = {
  401: { "www-authenticate": "Bearer" },
  503: { "retry-after": "1" },
};

/** Errors of a model's files, among them a template that refuses the messages. */
const FAULTS_OF_FILES = [
  AdapterError,
  ChatTemplateError,
  GgufError,
  NotFiniteError,
  TokenizerError,
  UnsupportedModelError,
];

/** Status of a request whose client left before the answer, as proxies and Ollama log it. */
export const CLIENT_CLOSED_REQUEST = 499 as ContentfulStatusCode;

/** The status that answers a request which failed with this error. */
export function statusOf(error: unknown): ContentfulStatusCode {
  if (error instanceof HttpError) return error.status;
  if (error instanceof ModelNotFoundError) return 404;
  if (error instanceof ContextLengthError) return 400;
  if (error instanceof RequestError) return 400;
  if (error instanceof SchemaError || error instanceof GrammarError) return 400;
  // A model's files stay broken: the request has to name another model.
  if (FAULTS_OF_FILES.some((fault) => error instanceof fault)) return 400;
  // The request would fail again, so this is no 5xx: it can name a smaller window or another model.
  if (error instanceof InsufficientMemoryError) return 400;
  if (error instanceof ModelClosedError || error instanceof ResourceError) return 503;
  if (error instanceof DiskFullError) return INSUFFICIENT_STORAGE;
  if (error instanceof RegistryError) return statusOfRegistry(error);
  if (error instanceof RemoteError) return error.status as ContentfulStatusCode;
  // An error with a cause is one of the disk. One without is about a name or a file, and the client's.
  if (error instanceof StoreError) return error.cause === undefined ? 400 : INSUFFICIENT_STORAGE;
  if (error instanceof DOMException && error.name === "AbortError") return CLIENT_CLOSED_REQUEST;
  return systemFault(error)?.status ?? 500;
}

/** Most characters of a sentence about an error, which may quote what a client has sent. */
const MAX_SENTENCE = 4096;

/** A quoted absolute path, as messages about a model's files have it, and the file's own name. */
const QUOTED_PATH = /"(?:\/|[A-Za-z]:[\\/])(?:[^"]*[\\/])?([^"\\/]+)"/g;

/**
 * The sentence by which a client is told of an error: its message, but of the system's errors
 * neither paths nor numbers, and of a model's files no folders. For the log there is messageOf().
 */
export function sentenceOf(error: unknown): string {
  const sentence = systemFault(error)?.sentence ?? messageOf(error);
  const isOfFile = FAULTS_OF_FILES.some((fault) => error instanceof fault);
  const told = isOfFile ? sentence.replaceAll(QUOTED_PATH, '"$1"') : sentence;
  return bounded(told.replaceAll(/ \(os error \d+\)/g, ""), MAX_SENTENCE);
}

/**
 * The status for an error of a registry: a refusal would be repeated, a failure is not the client's
 * fault.
 */
function statusOfRegistry({ status }: RegistryError): ContentfulStatusCode {
  if (status === 404) return 404;
  return status === 401 || status === 403 ? 403 : 502;
}

/** The headers of an answer to such an error, such as Retry-After and WWW-Authenticate. */
export function headersOf(error: unknown): Record<string, string> {
  const retryAfter = error instanceof RemoteError ? error.retryAfter : undefined;
  return {
    ...STATUS_HEADERS[statusOf(error)],
    ...(error instanceof LimitError && error.headers),
    ...(retryAfter !== undefined && { "retry-after": retryAfter }),
  };
}

// Errors of the operating system as statuses and sentences for clients. The system's own words have
// absolute paths of this machine in them; those go to the log. Pure.

/** What a client is told of an error of the system. */
interface SystemFault {
  readonly status: ContentfulStatusCode;
  readonly sentence: string;
}

/** Status where the disk has no room, may not be written, or is not what the settings say. */
export const INSUFFICIENT_STORAGE = 507 as ContentfulStatusCode;

const NAME: SystemFault = {
  status: 400,
  sentence: "a name in the request is too long, or has a character that no file name has",
};
const FILES: SystemFault = {
  status: 503,
  sentence: "the system gives the server no more open files: try again later; " +
    "its operator can raise the limit (ulimit -n)",
};
const THREADS: SystemFault = {
  status: 503,
  sentence: "the system gives the server no more threads or memory: try again later; " +
    "its operator can raise the limits (ulimit -u, --pids-limit)",
};
const FULL: SystemFault = {
  status: INSUFFICIENT_STORAGE,
  sentence: "the disk of the server is full: make room, for example by removing a model",
};
const FORBIDDEN: SystemFault = {
  status: INSUFFICIENT_STORAGE,
  sentence: "the server may not read or write one of its files: " +
    "its operator has to give it the right to, or set OLLAMA_MODELS to a folder of its own",
};
const MISPLACED: SystemFault = {
  status: INSUFFICIENT_STORAGE,
  sentence: "a folder that the server is set to use is none: its operator has to look at " +
    "OLLAMA_MODELS and QUERN_CACHE",
};
const OTHER: SystemFault = {
  status: INSUFFICIENT_STORAGE,
  sentence: "a file of the server cannot be read or written; its log says which, and why",
};

const FAULTS: Record<string, SystemFault> = {
  ENAMETOOLONG: NAME,
  EINVAL: NAME,
  EILSEQ: NAME,
  EMFILE: FILES,
  ENFILE: FILES,
  EAGAIN: THREADS,
  ENOMEM: THREADS,
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: FULL,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: FORBIDDEN,
  EEXIST: MISPLACED,
  ENOTDIR: MISPLACED,
  EISDIR: MISPLACED,
  ELOOP: MISPLACED,
};

/** What a client is told of an error; undefined if it is none of the system. */
function systemFault(error: unknown): SystemFault | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || !/^E[A-Z\d]+$/.test(code)) return undefined;
  return FAULTS[code] ?? OTHER;
}
