// The one table of settings: each is a variable of the environment, with the kind of its value, its
// default, what it does and what reads it. settings.ts has their values, the help texts and the doctor
// their words, docs/settings.md a row of each, and messages what a value must be.

import { DEVICE_KINDS, type Isolation, readRemoteHost } from "../../engine/mod.ts";
import { parseByteSize, parseCacheType, parseDuration, parseFolderSize } from "./quantities.ts";
import { isHostAddress, parseHost } from "../network/host.ts";

/** Environment variables by name. */
export type Environment = Record<string, string | undefined>;

/** A kind of value. */
export interface Kind<T> {
  /** What a value must be, such as "a whole number". */
  readonly is: string;
  /** The value of a text, which is not empty. Errors: any, if it is no such value. */
  readonly read: (text: string) => T;
}

/** What reads a setting, in the order of the help. */
export const READERS = {
  all: "the server and all commands",
  models: "what loads models: the server, and commands where none runs",
  server: "the server",
  terminal: "commands at a terminal",
} as const;

export interface Setting<T = unknown> {
  /** Name of its variable. */
  readonly name: string;
  readonly kind: Kind<T>;
  /** Its value if the variable is not set, as that would say it. */
  readonly default?: string;
  /** What holds then, in words, where no value says it. */
  readonly standard?: string;
  /** What it does, in a few words that fit into a line of the help. */
  readonly help: string;
  /** What docs/settings.md says besides. */
  readonly more?: string;
  readonly reader: keyof typeof READERS;
  /** Whether its value is secret, and never shown. */
  readonly isSecret?: boolean;
}

const text = kind("any text", (text) => text);
const flag = kind("1 or 0", (text) => !/^(0|f|false)$/i.test(text));
const list = kind("texts with commas between", splitList);
const duration = kind("a duration such as 90s, 5m or 1h30m", parseDuration);
const size = kind("a size such as 512MiB or 24GB", parseByteSize);
const folderSize = kind("a folder and a size such as /var/cache/quern:20GiB", parseFolderSize);
const cacheType = kind(
  "f16, q8_0 or q4_0, or one for keys and one for values such as q8_0/q4_0",
  parseCacheType,
);
const count = wholeNumber("a whole number");
const threads = wholeNumber("a whole number from 1 to 1024", 1, 1024);
const address = kind("an address such as 127.0.0.1:11434", readAddress);
const server = kind("an address such as https://ollama.com", readRemoteHost);
const device = oneOf("auto", ...DEVICE_KINDS);

/** What is off unless its variable is set. */
const OFF = { default: "0", standard: "off" };

const forAll = settingOf("all");
const forModels = settingOf("models");
const forServer = settingOf("server");
const forTerminal = settingOf("terminal");

