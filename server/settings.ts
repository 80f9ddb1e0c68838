// The environment of the server in one table. Values are trimmed of spaces and quotes, as Ollama
// does; what cannot be read gives the default.
//
//   QUERN_MODELS              folder of the models; else OLLAMA_MODELS, else ~/.ollama/models
//   OLLAMA_HOST               127.0.0.1:11434   address to bind to and to ask
//   OLLAMA_KEEP_ALIVE         5m       how long an idle model stays; negative for ever
//   OLLAMA_LOAD_TIMEOUT       5m       how long a load may stand still
//   OLLAMA_MAX_LOADED_MODELS  models in memory at a time; else as many as fit
//   OLLAMA_NUM_PARALLEL       4        sequences per model that run at the same time
//   OLLAMA_CONTEXT_LENGTH     engine's window of a load whose request names none
//   OLLAMA_GPU_OVERHEAD       0        GPU memory to leave free, such as 512MiB
//   QUERN_GPU_MEMORY          GPU memory there is, such as 24GB; else what the driver says
//   OLLAMA_NOPRUNE            off      keep blobs that no model uses
//   QUERN_NO_BOX              off      leave quern:tiny, the model in the box, out of all lists
//   OLLAMA_MAX_QUEUE          512      requests that wait for their first token; more get 503
//   OLLAMA_ORIGINS            none     further browser origins, comma list, `*` as wildcard
//   QUERN_HOSTS               none     further names that requests may give as Host, as above
//   OLLAMA_DEBUG              off      debug lines in the log
//   QUERN_API_KEY             none     what requests must carry, but for / and /health
//   QUERN_CLOUD_HOST          none     server of the models whose names end in :cloud, Ollama's or OpenAI's
//   QUERN_CLOUD_KEY           none     key for that server, and for no other
//   QUERN_CLOUD_API           ollama or openai: what that server speaks; else it is asked
//   OLLAMA_REMOTES            public   hosts that models created with a remote_host may be at, comma list
//   QUERN_ANTHROPIC_EXACT     off      /v1/messages: Anthropic's stop reasons and `error` events
//   QUERN_LOG                 plain    json: an object per line
//   QUERN_SHUTDOWN_TIMEOUT    5s       how long running requests have when the server is stopped

import { join } from "node:path";
import { readRemoteHost } from "../engine/mod.ts";
import { parseByteSize } from "./byte_size.ts";
import { parseDuration } from "./duration.ts";
import { type HostAddress, parseHost } from "./host.ts";
import type { LogFormat } from "./log.ts";
import type { RemoteApi } from "./remote/mod.ts";

/** Environment variables by name. */
export type Environment = Record<string, string | undefined>;

/** What the environment says. Durations in milliseconds; absent is "as the engine sees fit". */
export interface Settings {
  models: string;
  host: HostAddress;
  keepAlive: number;
  loadTimeout: number;
  /** 0: as many as fit. */
  maxLoaded: number;
  maxSequences: number;
  contextLength?: number;
  /** In bytes. */
  gpuOverhead: number;
  /** In bytes. */
  gpuMemory?: number;
  keepUnused: boolean;
  /** Whether the model in the box is left out. */
  noBox: boolean;
  maxQueue: number;
  origins: string[];
  /** Names that Host may be, besides those of the machine. */
  hosts: string[];
  /** Hosts of remote models; none: all that have public addresses. */
  remotes: string[];
  debug: boolean;
  apiKey?: string;
  /** Address with its scheme. */
  cloudHost?: string;
  cloudKey?: string;
  cloudApi?: RemoteApi;
  anthropicExact: boolean;
  logFormat: LogFormat;
  shutdownTimeout: number;
}

/** Reads the environment. */
export function readSettings(environment: Environment): Settings {
  const read = (name: string) =>
    (environment[name] ?? "").trim().replace(/^["']+|["']+$/g, "").trim();
  const contextLength = positive(read("OLLAMA_CONTEXT_LENGTH"));
  const gpuMemory = byteSize(read("QUERN_GPU_MEMORY")) || undefined;
  const apiKey = read("QUERN_API_KEY");
  const cloudHost = address(read("QUERN_CLOUD_HOST"));
  const cloudKey = read("QUERN_CLOUD_KEY");
  const cloudApi = read("QUERN_CLOUD_API").toLowerCase();
  const home = read("HOME") || read("USERPROFILE");
  return {
    models: read("QUERN_MODELS") || read("OLLAMA_MODELS") || join(home, ".ollama", "models"),
    host: parseHost(read("OLLAMA_HOST")),
    keepAlive: duration(read("OLLAMA_KEEP_ALIVE")) ?? 5 * 60_000,
    loadTimeout: duration(read("OLLAMA_LOAD_TIMEOUT")) || 5 * 60_000,
    maxLoaded: positive(read("OLLAMA_MAX_LOADED_MODELS")) ?? 0,
    maxSequences: positive(read("OLLAMA_NUM_PARALLEL")) ?? 4,
    gpuOverhead: byteSize(read("OLLAMA_GPU_OVERHEAD")) ?? 0,
    keepUnused: isOn(read("OLLAMA_NOPRUNE")),
    noBox: isOn(read("QUERN_NO_BOX")),
    maxQueue: positive(read("OLLAMA_MAX_QUEUE")) ?? 512,
    origins: list(read("OLLAMA_ORIGINS")),
    hosts: list(read("QUERN_HOSTS")),
    remotes: list(read("OLLAMA_REMOTES")),
    debug: isOn(read("OLLAMA_DEBUG")),
    anthropicExact: isOn(read("QUERN_ANTHROPIC_EXACT")),
    logFormat: read("QUERN_LOG").toLowerCase() === "json" ? "json" : "plain",
    shutdownTimeout: duration(read("QUERN_SHUTDOWN_TIMEOUT")) ?? 5000,
    ...(apiKey && { apiKey }),
    ...(cloudHost && { cloudHost }),
    ...(cloudKey && { cloudKey }),
    ...((cloudApi === "ollama" || cloudApi === "openai") && { cloudApi }),
    ...(contextLength !== undefined && { contextLength }),
    ...(gpuMemory !== undefined && { gpuMemory }),
  };
}

function list(text: string): string[] {
  return text.split(",").map((item) => item.trim()).filter(Boolean);
}

function isOn(text: string): boolean {
  return !/^(|0|f|false)$/i.test(text);
}

function positive(text: string): number | undefined {
  return /^\d+$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

function address(text: string): string | undefined {
  try {
    return text === "" ? undefined : readRemoteHost(text);
  } catch {
    return undefined;
  }
}

function byteSize(text: string): number | undefined {
  try {
    return parseByteSize(text);
  } catch {
    return undefined;
  }
}

function duration(text: string): number | undefined {
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}
