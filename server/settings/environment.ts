// The environment variables of the program in one table: what they do, for the help texts, and how
// their values are read, for the doctor and for commands that refuse invalid ones. settings.ts
// turns them into settings.

import { DEVICE_KINDS, readRemoteHost } from "../../engine/mod.ts";
import { parseByteSize, parseCacheType, parseDuration, parseFolderSize } from "./quantities.ts";
import { isHostAddress } from "../network/host.ts";

/** Environment variables by name. */
export type Environment = Record<string, string | undefined>;

/** A variable. */
export interface Variable {
  readonly name: string;
  /** For the help, with the default in brackets. */
  readonly effect: string;
  /** The kind of its value. Default: any text. */
  readonly kind?: Kind;
  /** Whether its value is secret, and never shown. */
  readonly isSecret?: boolean;
}

/** A kind of value. */
export interface Kind {
  /** Such as "a whole number". */
  readonly is: string;
  /** @throws {Error} if the text is no such value */
  readonly read: (text: string) => unknown;
}

const duration: Kind = { is: "a duration such as 90s, 5m or 1h30m", read: parseDuration };
const size: Kind = { is: "a size such as 512MiB or 24GB", read: parseByteSize };
const folderSize: Kind = {
  is: "a folder and a size such as /var/cache/quern:20GiB",
  read: parseFolderSize,
};
const cacheType: Kind = {
  is: "f16, q8_0 or q4_0, or one for keys and one for values such as q8_0/q4_0",
  read: parseCacheType,
};
const count: Kind = { is: "a whole number", read: matching(/^\d+$/) };
const address: Kind = { is: "an address such as 127.0.0.1:11434", read: require(isHostAddress) };
const server: Kind = { is: "an address such as https://ollama.com", read: readRemoteHost };
const api = oneOf("ollama", "openai");
const isolation = oneOf("auto", "worker", "process");
const device = oneOf("auto", ...DEVICE_KINDS);
const budget = oneOf("enforce", "ignore");
const threads: Kind = { is: "a whole number from 1 to 1024", read: requireWithin(1, 1024) };
const log = oneOf("plain", "json");

