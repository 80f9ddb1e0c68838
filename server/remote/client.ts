// Requests to a server that runs models: one address, one key, and an error with a clear message
// for every failure. Knows no API. What a server says of a failure is told to clients only if the
// operator chose its address; otherwise a client could name an address to find out what answers
// there. Redirects are not followed: the key is for one server, and a POST would become a GET.

import { readRemoteHost } from "../../engine/mod.ts";
import { AddressError } from "../network/checked_fetch.ts";
import { refusal, RemoteError, type RemoteErrorOptions } from "./errors.ts";

/** The most bytes that are read of a refusal. */
const LONGEST_REFUSAL = 64 * 1024;
/** The most characters that are quoted of a refusal that is no JSON. */
const LONGEST_EXCERPT = 300;

/** The server to ask, and how. */
export interface RemoteClientOptions {
  /** Address of the server; a `/v1` at its end, as clients of OpenAI write it, is dropped. */
  host: string;
  /** Sent as bearer token. */
  key?: string;
  fetch?: typeof globalThis.fetch;
  /** Whether its error messages may be quoted. Default true. */
  quotes?: boolean;
  /** Called with messages that may not be quoted. */
  report?: (text: string) => void;
}

export interface RemoteRequest {
  /** Sent by POST as JSON; without it the request is a GET. */
  body?: unknown;
  signal: AbortSignal;
}

/** A client of one server. */
export class RemoteClient {
  /** The address, without a slash at its end. */
  readonly host: string;
  readonly #key: string | undefined;
  readonly #fetch: typeof globalThis.fetch;
  readonly #quotes: boolean;
  readonly #report: (text: string) => void;

  /** @throws {RequestError} if the host is no address */
  constructor(options: RemoteClientOptions) {
    const { host, key, fetch = globalThis.fetch, quotes = true, report = () => {} } = options;
    this.host = readRemoteHost(host).replace(/\/v1$/, "");
    this.#key = key;
    this.#fetch = fetch;
    this.#quotes = quotes;
    this.#report = report;
  }

  /**
   * The response, whatever its status.
   *
   * @throws {RemoteError} 502 if the server cannot be reached, 403 if it must not be asked
   */
  async send(path: string, { body, signal }: RemoteRequest): Promise<Response> {
    try {
      return await this.#fetch(`${this.host}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: "manual",
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AddressError) throw refusal(this.host);
      const state = `it cannot be reached (${reasonOf(error)}); check that it runs, and ` +
        "its address in QUERN_CLOUD_HOST or in the model that was created with it";
      throw this.error(502, state, { cause: error });
    }
  }

  /**
   * The response, of a status that is a success.
   *
   * @throws {RemoteError} with the server's status and sentence if it refuses, else as of send()
   */
  async ask(path: string, request: RemoteRequest): Promise<Response> {
    const response = await this.send(path, request);
    if (!response.ok) throw await this.refusal(response);
    return response;
  }

  /**
   * The JSON document that answers a request.
   *
   * @throws {RemoteError} 502 if it is none, else as of ask()
   */
  async askJson<T>(path: string, request: RemoteRequest): Promise<T> {
    const response = await this.ask(path, request);
    try {
      return await response.json();
    } catch (error) {
      request.signal.throwIfAborted();
      throw this.error(502, `its answer to ${path} is no JSON`, { cause: error });
    }
  }

  /** The error that a response without success stands for. Reads its body. */
  async refusal(response: Response): Promise<RemoteError> {
    const { status, headers } = response;
    const said = await sentenceOf(response);
    const retryAfter = headers.get("retry-after");
    const location = headers.get("location");
    if (status < 400) {
      const state = `it answers ${status} and sends us elsewhere`;
      const words = location && `${state} to ${location}: use that address`;
      return this.error(502, this.inItsWords(words, state));
    }
    const advice = status === 401 && this.#key === undefined
      ? "; it wants a key: QUERN_CLOUD_KEY is sent to the server in QUERN_CLOUD_HOST, and to no other"
      : "";
    const state = `it answered ${status}${said ? "" : " without a word"}`;
    // An internal error of that server is none of this one.
    const own = status === 500 ? 502 : status;
    return this.error(own, this.inItsWords(said, state) + advice, {
      ...(retryAfter !== null && { retryAfter }),
    });
  }

  /** The server's words if they may be quoted, else ours. */
  inItsWords(words: string | null | undefined, ours: string): string {
    if (!words) return ours;
    if (this.#quotes) return words;
    this.#report(`${this.host}: ${ours}: ${JSON.stringify(words)}`);
    return `${ours}; the log of this server has what it said`;
  }

  /** An error that names the server. @param state what is so */
  error(status: number, state: string, options?: RemoteErrorOptions): RemoteError {
    return new RemoteError(status, `Cannot use the models of ${this.host}: ${state}`, options);
  }
}

/** The sentence in an error as Ollama, OpenAI, vLLM or FastAPI write it; undefined if there is none. */
export function errorIn(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { error, detail, message } = body as Record<string, unknown>;
  const inner = typeof error === "object"
    ? (error as { message?: unknown } | null)?.message
    : error;
  const said = inner ?? detail ?? message;
  return said === undefined || typeof said === "string" ? said : JSON.stringify(said);
}

/** The reason why a connection failed or broke, without what the caller knows. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message.replace(/^error sending request for url \(.*?\): /, "");
}

async function sentenceOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > LONGEST_REFUSAL) break;
    }
  } catch {
    // Without a readable body the status has to suffice.
  }
  try {
    const said = errorIn(JSON.parse(text));
    if (said !== undefined) return said;
  } catch {
    // It is no JSON.
  }
  return text.replace(/\s+/g, " ").trim().slice(0, LONGEST_EXCERPT);
}
