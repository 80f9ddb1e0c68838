// The interface to the APIs of other servers. Types only; each API has its own file.

import type {
  ChatEvent,
  ChatRequest,
  EmbedRequest,
  EmbedResult,
  GenerateEvent,
  GenerateRequest,
  ModelConfig,
} from "../../engine/mod.ts";
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