/** All settings, by their names in the program. */
export const SETTINGS = {
  /** Where the server listens, and where commands find it. */
  host: forAll("OLLAMA_HOST", address, "where to serve and to ask", { default: "127.0.0.1:11434" }),
  apiKey: forAll("QUERN_API_KEY", text, "key that the server asks for, and commands send", {
    more: "the page and health need none",
    isSecret: true,
  }),
  keyFile: forServer("QUERN_API_KEYS", text, "file of further keys, with their limits", {
    more: "[keys](operations.md#keys)",
  }),
  /** What computes. The device itself reads it. */
  device: forModels("QUERN_DEVICE", device, `the device: ${device.is}`, {
    default: "auto",
    more: "[devices](#devices)",
  }),
  gpu: forModels("QUERN_GPU", text, "the GPU to use, by a part of its name", {
    standard: "the fastest",
    more: "[devices](#devices)",
  }),
  /** Threads that compute. The device itself reads it. */
  threads: forModels("QUERN_THREADS", threads, "threads that compute on the CPU", {
    standard: "physical cores",
  }),
  ollamaModels: forModels("OLLAMA_MODELS", text, "folder of the models", {
    standard: "~/.ollama/models",
  }),
  models: forModels("QUERN_MODELS", text, "folder of the models, before OLLAMA_MODELS"),
  /** How long an idle model stays in memory, in milliseconds. */
  keepAlive: forModels(
    "OLLAMA_KEEP_ALIVE",
    duration,
    "how long an idle model stays; -1: for ever",
    { default: "5m" },
  ),
  /** How long a load may stand still, in milliseconds. */
  loadTimeout: forModels(
    "OLLAMA_LOAD_TIMEOUT",
    orDefault(duration),
    "how long a load may stand still",
    { default: "5m" },
  ),
  preload: forServer("QUERN_PRELOAD", list, "models to load at the start, and to keep", {
    default: "",
    more: "[when it is ready](operations.md#health-and-metrics)",
  }),
  /** Most models in memory; 0: as many as fit. */
  maxLoaded: forModels("OLLAMA_MAX_LOADED_MODELS", count, "models in memory at a time", {
    default: "0",
    standard: "as many as fit",
  }),
  maxSequences: forModels(
    "OLLAMA_NUM_PARALLEL",
    orDefault(count),
    "requests that a model answers at a time",
    { default: "4" },
  ),
  /** Context window of a load whose request names none, in tokens. */
  contextLength: forModels(
    "OLLAMA_CONTEXT_LENGTH",
    orDefault(count),
    "context window, if a request names none",
    { standard: "what fits" },
  ),
  /** Memory to leave free, in bytes. */
  gpuOverhead: forModels("OLLAMA_GPU_OVERHEAD", size, "memory to leave free, such as 512MiB", {
    default: "0",
  }),
  /** Memory for models, in bytes. */
  gpuMemory: forModels("QUERN_GPU_MEMORY", orDefault(size), "memory for models, such as 24GB", {
    standard: "what is found",
  }),
  /** The types of keys and values in KV caches. */
  cacheTypes: forModels(
    "OLLAMA_KV_CACHE_TYPE",
    cacheType,
    "f16, q8_0, q4_0; keys/values: q8_0/q4_0",
    { standard: "f16", more: "[what it costs](#the-type-of-the-kv-cache)" },
  ),
  /** Bytes of memory for what leaves the KV caches of models. */
  cacheMemory: forModels("QUERN_CACHE_RAM", size, "memory for idle KV blocks", {
    standard: "1/8 of free, to 8GiB",
    more: "[below](#what-leaves-the-kv-cache)",
  }),
  /** A folder for it on disk, and bytes. */
  cacheDisk: forModels(
    "QUERN_CACHE_DISK",
    folderSize,
    "disk for idle KV blocks: /var/quern:20GiB",
    { more: "[below](#what-leaves-the-kv-cache)" },
  ),
  cache: forModels("QUERN_CACHE", text, "folder of what may be lost", {
    standard: "~/.cache/quern",
  }),
  noBox: forModels("QUERN_NO_BOX", flag, "leave quern:tiny out of the models", OFF),
  /** Whether GPUs are used without timing their kernels. */
  noTuning: forModels("QUERN_NO_TUNING", flag, "do not time a GPU's kernels when idle", OFF),
  /** Whether GPUs are used without being compared with the CPU first. */
  noProof: forModels("QUERN_NO_PROOF", flag, "use a GPU without comparing it with the CPU", {
    ...OFF,
    more: "[devices](#devices)",
  }),
  /** Address of the server of cloud models, with its scheme. */
  cloudHost: forModels(
    "QUERN_CLOUD_HOST",
    server,
    "server of the models whose names end in :cloud",
  ),
  cloudKey: forModels("QUERN_CLOUD_KEY", text, "key for that server", { isSecret: true }),
  cloudApi: forModels("QUERN_CLOUD_API", oneOf("ollama", "openai"), "its API: ollama or openai", {
    standard: "it is asked",
  }),
  /** Hosts that models may be on. If it is empty: all hosts with public addresses. */
  remotes: forModels("OLLAMA_REMOTES", list, "hosts of models with a remote_host", {
    default: "",
    standard: "all public ones",
    more: "with commas between",
  }),
  debug: forModels("OLLAMA_DEBUG", flag, "debug lines in the log", OFF),
  isolation: forModels(
    "QUERN_ISOLATION",
    oneOf<Isolation>("auto", "worker", "process"),
    "where models run: auto, worker or process",
    { default: "auto", more: "[processes](#processes)" },
  ),
  keepUnused: forModels("OLLAMA_NOPRUNE", flag, "keep files that no model uses", OFF),
  /** Whether thinking ends after the budget of a request, or its level. */
  thinkingBudget: forModels(
    "QUERN_THINKING_BUDGET",
    oneOf("enforce", "ignore"),
    "enforce: thinking ends after its budget",
    { default: "ignore" },
  ),
  /** What POST /v1/completions does with a prompt that is a text. */
  completions: forServer(
    "QUERN_COMPLETIONS",
    oneOf("raw", "chat"),
    "chat: /v1/completions answers prompts",
    { default: "raw" },
  ),
  /** Requests that may wait for their first token. */
  maxQueue: forServer(
    "OLLAMA_MAX_QUEUE",
    orDefault(count),
    "requests that may wait for their first token",
    { default: "512", more: "then 503" },
  ),
  origins: forServer("OLLAMA_ORIGINS", list, "further origins of web pages, with commas between", {
    default: "",
    more: "`*` is any text of a name or of a port",
  }),
  hosts: forServer("QUERN_HOSTS", list, "further names that Host may be, likewise", {
    default: "",
    more: "[who may ask](#who-may-ask-and-what-is-asked)",
  }),
  responseCount: forServer("QUERN_RESPONSES", count, "answers of /v1/responses that are kept", {
    default: "1000",
    more: "0: none",
  }),
  /** Most bytes of all of them. */
  responseBytes: forServer("QUERN_RESPONSES_SIZE", size, "bytes that they may take", {
    default: "512MiB",
    more: "the oldest go first",
  }),
  /** How long they are kept, in milliseconds. */
  responseAge: forServer("QUERN_RESPONSES_AGE", duration, "how long they are kept; -1: for ever", {
    default: "720h",
  }),
  /** Whether streams of /v1/messages have Anthropic's error events. */
  anthropicExact: forServer(
    "QUERN_ANTHROPIC_EXACT",
    flag,
    "Anthropic's error events in streams",
    OFF,
  ),
  /** How long JSON may be silent before white space keeps it alive, in milliseconds; 0: for ever. */
  whiteSpaceAfter: forServer(
    "QUERN_WHITE_SPACE_AFTER",
    duration,
    "keep slow JSON alive by white space; 0: do not",
    { default: "20s", more: "[slow answers](operations.md#answers-that-take-long)" },
  ),
  logFormat: forServer(
    "QUERN_LOG",
    oneOf("plain", "json"),
    "json: the log as one JSON object per line",
    { default: "plain" },
  ),
  /** Whether traces and metrics are exported, which Deno itself reads, too. */
  telemetry: forServer(
    "OTEL_DENO",
    flag,
    "traces and metrics by OpenTelemetry",
    { ...OFF, more: "[traces](operations.md#traces)" },
  ),
  /** How long requests have when the server stops, in milliseconds. */
  shutdownTimeout: forServer(
    "QUERN_SHUTDOWN_TIMEOUT",
    duration,
    "how long requests have at the end",
    { default: "5s" },
  ),
  noHistory: forTerminal(
    "OLLAMA_NOHISTORY",
    flag,
    "keep no history of what is typed in `run`",
    OFF,
  ),
  /** Any text: nothing is bold or dim. */
  noColor: forTerminal("NO_COLOR", text, "no bold and dim text"),
};

