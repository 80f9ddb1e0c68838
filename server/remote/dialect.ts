// The interface to the APIs of other servers. Types only; each API has its own file.

import {
  type ChatEvent,
  type ChatRequest,
  type EmbedRequest,
  type EmbedResult,
  type GenerateEvent,
  type GenerateRequest,
  type ModelConfig,
  ModelName,
  parseExactJson,
  RequestError,
  type TokenLogprob,
  type TokenProbability,
} from "../../engine/mod.ts";
import type { pullModel } from "../registry/mod.ts";
import type { RemoteClient } from "./client.ts";

/** An API by its first vendor. */
export type RemoteApi = "ollama" | "openai";

/** A request for a model of a server. */
export interface RemoteCall {
  readonly client: RemoteClient;
  /** The model's name there. */
  readonly model: string;
  /** Ends the request there too. */
  readonly signal: AbortSignal;
}

/** The facts that a server tells of a model. */
export interface RemoteFacts {
  /** The facts that it tells; others are missing. */
  readonly config: Partial<ModelConfig>;
  /** Time of the model's last change. */
  readonly modified?: Date;
}

/** A model in the list of a server. */
export interface RemoteListing extends RemoteFacts {
  readonly model: string;
}

/**
 * An API of other servers. Methods throw RequestError for requests that the API cannot express, and
 * RemoteError where the server refuses or fails.
 */
export interface RemoteDialect {
  chat(call: RemoteCall, request: ChatRequest): AsyncIterable<ChatEvent>;
  generate(call: RemoteCall, request: GenerateRequest): AsyncIterable<GenerateEvent>;
  embed(call: RemoteCall, request: EmbedRequest): Promise<EmbedResult>;
  /** The prompt text that `chat` would run. */
  render(call: RemoteCall, request: ChatRequest): Promise<string>;
  describe(call: RemoteCall): Promise<RemoteFacts>;
  list(call: Omit<RemoteCall, "model">): Promise<RemoteListing[]>;
}

// What the builders of requests to other servers share: schemas, and images as those APIs take them.
// Pure.

/**
 * A JSON Schema as a value.
 *
 * @throws {RequestError} if it is a text that is no JSON
 */
export function schemaOf({ schema }: { schema: unknown }): unknown {
  if (typeof schema !== "string") return schema;
  try {
    return parseExactJson(schema);
  } catch (error) {
    throw new RequestError("Cannot read the JSON Schema of the format: it is no JSON", {
      cause: error,
    });
  }
}

/** Types of media by how the base64 of their files starts. */
const TYPES: [start: string, type: string][] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["UklGR", "image/webp"],
  ["R0lGOD", "image/gif"],
  ["Qk", "image/bmp"],
];

/** The base64 of an image. */
export function base64Of(image: Uint8Array | string): string {
  return typeof image === "string" ? image : image.toBase64();
}

export function dataUrlOf(image: Uint8Array | string): string {
  const base64 = base64Of(image);
  const [, type = "application/octet-stream"] = TYPES.find(([start]) => base64.startsWith(start)) ??
    [];
  return `data:${type};base64,${base64}`;
}

// Names of models of the cloud server: `model:cloud`, and `model:tag-cloud` where the model there has a
// tag, as Ollama writes them. Pulling such a name downloads nothing, as the model runs where it is.

/** The model's name at the server; undefined if the name is none of the cloud's. */
export function cloudModelOf(name: string): string | undefined {
  const [, model, tag] = /^(.+):(?:([^/:]+)-)?cloud$/i.exec(name) ?? [];
  if (model === undefined || !ModelName.tryParse(name)) return undefined;
  return tag === undefined ? model : `${model}:${tag}`;
}

/** The name by which a model of the server is found here; undefined if no name can be made of it. */
export function cloudNameOf(model: string): string | undefined {
  const hasTag = /:[^/]*$/.test(model);
  return ModelName.tryParse(`${model}${hasTag ? "-" : ":"}cloud`)?.toString();
}

/** Pulls as given, but of the cloud's names only makes sure that there is a server for them. */
export function withoutCloud(pull: typeof pullModel): typeof pullModel {
  return async function* (store, name, options) {
    if (cloudModelOf(name) === undefined) return yield* pull(store, name, options);
    await store.find(name);
    yield { status: "success" };
  };
}

// Log-probabilities of tokens from the wire: Ollama and OpenAI's chats write them the same way,
// OpenAI's older completions in lists. Pure.

/** A token and how likely it was. */
interface WireProbability {
  token: string;
  logprob: number;
  bytes?: number[] | null;
}

/** A token of an answer, and the likeliest ones in its place. */
export interface WireLogprob extends WireProbability {
  top_logprobs?: WireProbability[] | null;
}

/** The lists of OpenAI's completions, an element per token. */
export interface LogprobLists {
  tokens?: string[];
  token_logprobs?: (number | null)[];
  top_logprobs?: (Record<string, number> | null)[] | null;
}

/** Tokens of an answer; undefined if there are none. */
export function fromLogprobs(
  logprobs: readonly WireLogprob[] | null | undefined,
): TokenLogprob[] | undefined {
  if (!logprobs?.length) return undefined;
  return logprobs.map(({ top_logprobs: top, ...chosen }) => ({
    ...toProbability(chosen),
    top: (top ?? []).map(toProbability),
  }));
}

/** Tokens of an answer that has a list for each member; undefined if there are none. */
export function fromLogprobLists(lists: LogprobLists): TokenLogprob[] | undefined {
  return fromLogprobs(
    lists.tokens?.map((token, index) => ({
      token,
      logprob: lists.token_logprobs?.[index] ?? 0,
      top_logprobs: Object.entries(lists.top_logprobs?.[index] ?? {})
        .map(([token, logprob]) => ({ token, logprob })),
    })),
  );
}

function toProbability({ token, logprob, bytes }: WireProbability): TokenProbability {
  return { token, logprob, bytes: bytes ?? [...new TextEncoder().encode(token)] };
}
