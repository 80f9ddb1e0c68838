// What the HTTP application is built from: what its caller gives, and what its routes get.

import type { Context } from "../dependencies.ts";
import type { CacheTypes, LoraChoice, ModelManager, ModelStore } from "../../engine/mod.ts";
import type { Drain } from "./drain.ts";
import type { KeyRing } from "../keys/mod.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { AccessVariables, BodyVariables } from "./middleware/variables.ts";
import type { RunningRequests, WaitingQueue } from "./generation/queue.ts";
import type { UnreadBudget, UnreadLimits } from "./generation/unread.ts";
import type { Preload } from "./preload.ts";
import type { ResponseStore } from "./response_store.ts";
import type { EventLogLimits, EventLogs } from "./stream/event_log.ts";
import type { pullModel, pushModel } from "../registry/mod.ts";
import type { Telemetry } from "./metrics/telemetry.ts";

/** How models come from registries and go there. */
export interface Registry {
  pull: typeof pullModel;
  push: typeof pushModel;
}

/** The findings about one subject of the machine. */
export interface Section {
  title: string;
  findings: {
    mark: "ok" | "warning" | "problem";
    subject: string;
    text: string;
    todo?: { text: string; command?: string };
  }[];
  /** What stands below the findings; the first row is the head. */
  table?: string[][];
}

/** The state of blocks that left the models' KV caches, in bytes. */
export interface BlockTiers {
  readonly memory: { bytes: number; limit: number };
  /** The files on disk when they were last measured; missing if nothing is kept there. */
  readonly onDisk?: { bytes: number; limit: number } | undefined;
  /** Measures the files on disk; resolves once they have been measured at all. */
  measureDisk?(): Promise<void>;
}

/** The parts from which the application is made. */
export interface AppOptions {
  store: ModelStore;
  manager: Pick<
    ModelManager,
    "acquire" | "unload" | "estimate" | "windowOf" | "running" | "busyWorkers"
  >;
  /** The blocks that leave the models' KV caches; absent if they are not kept. */
  blocks?: BlockTiers;
  /** The types of keys and values in the KV caches of models. Default: f16. */
  cacheTypes?: CacheTypes;
  log: Log;
  /** How many lines of the log could not be written. Default: none. */
  lostLogLines?: () => number;
  /** The version of Quern; /api/version tells that of Ollama's API as well. */
  version: string;
  /**
   * Address that the server is bound to. If it is a loopback address, Host may be no other one.
   * Default loopback.
   */
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
  /** Most bytes of all bodies together. Default 256 MiB. */
  maxHeldBytes?: number;
  /** How much of answers may wait to be read. */
  unreadLimits?: Partial<UnreadLimits>;
  /** The API keys of which requests must have one. Default: none is needed. */
  keys?: KeyRing;
  /** How much is kept of streams that clients can take up again. */
  eventLogLimits?: Partial<EventLogLimits>;
  /** Whether there is a server for cloud models. Default false. */
  hasCloud?: boolean;
  /** Follow Anthropic where /v1/messages otherwise follows Ollama: `error` events in streams. */
  anthropicExact?: boolean;
  /** Take the prompts of /v1/completions for turns of a user, as Ollama does. Default false: continue them. */
  completesChats?: boolean;
  /** End thinking after the budget, or the level, that a request asks for. Default false. */
  enforcesThinkingBudget?: boolean;
  /** How long a stream may be silent before it gives a sign of life, in milliseconds. Default 5,000. */
  heartbeatMilliseconds?: number;
  /**
   * How long an answer that is not streamed may take before white space keeps its connection alive,
   * in milliseconds; 0: as long as it likes. Default 20,000.
   */
  whiteSpaceMilliseconds?: number;
  /** Looks at the machine, as `quern doctor` does; without it /api/doctor tells nothing. */
  examine?: () => Promise<Section[]>;
  /** The store of answers of /v1/responses. Default: none are kept. */
  responses?: ResponseStore;
  /** Where traces and metrics go. Default: nowhere. */
  telemetry?: Telemetry;
  /** Default: over the network. */
  registry?: Registry;
  /** The models without which the server is not ready. Default: none. */
  preload?: Pick<Preload, "missing">;
  /** Through which the caller shuts the server down gracefully. */
  drain?: Drain;
}

/** The parts that the routes use. */
export type AppDependencies = AppOptions & {
  queue: WaitingQueue;
  unread: UnreadBudget;
  /** Streams that clients can take up again. */
  logs: EventLogs;
  /** The adapters of requests that name none, by model, as POST /lora-adapters has set them. */
  loraDefaults: Map<string, readonly LoraChoice[]>;
  requests: RunningRequests;
  drain: Drain;
  metrics: Metrics;
  registry: Registry;
  /** Logs what a request failed with, and makes the response that tells of it. */
  tellFailure: (error: unknown, context: Context<AppEnvironment>) => Response;
};

/** Hono's type parameters. */
export interface AppEnvironment {
  Variables: AccessVariables & BodyVariables;
}