/** In the order of the help. */
export const VARIABLES: readonly Variable[] = [
  { name: "OLLAMA_HOST", effect: "where to serve and to ask (127.0.0.1:11434)", kind: address },
  {
    name: "QUERN_DEVICE",
    effect: `what computes: ${device.is} (auto)`,
    kind: device,
  },
  { name: "QUERN_GPU", effect: "the GPU to use, by a part of its name (the fastest)" },
  {
    name: "QUERN_THREADS",
    effect: "threads that compute on the CPU (physical cores)",
    kind: threads,
  },
  { name: "OLLAMA_MODELS", effect: "folder of the models (~/.ollama/models)" },
  { name: "QUERN_MODELS", effect: "the same, and goes before it" },
  {
    name: "OLLAMA_KEEP_ALIVE",
    effect: "how long an idle model stays (5m); -1 for ever",
    kind: duration,
  },
  { name: "OLLAMA_LOAD_TIMEOUT", effect: "how long a load may stand still (5m)", kind: duration },
  {
    name: "OLLAMA_MAX_LOADED_MODELS",
    effect: "models in memory at a time (as many as fit)",
    kind: count,
  },
  {
    name: "OLLAMA_NUM_PARALLEL",
    effect: "requests that a model answers at a time (4)",
    kind: count,
  },
  {
    name: "OLLAMA_CONTEXT_LENGTH",
    effect: "context window in tokens, if a request names none",
    kind: count,
  },
  {
    name: "OLLAMA_GPU_OVERHEAD",
    effect: "memory to leave free, such as 512MiB (0)",
    kind: size,
  },
  {
    name: "QUERN_GPU_MEMORY",
    effect: "memory for models, such as 24GB (what is found)",
    kind: size,
  },
  {
    name: "OLLAMA_KV_CACHE_TYPE",
    effect: "f16, q8_0, q4_0; keys/values: q8_0/q4_0 (f16)",
    kind: cacheType,
  },
  {
    name: "QUERN_CACHE_RAM",
    effect: "memory for idle KV blocks (1/8 of free, to 8GiB)",
    kind: size,
  },
  {
    name: "QUERN_CACHE_DISK",
    effect: "the same on disk, such as /var/quern:20GiB (none)",
    kind: folderSize,
  },
  {
    name: "QUERN_ISOLATION",
    effect: "where models run: auto, worker or process (auto)",
    kind: isolation,
  },
  { name: "OLLAMA_MAX_QUEUE", effect: "requests that may wait (512)", kind: count },
  { name: "OLLAMA_ORIGINS", effect: "further origins of web pages, with commas between" },
  { name: "QUERN_HOSTS", effect: "further names that Host may be, likewise" },
  { name: "QUERN_CACHE", effect: "folder of what may be lost (~/.cache/quern)" },
  {
    name: "QUERN_RESPONSES",
    effect: "answers of /v1/responses that are kept (1000)",
    kind: count,
  },
  { name: "QUERN_RESPONSES_SIZE", effect: "bytes that they may take (512MiB)", kind: size },
  {
    name: "QUERN_RESPONSES_AGE",
    effect: "how long they are kept (720h)",
    kind: duration,
  },
  { name: "OLLAMA_NOPRUNE", effect: "keep files that no model uses" },
  { name: "QUERN_NO_BOX", effect: "leave quern:tiny out of the models" },
  { name: "QUERN_NO_TUNING", effect: "do not time a GPU's kernels when idle" },
  { name: "QUERN_NO_PROOF", effect: "use a GPU without comparing it with the CPU" },
  { name: "OLLAMA_NOHISTORY", effect: "keep no history of what is typed in `run`" },
  { name: "OLLAMA_DEBUG", effect: "debug lines in the server's log" },
  { name: "QUERN_LOG", effect: "json: the log as one JSON object per line", kind: log },
  {
    name: "QUERN_API_KEY",
    effect: "key that the server asks for, and commands send",
    isSecret: true,
  },
  {
    name: "QUERN_CLOUD_HOST",
    effect: "server of the models whose names end in :cloud",
    kind: server,
  },
  { name: "QUERN_CLOUD_KEY", effect: "key for that server", isSecret: true },
  { name: "QUERN_CLOUD_API", effect: "ollama or openai: its API (it is asked)", kind: api },
  { name: "OLLAMA_REMOTES", effect: "hosts of models with a remote_host (all public ones)" },
  {
    name: "QUERN_ANTHROPIC_EXACT",
    effect: "Anthropic's error events in streams",
  },
  {
    name: "QUERN_THINKING_BUDGET",
    effect: "enforce: thinking ends after its budget (ignore)",
    kind: budget,
  },
  {
    name: "QUERN_SHUTDOWN_TIMEOUT",
    effect: "how long requests have at the end (5s)",
    kind: duration,
  },
  { name: "NO_COLOR", effect: "no bold and dim text" },
];

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
    return !kind || value === "" || canRead(kind, value) ? [] : [{ name, value, is: kind.is }];
  });
}

/** @throws {EnvironmentError} if a value cannot be read */
export function checkEnvironment(environment: Environment, attempt: string): void {
  const faults = faultsOf(environment);
  if (faults.length > 0) throw new EnvironmentError(attempt, faults);
}

function canRead({ read }: Kind, value: string): boolean {
  try {
    read(value);
    return true;
  } catch {
    return false;
  }
}

/** One of some words, in any case. */
function oneOf(...words: readonly string[]): Kind {
  return {
    is: `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`,
    read: require((text) => words.includes(text.toLowerCase())),
  };
}

function matching(pattern: RegExp): (text: string) => void {
  return require((text) => pattern.test(text));
}

function requireWithin(least: number, most: number): (text: string) => void {
  return require((text) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most);
}

function require(isRight: (text: string) => boolean): (text: string) => void {
  return (text) => {
    if (!isRight(text)) throw new RangeError(`"${text}" is none`);
  };
}
