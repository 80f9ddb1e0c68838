// The HTTP API as the commands use it: requests, JSON answers, and NDJSON streams whose errors are
// thrown. It does not know where the server is; connect.ts finds it, or makes one in this process.

import { messageOf } from "../../log.ts";
import type {
  CacheContents,
  ChatRecord,
  EmbedAnswer,
  GenerateRecord,
  OllamaDetails,
  OllamaProcesses,
  OllamaProgress,
  OllamaShow,
  OllamaTags,
  Version,
} from "../../http/mod.ts";

/** The answer of /api/show, of which other servers than Quern's leave out empty members. */
export type ShowAnswer = Partial<Omit<OllamaShow, "details">> & {
  details?: Partial<OllamaDetails>;
};

/** The JSON answers that commands read, by path. */
interface JsonAnswers {
  "/api/cache": CacheContents;
  "/api/embed": EmbedAnswer;
  "/api/ps": OllamaProcesses;
  "/api/show": ShowAnswer;
  "/api/tags": OllamaTags;
  "/api/version": Partial<Version>;
}

/** The records of streams, by path. */
interface StreamRecords {
  "/api/chat": ChatRecord;
  "/api/create": OllamaProgress;
  "/api/generate": GenerateRecord;
  "/api/pull": OllamaProgress;
  "/api/push": OllamaProgress;
}

/** The type that a table has for a path; unknown for other paths. */
type OfPath<Table, Path> = Path extends keyof Table ? Table[Path] : unknown;

/** An answer that refuses the request, in the server's own words. */
export class ApiError extends Error {
  override name = "ApiError";
  /** @param status HTTP status; 500 for an error within a stream, whose status was sent before */
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** A server that cannot be reached, or that was lost during a request. */
export class ConnectionError extends Error {
  override name = "ConnectionError";
}

/** A server's API. */
export interface Api extends AsyncDisposable {
  /** Whether the server is this process, which ends with the command. */
  readonly inProcess: boolean;
  /** Address of the server, without a slash at the end. */
  readonly url: string;
  /**
   * Sends a request; returns an answer of any status.
   *
   * @throws {ConnectionError} if there is none
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /**
   * The JSON of an answer, undefined if it is empty.
   *
   * @param body JSON to send; without it the request is a GET
   * @throws {ApiError} if the server refuses
   */
  json<Path extends string>(
    path: Path,
    body?: unknown,
    options?: RequestOptions,
  ): Promise<OfPath<JsonAnswers, Path>>;
  /**
   * The records of a streamed answer. Whoever stops reading ends the request.
   *
   * @throws {ApiError} if the server refuses, or tells of a fault in a record
   * @throws {ConnectionError} if the answer ends before its last record
   */
  stream<Path extends string>(
    path: Path,
    body: unknown,
    signal?: AbortSignal,
  ): AsyncGenerator<OfPath<StreamRecords, Path>>;
  /** Ends a server in this process, with the models that it has in memory. */
  close(): Promise<void>;
}

/** How a request is sent. */
export interface RequestOptions {
  /** Default POST with a body, else GET. */
  method?: string;
  signal?: AbortSignal | undefined;
}

/** The parts of an API. */
export interface ApiOptions {
  inProcess: boolean;
  url: string;
  /** Sent with each request. */
  headers?: Record<string, string>;
  send: (request: Request) => Response | Promise<Response>;
  close?: () => Promise<void>;
}

/** Members of the last records of streams. */
interface LastRecord {
  done?: boolean;
  status?: string;
  error?: unknown;
}

/** An API over a way to send requests. */
export function createApi(options: ApiOptions): Api {
  const { inProcess, url, headers = {}, send, close = () => Promise.resolve() } = options;

  async function fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const request = new Request(url + path, init);
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    try {
      return await send(request);
    } catch (error) {
      throw failureOf(error, url, init.signal);
    }
  }

  async function accepted(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(path, init);
    if (!response.ok) throw await refusalOf(response);
    return response;
  }

  async function json<Path extends string>(
    path: Path,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<OfPath<JsonAnswers, Path>> {
    const method = options.method ?? (body === undefined ? "GET" : "POST");
    const response = await accepted(path, jsonRequest(method, body, options.signal));
    try {
      const text = await response.text();
      const answer: unknown = text === "" ? undefined : JSON.parse(text);
      return answer as OfPath<JsonAnswers, Path>;
    } catch (error) {
      throw failureOf(error, url, options.signal);
    }
  }

  async function* stream<Path extends string>(
    path: Path,
    body: unknown,
    signal?: AbortSignal,
  ): AsyncGenerator<OfPath<StreamRecords, Path>> {
    const response = await accepted(path, jsonRequest("POST", body, signal));
    let last: LastRecord = {};
    try {
      for await (const line of linesOf(response.body!, signal)) {
        const record = JSON.parse(line);
        last = record;
        if (last.error !== undefined) throw new ApiError(500, String(last.error));
        yield record;
      }
    } catch (error) {
      throw failureOf(error, url, signal);
    }
    if (!last.done && last.status !== "success") {
      throw new ConnectionError(
        `The answer of ${url}${path} is incomplete: it ended before its last record, ` +
          `because the server stopped or the connection was cut; send the request again`,
      );
    }
  }

  return { inProcess, url, fetch, json, stream, close, [Symbol.asyncDispose]: close };
}

function jsonRequest(method: string, body: unknown, signal?: AbortSignal): RequestInit {
  return {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
    ...(signal && { signal }),
  };
}

/** The lines of a body, without the empty ones; an abort ends the wait for the next. */
export async function* linesOf(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream(), signal ? { signal } : {}).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop()!;
      yield* lines.filter((line) => line.trim() !== "");
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The message of an answer that is not a success. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  const sentence = errorIn(text) ??
    `The server answered with status ${response.status} ${text.slice(0, 200)}`.trimEnd();
  return new ApiError(response.status, sentence);
}

/** The sentence of an error body, `{"error": "..."}`. */
function errorIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text);
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** The error of a failed request. An abort, and errors of the API, are returned as they are. */
function failureOf(error: unknown, url: string, signal: AbortSignal | null | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof ApiError) return error;
  if (error instanceof SyntaxError) {
    return new ConnectionError(
      `Cannot read the answer of ${url}: it is not JSON; check that OLLAMA_HOST names a server ` +
        `with Ollama's API`,
      { cause: error },
    );
  }
  return new ConnectionError(`The connection to the server at ${url} failed: ${messageOf(error)}`, {
    cause: error,
  });
}