type Table = typeof SETTINGS;
type Name = keyof Table;

/** The settings that always have a value. */
type NameWithDefault = {
  [N in Name]: Table[N] extends { readonly default: string } ? N : never;
}[Name];

/** The value that a setting's kind reads; `undefined` means its default. */
type ValueOf<S> = S extends { readonly kind: Kind<infer T> } ? Exclude<T, undefined> : never;

/** The values of all settings. Where one is missing, whoever needs it decides. */
export type SettingValues =
  & { -readonly [N in keyof Pick<Table, NameWithDefault>]: ValueOf<Table[N]> }
  & { -readonly [N in keyof Omit<Table, NameWithDefault>]?: ValueOf<Table[N]> };

/** All settings, in the order of the table. */
export const VARIABLES: readonly Setting[] = Object.values(SETTINGS);

/** The values of the settings. An invalid one gives the default here: see {@linkcode faultsOf}. */
export function readValues(environment: Environment): SettingValues {
  const entries = Object.entries<Setting>(SETTINGS).map(([key, setting]) => {
    const { name, kind, default: otherwise } = setting;
    const own = readAs(kind, readVariable(environment, name));
    return [key, own ?? (otherwise === undefined ? undefined : kind.read(otherwise))] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as SettingValues;
}

/** A value that is invalid. */
export interface EnvironmentFault {
  readonly name: string;
  readonly value: string;
  /** The kind of value that it must have. */
  readonly is: string;
}

/** A variable has an invalid value. */
export class EnvironmentError extends Error {
  /** Name of the class. */
  override name = "EnvironmentError";

  /** @param attempt such as "Cannot start the server" */
  constructor(attempt: string, faults: readonly EnvironmentFault[]) {
    const states = faults.map(({ name, value, is }) => `${name} must be ${is}, not "${value}"`);
    super(`${attempt}: ${states.join("; ")}`);
  }
}

/** The text of a variable. Spaces and quotes around it are no part of it, as in Ollama. */
export function readVariable(environment: Environment, name: string): string {
  return (environment[name] ?? "").trim().replace(/^["']+|["']+$/g, "").trim();
}

/** The variables whose values cannot be read. */
export function faultsOf(environment: Environment): EnvironmentFault[] {
  return VARIABLES.flatMap(({ name, kind }) => {
    const value = readVariable(environment, name);
    return value === "" || canRead(kind, value) ? [] : [{ name, value, is: kind.is }];
  });
}

/** @throws {EnvironmentError} if a value cannot be read */
export function checkEnvironment(environment: Environment, attempt: string): void {
  const faults = faultsOf(environment);
  if (faults.length > 0) throw new EnvironmentError(attempt, faults);
}

/** The value of a text; undefined if it is empty, or no such value. */
function readAs<T>(kind: Kind<T>, text: string): T | undefined {
  return text !== "" && canRead(kind, text) ? kind.read(text) : undefined;
}

function canRead({ read }: Kind<unknown>, value: string): boolean {
  try {
    read(value);
    return true;
  } catch {
    return false;
  }
}

/** Makes settings that are read by this, from a name, a kind, the help, and what else there is. */
function settingOf(reader: keyof typeof READERS) {
  return <T, More extends Omit<Partial<Setting>, "name" | "kind" | "help" | "reader"> = object>(
    name: string,
    kind: Kind<T>,
    help: string,
    more: More = {} as More,
  ) => ({ name, kind, help, reader, ...more });
}

function kind<T>(is: string, read: (text: string) => T): Kind<T> {
  return { is, read };
}

/** One of some words, in any case. */
function oneOf<W extends string>(...words: readonly W[]): Kind<W> {
  return kind(`${words.slice(0, -1).join(", ")} or ${words.at(-1)}`, (text) => {
    const found = words.find((word) => word === text.toLowerCase());
    return found ?? refuse(text);
  });
}

function wholeNumber(is: string, least = 0, most = Infinity): Kind<number> {
  return kind(is, (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    return value >= least && value <= most ? value : refuse(text);
  });
}

/** A kind whose 0 means the default. */
function orDefault({ is, read }: Kind<number>): Kind<number | undefined> {
  return kind(is, (text) => read(text) || undefined);
}

function readAddress(text: string) {
  return isHostAddress(text) ? parseHost(text) : refuse(text);
}

function splitList(text: string): string[] {
  return text.split(",").map((item) => item.trim()).filter(Boolean);
}

function refuse(text: string): never {
  throw new RangeError(`"${text}" is none`);
}
