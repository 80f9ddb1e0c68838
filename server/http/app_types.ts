// What the HTTP application is built from: what its caller gives, and what its routes get.

import type { ModelManager, ModelStore } from "../../engine/mod.ts";
import type { Drain } from "./drain.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { AccessVariables } from "./middleware/access_log.ts";
import type { BodyVariables } from "./middleware/body_limit.ts";
import type { WaitingQueue } from "./generation/queue.ts";
import type { ResponseStore } from "./response_store.ts";
import type { pullModel, pushModel } from "../registry/mod.ts";

/** How models come from registries and go there. */
export interface Registry {
  pull: typeof pullModel;
  push: typeof pushModel;
}

/** What the application may be given besides the models. */
export interface AppOptions {
  store: ModelStore;
  manager: Pick<ModelManager, "acquire" | "unload" | "running" | "busyWorkers">;
  log: Log;
  /** Of Quern; /api/version tells that of Ollama's API as well. */
  version: string;
  /** Address that the server is bound to: on loopback Host may be no other address. Default loopback. */
  boundTo?: string;
  /** Names and addresses of this machine that Host may be. */
  ownNames?: string[];
  /** Further names that Host may be, `*` standing for any text. */
  hosts?: string[];
  /** Further origins of web pages. */
  origins?: string[];
  /** Most requests that wait for their first token. Default 512. */
  maxQueue?: number;
  /** Default 32 MiB. */
  maxBodyBytes?: number;
  /** What all bodies may hold together. Default 256 MiB. */
  maxHeldBytes?: number;
  /** What requests must carry; without it all are let in. */
  apiKey?: string;
  /** Whether there is a server for cloud models. Default false. */
  hasCloud?: boolean;
  /** Follow Anthropic where /v1/messages otherwise follows Ollama: stop reasons, `error` events. */
  anthropicExact?: boolean;
  /** How long a stream may say nothing before it gives a sign of life. Default 5,000. */
  heartbeatMilliseconds?: number;
  /** Where answers of /v1/responses are kept; without one none is. */
  responses?: ResponseStore;
  /** Default: over the network. */
  registry?: Registry;
  /** Through which the caller ends the server in good order. */
  drain?: Drain;
}

/** What the routes work with. */
export type AppDependencies = AppOptions & {
  queue: WaitingQueue;
  drain: Drain;
  metrics: Metrics;
  registry: Registry;
};

/** Hono's type parameters. */
export interface AppEnvironment {
  Variables: AccessVariables & BodyVariables;
}
