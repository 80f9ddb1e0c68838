// The section about environment variables: those that are set, values that cannot be read, and names
// that mean nothing, most of which are misspelt.

import { environmentVariables } from "../commands/environment_help.ts";
import { parseByteSize } from "../byte_size.ts";
import { parseDuration } from "../duration.ts";
import type { Environment } from "../settings.ts";
import { mostSimilar } from "./similar.ts";
import type { Finding, Section } from "./types.ts";

const PREFIX = /^(?:OLLAMA|QUERN)_/i;

/** Those that the help leaves out. */
const FURTHER = ["QUERN_ANTHROPIC_EXACT", "QUERN_NO_SETUP"];

/** Ollama's own that mean nothing here, since what they choose is chosen by itself or not there. */
const WITHOUT_EFFECT = [
  "OLLAMA_AUTH",
  "OLLAMA_EDITOR",
  "OLLAMA_FLASH_ATTENTION",
  "OLLAMA_INTEL_GPU",
  "OLLAMA_KV_CACHE_TYPE",
  "OLLAMA_LIBRARY_PATH",
  "OLLAMA_LLM_LIBRARY",
  "OLLAMA_MULTIUSER_CACHE",
  "OLLAMA_NEW_ENGINE",
  "OLLAMA_NO_CLOUD",
  "OLLAMA_RUNNERS_DIR",
  "OLLAMA_SCHED_SPREAD",
  "OLLAMA_TMPDIR",
  "OLLAMA_VULKAN",
];

const SECRETS = ["QUERN_API_KEY", "QUERN_CLOUD_KEY"];

/** How a value is read where not every text is one, and what it should be. */
const KINDS: Record<string, { read: (text: string) => unknown; is: string }> = {
  ...kind(["OLLAMA_KEEP_ALIVE", "OLLAMA_LOAD_TIMEOUT", "QUERN_SHUTDOWN_TIMEOUT"], {
    read: parseDuration,
    is: "a duration such as 90s, 5m or 1h30m",
  }),
  ...kind(["OLLAMA_GPU_OVERHEAD", "QUERN_GPU_MEMORY"], {
    read: parseByteSize,
    is: "a size such as 512MiB or 24GB",
  }),
  ...kind(
    [
      "OLLAMA_MAX_LOADED_MODELS",
      "OLLAMA_NUM_PARALLEL",
      "OLLAMA_CONTEXT_LENGTH",
      "OLLAMA_MAX_QUEUE",
    ],
    { read: matching(/^\d+$/), is: "a whole number" },
  ),
  ...kind(["QUERN_CLOUD_API"], { read: matching(/^(?:ollama|openai)$/i), is: "ollama or openai" }),
};

/** Looks at the variables that begin with OLLAMA_ or QUERN_. */
export function examineEnvironment(environment: Environment): Section {
  const set = Object.entries(environment).filter(([name, value]) => PREFIX.test(name) && value);
  const findings = set.sort().map(([name, value]) => findingOf(name, value!));
  const none: Finding = { mark: "ok", subject: "variables", text: "none of Quern's is set" };
  return {
    title: "Environment",
    findings: findings.length > 0 ? findings : [none],
    facts: {
      variables: Object.fromEntries(set.map(([name, value]) => [name, shown(name, value!)])),
    },
  };
}

function findingOf(name: string, value: string): Finding {
  const known = [...environmentVariables.map(([name]) => name), ...FURTHER];
  if (WITHOUT_EFFECT.includes(name)) {
    return { mark: "ok", subject: name, text: "is Ollama's and has no effect here" };
  }
  if (!known.includes(name)) return unknown(name, mostSimilar(name.toUpperCase(), known));
  const expected = KINDS[name];
  if (!expected || canRead(expected.read, value)) {
    return { mark: "ok", subject: name, text: shown(name, value) };
  }
  return {
    mark: "warning",
    subject: name,
    text: `"${value}" cannot be read, so the default holds`,
    todo: { text: `Set ${name} to ${expected.is}.` },
  };
}

function unknown(name: string, similar: string | undefined): Finding {
  return {
    mark: "warning",
    subject: name,
    text: similar ? `is not known: ${similar} is` : "is not known, and has no effect",
    ...(similar && { todo: { text: `Write ${similar} instead of ${name}.` } }),
  };
}

function shown(name: string, value: string): string {
  return SECRETS.includes(name) ? "set, and not shown" : value;
}

/** Spaces and quotes around a value are no part of it, as in settings.ts. */
function canRead(read: (text: string) => unknown, value: string): boolean {
  try {
    read(value.trim().replace(/^["']+|["']+$/g, "").trim());
    return true;
  } catch {
    return false;
  }
}

function matching(pattern: RegExp): (text: string) => void {
  return (text) => {
    if (!pattern.test(text)) throw new RangeError(`"${text}" does not match ${pattern}`);
  };
}

function kind<T>(names: string[], value: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, value]));
}
