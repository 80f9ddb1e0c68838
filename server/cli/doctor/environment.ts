// The section about environment variables: those that are set, values that cannot be read, and names
// that mean nothing, most of which are misspelt.

import { type Environment, faultsOf, VARIABLES } from "../../settings/environment.ts";
import { nearest } from "../../text/nearest.ts";
import type { Finding, Section } from "./types.ts";

/** The most wrong letters in a name for which another one is suggested: these names are long. */
const MOST_CHANGES = 3;

const PREFIX = /^(?:OLLAMA|QUERN)_/i;

/** Variables of Ollama that have no effect here. */
const WITHOUT_EFFECT = [
  "OLLAMA_AUTH",
  "OLLAMA_EDITOR",
  "OLLAMA_FLASH_ATTENTION",
  "OLLAMA_INTEL_GPU",
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
  const known = VARIABLES.map(({ name }) => name);
  if (WITHOUT_EFFECT.includes(name)) {
    return { mark: "ok", subject: name, text: "is Ollama's and has no effect here" };
  }
  if (!known.includes(name)) return unknown(name, nearest(name.toUpperCase(), known, MOST_CHANGES));
  const [fault] = faultsOf({ [name]: value });
  if (!fault) return { mark: "ok", subject: name, text: shown(name, value) };
  return {
    mark: "problem",
    subject: name,
    text: `"${value}" cannot be read`,
    todo: { text: `Set ${name} to ${fault.is}.` },
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
  return VARIABLES.find((variable) => variable.name === name)?.isSecret
    ? "set, and not shown"
    : value;
}
