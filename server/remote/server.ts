// A server that runs models, with a cache of what it told: its API, its models and facts about
// them. Facts that are not necessary are not waited for long.

import { type ChatRequest, RequestError, untilAborted } from "../../engine/mod.ts";
import { setBounded } from "../bounded.ts";
import { RemoteClient, type RemoteClientOptions } from "./client.ts";
import type {
  RemoteApi,
  RemoteCall,
  RemoteDialect,
  RemoteFacts,
  RemoteListing,
} from "./dialect.ts";
import { RemoteError } from "./errors.ts";
import { ollama } from "./ollama.ts";
import { openAi } from "./openai.ts";
import { toMessages } from "./openai_request.ts";

/** How long facts and lists are valid, in milliseconds. */
const FRESH_MILLISECONDS = 60_000;
/** Models of which facts are kept: clients may ask for any names. */
const MOST_MODELS = 1000;
/** How long they are waited for, in milliseconds. */
const PATIENCE_MILLISECONDS = 1000;
/** How long a server has to tell its API, in milliseconds. */
const DETECTION_MILLISECONDS = 10_000;

const DIALECTS: Record<RemoteApi, RemoteDialect> = { ollama, openai: openAi };

/** A server, and how to talk to it. */
export interface RemoteServerOptions extends RemoteClientOptions {
  /** Default: found by asking. */
  api?: RemoteApi;
}

/** Something that was asked, and when. */
interface Remembered<T> {
  at: number;
  value: Promise<T>;
}

export class RemoteServer {
  readonly client: RemoteClient;
  #api: Promise<RemoteApi> | undefined;
  readonly #facts = new Map<string, Remembered<RemoteFacts>>();
  #list: Remembered<RemoteListing[]> | undefined;

  /** Asks nothing yet. @throws {RequestError} if the host is no address */
  constructor(options: RemoteServerOptions) {
    this.client = new RemoteClient(options);
    const api = options.api ?? (/\/v1\/?$/.test(options.host) ? "openai" : undefined);
    if (api) this.#api = Promise.resolve(api);
  }

  /**
   * The API of the server.
   *
   * @throws {RemoteError} if it cannot be asked
   */
  async dialect(signal?: AbortSignal): Promise<RemoteDialect> {
    this.#api ??= this.#detect();
    return DIALECTS[await untilAborted(this.#api, signal)];
  }

  /** The facts of a model; none if the server does not answer soon. */
  async describe(model: string): Promise<RemoteFacts> {
    const known = this.#facts.get(model);
    if (known && isFresh(known)) return await known.value;
    const value = this.#soon((dialect, signal) =>
      dialect.describe({ client: this.client, model, signal })
    ).catch((error) => {
      // A server without this path is not asked again.
      if (!(error instanceof RemoteError && error.status === 404)) this.#facts.delete(model);
      return { config: {} };
    });
    setBounded(this.#facts, model, { at: Date.now(), value }, MOST_MODELS);
    return await value;
  }

  /**
   * Its models; none if it does not answer soon. An outdated list is returned while a new one is
   * fetched, so that only the first call waits.
   */
  async list(): Promise<RemoteListing[]> {
    const known = this.#list;
    if (known && isFresh(known)) return await known.value;
    const next = this.#soon((dialect, signal) => dialect.list({ client: this.client, signal }))
      .catch(() => known?.value ?? []);
    this.#list = { at: Date.now(), value: known?.value ?? next };
    void next.then((models) => this.#list = { at: Date.now(), value: Promise.resolve(models) });
    return await this.#list.value;
  }

  /**
   * The number of tokens in the prompt of a conversation. Only vLLM can count them.
   *
   * @throws {RequestError} if the server does not count
   */
  async countTokens({ model, signal }: RemoteCall, request: ChatRequest): Promise<number> {
    const { messages, tools } = request;
    const body = { model, messages: toMessages(messages), ...(tools?.length && { tools }) };
    const response = await this.client.send("/tokenize", { body, signal });
    const answer = await response.json().catch(() => ({}));
    if (response.ok && Number.isInteger(answer?.count)) return answer.count;
    throw new RequestError(
      `Cannot count the tokens for "${model}": ${this.client.host} runs it and does not count ` +
        "them; its answers tell how many there were",
    );
  }

  #detect(): Promise<RemoteApi> {
    const detecting = detectApi(this.client, AbortSignal.timeout(DETECTION_MILLISECONDS));
    detecting.catch(() => this.#api = undefined);
    return detecting;
  }

  async #soon<T>(ask: (dialect: RemoteDialect, signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    return await ask(await this.dialect(signal), signal);
  }
}

function isFresh({ at }: Remembered<unknown>): boolean {
  return Date.now() - at < FRESH_MILLISECONDS;
}

// Which API a server speaks, found by asking it. Servers with both (Quern, and Ollama itself) are
// asked in Ollama's, which says more; an address that ends in /v1 is one of OpenAI's.

/** Statuses that do not tell whether a path exists; further requests would fail as well. */
const FAILURES = new Set([401, 403, 429, 502, 503, 504]);
/** Statuses of paths that do not exist; some servers answer 501 for a method that they do not know. */
const ABSENT = new Set([404, 405, 501]);

/**
 * The API of a server.
 *
 * @throws {RemoteError} if it cannot be asked
 */
async function detectApi(client: RemoteClient, signal: AbortSignal): Promise<RemoteApi> {
  const version = await look(client, "/api/version", signal);
  if (typeof version?.version === "string") return "ollama";
  const models = await look(client, "/v1/models", signal);
  if (Array.isArray(models?.data)) return "openai";
  const chat = await client.send("/api/chat", { body: {}, signal });
  await chat.body?.cancel();
  return ABSENT.has(chat.status) ? "openai" : "ollama";
}

async function look(
  client: RemoteClient,
  path: string,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const response = await client.send(path, { signal });
  if (FAILURES.has(response.status)) throw await client.refusal(response);
  const text = await response.text();
  try {
    return response.ok ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
