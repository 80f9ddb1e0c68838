// The settings that the environment variables of environment.ts amount to. An invalid value gives the
// default here, because commands that act on settings refuse it beforehand.

import { join } from "node:path";
import { type CacheTypes, type Isolation, readRemoteHost } from "../../engine/mod.ts";
import { parseByteSize, parseCacheType, parseDuration, parseFolderSize } from "./quantities.ts";
import { type Environment, readVariable } from "./environment.ts";
import { type HostAddress, parseHost } from "../network/host.ts";
import type { LogFormat } from "../log.ts";
import type { RemoteApi } from "../remote/mod.ts";
import { VERSION } from "../version.ts";

/** How many answers of /v1/responses are kept. */
export interface ResponseBounds {
  count: number;
  /** Of all files. */
  bytes: number;
  /** In milliseconds. */
  age: number;
}

/** Settings of a server. Durations in milliseconds; where one is missing, the engine decides. */
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
  /** The types of keys and values in KV caches; absent: f16. */
  cacheTypes?: CacheTypes;
  /** Bytes of memory for what leaves the KV caches of models; absent: by what is free. */
  cacheMemory?: number;
  /** Its folder on disk, if it is kept there. */
  cacheDisk?: { folder: string; bytes: number };
  /** The place where models run. */
  isolation: Isolation;
  /** Folder of caches, whose files may be lost; undefined where the system names none. */
  cache?: string;
  /** The limits of what is kept of /v1/responses. */
  responses: ResponseBounds;
  keepUnused: boolean;
  /** Whether the model in the box is left out. */
  noBox: boolean;
  noTuning: boolean;
  /** Whether GPUs are used without being compared with the CPU first. */
  noProof: boolean;
  maxQueue: number;
  origins: string[];
  /** Names that Host may be, besides those of the machine. */
  hosts: string[];
  /** Hosts that models may be on. If it is empty: all hosts with public addresses. */
  remotes: string[];
  debug: boolean;
  apiKey?: string;
  /** Address with its scheme. */
  cloudHost?: string;
  cloudKey?: string;
  cloudApi?: RemoteApi;
  anthropicExact: boolean;
  enforcesThinkingBudget: boolean;
  logFormat: LogFormat;
  shutdownTimeout: number;
}

/** Reads the environment. */
export function readSettings(environment: Environment): Settings {
  const read = (name: string) => readVariable(environment, name);
  const contextLength = positive(read("OLLAMA_CONTEXT_LENGTH"));
  const gpuMemory = byteSize(read("QUERN_GPU_MEMORY")) || undefined;
  const cacheTypes = cacheTypesOf(read("OLLAMA_KV_CACHE_TYPE"));
  const cacheMemory = byteSize(read("QUERN_CACHE_RAM"));
  const cacheDisk = folderSize(read("QUERN_CACHE_DISK"));
  const apiKey = read("QUERN_API_KEY");
  const cloudHost = address(read("QUERN_CLOUD_HOST"));
  const cloudKey = read("QUERN_CLOUD_KEY");
  const cloudApi = read("QUERN_CLOUD_API").toLowerCase();
  const isolation = read("QUERN_ISOLATION").toLowerCase();
  const home = read("HOME") || read("USERPROFILE");
  const cache = cacheFolder(read, home);
  return {
    models: read("QUERN_MODELS") || read("OLLAMA_MODELS") || join(home, ".ollama", "models"),
    host: parseHost(read("OLLAMA_HOST")),
    keepAlive: duration(read("OLLAMA_KEEP_ALIVE")) ?? 5 * 60_000,
    loadTimeout: duration(read("OLLAMA_LOAD_TIMEOUT")) || 5 * 60_000,
    maxLoaded: positive(read("OLLAMA_MAX_LOADED_MODELS")) ?? 0,
    maxSequences: positive(read("OLLAMA_NUM_PARALLEL")) ?? 4,
    gpuOverhead: byteSize(read("OLLAMA_GPU_OVERHEAD")) ?? 0,
    isolation: isIsolation(isolation) ? isolation : "auto",
    responses: {
      count: wholeNumber(read("QUERN_RESPONSES")) ?? 1000,
      bytes: byteSize(read("QUERN_RESPONSES_SIZE")) ?? 512 * 2 ** 20,
      age: duration(read("QUERN_RESPONSES_AGE")) ?? 30 * 24 * 3_600_000,
    },
    keepUnused: isOn(read("OLLAMA_NOPRUNE")),
    noBox: isOn(read("QUERN_NO_BOX")),
    noTuning: isOn(read("QUERN_NO_TUNING")),
    noProof: isOn(read("QUERN_NO_PROOF")),
    maxQueue: positive(read("OLLAMA_MAX_QUEUE")) ?? 512,
    origins: list(read("OLLAMA_ORIGINS")),
    hosts: list(read("QUERN_HOSTS")),
    remotes: list(read("OLLAMA_REMOTES")),
    debug: isOn(read("OLLAMA_DEBUG")),
    anthropicExact: isOn(read("QUERN_ANTHROPIC_EXACT")),
    enforcesThinkingBudget: read("QUERN_THINKING_BUDGET").toLowerCase() === "enforce",
    logFormat: read("QUERN_LOG").toLowerCase() === "json" ? "json" : "plain",
    shutdownTimeout: duration(read("QUERN_SHUTDOWN_TIMEOUT")) ?? 5000,
    ...(cache !== undefined && { cache }),
    ...(apiKey && { apiKey }),
    ...(cloudHost && { cloudHost }),
    ...(cloudKey && { cloudKey }),
    ...((cloudApi === "ollama" || cloudApi === "openai") && { cloudApi }),
    ...(contextLength !== undefined && { contextLength }),
    ...(gpuMemory !== undefined && { gpuMemory }),
    ...(cacheTypes && { cacheTypes }),
    ...(cacheMemory !== undefined && { cacheMemory }),
    ...(cacheDisk && { cacheDisk }),
  };
}

function isIsolation(text: string): text is Isolation {
  return text === "worker" || text === "process";
}

/** How GPUs are proved; undefined if they are not, as where nothing can be kept of it. */
export function proofOptions(
  settings: Pick<Settings, "cache" | "noProof">,
): { folder: string; version: string } | undefined {
  const folder = settings.noProof ? undefined : tuningFolder(settings);
  return folder === undefined ? undefined : { folder, version: VERSION };
}

/** The folder with what was found out about GPUs; undefined if it is not kept. */
export function tuningFolder({ cache }: Pick<Settings, "cache">): string | undefined {
  return cache === undefined ? undefined : join(cache, "tuning");
}

/** The folder in which programs of this system keep their caches. */
function cacheFolder(read: (name: string) => string, home: string): string | undefined {
  const own = read("QUERN_CACHE");
  if (own) return own;
  const shared = read("XDG_CACHE_HOME") || read("LOCALAPPDATA") || (home && join(home, ".cache"));
  return shared ? join(shared, "quern") : undefined;
}

function list(text: string): string[] {
  return text.split(",").map((item) => item.trim()).filter(Boolean);
}

function isOn(text: string): boolean {
  return !/^(|0|f|false)$/i.test(text);
}

function wholeNumber(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

function positive(text: string): number | undefined {
  return wholeNumber(text) || undefined;
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

function cacheTypesOf(text: string): CacheTypes | undefined {
  try {
    return parseCacheType(text);
  } catch {
    return undefined;
  }
}

function folderSize(text: string): { folder: string; bytes: number } | undefined {
  try {
    return parseFolderSize(text);
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
