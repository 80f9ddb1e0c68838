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

/** A setting. */
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
const OFF = { kind: flag, default: "0", standard: "off" } as const;

/** All settings, by their names in the program. */
export const SETTINGS = {
  /** Where the server listens, and where commands find it. */
  host: {
    name: "OLLAMA_HOST",
    kind: address,
    default: "127.0.0.1:11434",
    help: "where to serve and to ask",
    reader: "all",
  },
  /** Key of requests. */
  apiKey: {
    name: "QUERN_API_KEY",
    kind: text,
    help: "key that the server asks for, and commands send",
    more: "the page and health need none",
    reader: "all",
    isSecret: true,
  },
  /** What computes. The device itself reads it. */
  device: {
    name: "QUERN_DEVICE",
    kind: device,
    default: "auto",
    help: `what computes: ${device.is}`,
    more: "[devices](#devices)",
    reader: "models",
  },
  /** The GPU to use. The device itself reads it. */
  gpu: {
    name: "QUERN_GPU",
    kind: text,
    standard: "the fastest",
    help: "the GPU to use, by a part of its name",
    more: "[devices](#devices)",
    reader: "models",
  },
  /** Threads that compute. The device itself reads it. */
  threads: {
    name: "QUERN_THREADS",
    kind: threads,
    standard: "physical cores",
    help: "threads that compute on the CPU",
    reader: "models",
  },
  /** Folder of the models. */
  ollamaModels: {
    name: "OLLAMA_MODELS",
    kind: text,
    standard: "~/.ollama/models",
    help: "folder of the models",
    reader: "models",
  },
  /** The folder of the models, which goes before OLLAMA_MODELS. */
  models: {
    name: "QUERN_MODELS",
    kind: text,
    help: "folder of the models, before OLLAMA_MODELS",
    reader: "models",
  },
  /** How long an idle model stays in memory, in milliseconds. */
  keepAlive: {
    name: "OLLAMA_KEEP_ALIVE",
    kind: duration,
    default: "5m",
    help: "how long an idle model stays; -1: for ever",
    reader: "models",
  },
  /** How long a load may stand still, in milliseconds. */
  loadTimeout: {
    name: "OLLAMA_LOAD_TIMEOUT",
    kind: orDefault(duration),
    default: "5m",
    help: "how long a load may stand still",
    reader: "models",
  },
  /** Most models in memory; 0: as many as fit. */
  maxLoaded: {
    name: "OLLAMA_MAX_LOADED_MODELS",
    kind: count,
    default: "0",
    standard: "as many as fit",
    help: "models in memory at a time",
    reader: "models",
  },
  /** Sequences of a model that run at the same time. */
  maxSequences: {
    name: "OLLAMA_NUM_PARALLEL",
    kind: orDefault(count),
    default: "4",
    help: "requests that a model answers at a time",
    reader: "models",
  },
  /** Context window of a load whose request names none, in tokens. */
  contextLength: {
    name: "OLLAMA_CONTEXT_LENGTH",
    kind: orDefault(count),
    standard: "what fits",
    help: "context window, if a request names none",
    reader: "models",
  },
  /** Memory to leave free, in bytes. */
  gpuOverhead: {
    name: "OLLAMA_GPU_OVERHEAD",
    kind: size,
    default: "0",
    help: "memory to leave free, such as 512MiB",
    reader: "models",
  },
  /** Memory for models, in bytes. */
  gpuMemory: {
    name: "QUERN_GPU_MEMORY",
    kind: orDefault(size),
    standard: "what is found",
    help: "memory for models, such as 24GB",
    reader: "models",
  },
  /** The types of keys and values in KV caches. */
  cacheTypes: {
    name: "OLLAMA_KV_CACHE_TYPE",
    kind: cacheType,
    standard: "f16",
    help: "f16, q8_0, q4_0; keys/values: q8_0/q4_0",
    more: "[what it costs](#the-type-of-the-kv-cache)",
    reader: "models",
  },
  /** Bytes of memory for what leaves the KV caches of models. */
  cacheMemory: {
    name: "QUERN_CACHE_RAM",
    kind: size,
    standard: "1/8 of free, to 8GiB",
    help: "memory for idle KV blocks",
    more: "[below](#what-leaves-the-kv-cache)",
    reader: "models",
  },
  /** A folder for it on disk, and bytes. */
  cacheDisk: {
    name: "QUERN_CACHE_DISK",
    kind: folderSize,
    help: "disk for idle KV blocks: /var/quern:20GiB",
    more: "[below](#what-leaves-the-kv-cache)",
    reader: "models",
  },
  /** Folder of caches, whose files may be lost. */
  cache: {
    name: "QUERN_CACHE",
    kind: text,
    standard: "~/.cache/quern",
    help: "folder of what may be lost",
    reader: "models",
  },
  /** Whether the model in the box is left out. */
  noBox: {
    name: "QUERN_NO_BOX",
    ...OFF,
    help: "leave quern:tiny out of the models",
    reader: "models",
  },
  /** Whether GPUs are used without timing their kernels. */
  noTuning: {
    name: "QUERN_NO_TUNING",
    ...OFF,
    help: "do not time a GPU's kernels when idle",
    reader: "models",
  },
  /** Whether GPUs are used without being compared with the CPU first. */
  noProof: {
    name: "QUERN_NO_PROOF",
    ...OFF,
    help: "use a GPU without comparing it with the CPU",
    more: "[devices](#devices)",
    reader: "models",
  },
  /** Address of the server of cloud models, with its scheme. */
  cloudHost: {
    name: "QUERN_CLOUD_HOST",
    kind: server,
    help: "server of the models whose names end in :cloud",
    reader: "models",
  },
  /** The key that it wants. */
  cloudKey: {
    name: "QUERN_CLOUD_KEY",
    kind: text,
    help: "key for that server",
    reader: "models",
    isSecret: true,
  },
  /** The API that it has. */
  cloudApi: {
    name: "QUERN_CLOUD_API",
    kind: oneOf("ollama", "openai"),
    standard: "it is asked",
    help: "its API: ollama or openai",
    reader: "models",
  },
  /** Hosts that models may be on. If it is empty: all hosts with public addresses. */
  remotes: {
    name: "OLLAMA_REMOTES",
    kind: list,
    default: "",
    standard: "all public ones",
    help: "hosts of models with a remote_host",
    more: "with commas between",
    reader: "models",
  },
  /** Whether the log has debug lines. */
  debug: {
    name: "OLLAMA_DEBUG",
    ...OFF,
    help: "debug lines in the log",
    reader: "models",
  },
  /** The place where models run. */
  isolation: {
    name: "QUERN_ISOLATION",
    kind: oneOf<Isolation>("auto", "worker", "process"),
    default: "auto",
    help: "where models run: auto, worker or process",
    more: "[processes](#processes)",
    reader: "models",
  },
  /** Whether files that no model uses are kept. */
  keepUnused: {
    name: "OLLAMA_NOPRUNE",
    ...OFF,
    help: "keep files that no model uses",
    reader: "models",
  },
  /** Whether thinking ends after the budget of a request, or its level. */
  thinkingBudget: {
    name: "QUERN_THINKING_BUDGET",
    kind: oneOf("enforce", "ignore"),
    default: "ignore",
    help: "enforce: thinking ends after its budget",
    reader: "models",
  },
  /** What POST /v1/completions does with a prompt that is a text. */
  completions: {
    name: "QUERN_COMPLETIONS",
    kind: oneOf("raw", "chat"),
    default: "raw",
    help: "chat: /v1/completions answers prompts",
    reader: "server",
  },
  /** Requests that may wait for their first token. */
  maxQueue: {
    name: "OLLAMA_MAX_QUEUE",
    kind: orDefault(count),
    default: "512",
    help: "requests that may wait for their first token",
    more: "then 503",
    reader: "server",
  },
  /** Further origins of web pages. */
  origins: {
    name: "OLLAMA_ORIGINS",
    kind: list,
    default: "",
    help: "further origins of web pages, with commas between",
    more: "`*` is any text of a name or of a port",
    reader: "server",
  },
  /** Names that Host may be, besides those of the machine. */
  hosts: {
    name: "QUERN_HOSTS",
    kind: list,
    default: "",
    help: "further names that Host may be, likewise",
    more: "[who may ask](#who-may-ask-and-what-is-asked)",
    reader: "server",
  },
  /** Most answers of /v1/responses that are kept. */
  responseCount: {
    name: "QUERN_RESPONSES",
    kind: count,
    default: "1000",
    help: "answers of /v1/responses that are kept",
    more: "0: none",
    reader: "server",
  },
  /** Most bytes of all of them. */
  responseBytes: {
    name: "QUERN_RESPONSES_SIZE",
    kind: size,
    default: "512MiB",
    help: "bytes that they may take",
    more: "the oldest go first",
    reader: "server",
  },
  /** How long they are kept, in milliseconds. */
  responseAge: {
    name: "QUERN_RESPONSES_AGE",
    kind: duration,
    default: "720h",
    help: "how long they are kept; -1: for ever",
    reader: "server",
  },
  /** Whether streams of /v1/messages have Anthropic's error events. */
  anthropicExact: {
    name: "QUERN_ANTHROPIC_EXACT",
    ...OFF,
    help: "Anthropic's error events in streams",
    reader: "server",
  },
  /** How long JSON may be silent before white space keeps it alive, in milliseconds; 0: for ever. */
  whiteSpaceAfter: {
    name: "QUERN_WHITE_SPACE_AFTER",
    kind: duration,
    default: "20s",
    help: "keep slow JSON alive by white space; 0: do not",
    more: "[slow answers](operations.md#answers-that-take-long)",
    reader: "server",
  },
  /** How the log is written. */
  logFormat: {
    name: "QUERN_LOG",
    kind: oneOf("plain", "json"),
    default: "plain",
    help: "json: the log as one JSON object per line",
    reader: "server",
  },
  /** How long requests have when the server stops, in milliseconds. */
  shutdownTimeout: {
    name: "QUERN_SHUTDOWN_TIMEOUT",
    kind: duration,
    default: "5s",
    help: "how long requests have at the end",
    reader: "server",
  },
  /** Whether no history is kept of what is typed. */
  noHistory: {
    name: "OLLAMA_NOHISTORY",
    ...OFF,
    help: "keep no history of what is typed in `run`",
    reader: "terminal",
  },
  /** Any text: nothing is bold or dim. */
  noColor: {
    name: "NO_COLOR",
    kind: text,
    help: "no bold and dim text",
    reader: "terminal",
  },
} as const satisfies Record<string, Setting>;

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
