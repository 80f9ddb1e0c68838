// The sections about what was set: environment variables, with values that cannot be read and names
// that mean nothing, most of which are misspelt; the server that QUERN_CLOUD_HOST names; and the
// program and what it runs on.

import { type Environment, faultsOf, VARIABLES } from "../../settings/environment.ts";
import type { Settings } from "../../settings/settings.ts";
import { nearest } from "../../text/nearest.ts";
import { VERSION } from "../../version.ts";
import { type Host, readDistribution } from "../setup/host.ts";
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

// The section about models that run elsewhere: the server that QUERN_CLOUD_HOST names.

const ANSWER_MILLISECONDS = 5000;

/** Asks the configured server whether it is there; the key is not sent. */
export async function examineCloud(
  fetch: typeof globalThis.fetch,
  settings: Settings,
): Promise<Section> {
  const { cloudHost, cloudKey, cloudApi } = settings;
  const facts = { host: cloudHost ?? null, hasKey: cloudKey !== undefined, api: cloudApi ?? null };
  const finding = cloudHost === undefined
    ? WITHOUT_HOST
    : await hostFinding(fetch, cloudHost, facts);
  return { title: "Models elsewhere", findings: [finding], facts };
}

const WITHOUT_HOST: Finding = {
  mark: "ok",
  subject: "server",
  text: "none: names that end in :cloud need QUERN_CLOUD_HOST",
};

async function hostFinding(
  fetch: typeof globalThis.fetch,
  host: string,
  { hasKey, api }: { hasKey: boolean; api: string | null },
): Promise<Finding> {
  const means = `${hasKey ? "with" : "without"} a key, ${api ? `${api}'s API` : "API as it says"}`;
  try {
    const answer = await fetch(host, { signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
    await answer.body?.cancel();
    return { mark: "ok", subject: "server", text: `${host} answers; ${means}` };
  } catch {
    return {
      mark: "warning",
      subject: "server",
      text: `${host} does not answer; ${means}`,
      todo: { text: "Check the address in QUERN_CLOUD_HOST, the network, and that server." },
    };
  }
}

// The section about the program itself and what it runs on.

const SYSTEMS: Partial<Record<typeof Deno.build.os, string>> = {
  darwin: "macOS",
  linux: "Linux",
  windows: "Windows",
};

/** Versions of Quern, of Deno and of the system. */
export async function examineProgram(host: Host): Promise<Section> {
  const distribution = await readDistribution(host);
  const facts = {
    version: VERSION,
    deno: Deno.version.deno,
    os: host.os,
    release: Deno.osRelease(),
    architecture: Deno.build.arch,
    ...(distribution && { distribution: `${distribution.id} ${distribution.codename}`.trim() }),
  };
  const name = `${SYSTEMS[host.os] ?? host.os} ${facts.release} on ${facts.architecture}`;
  return {
    title: "Program",
    findings: [
      { mark: "ok", subject: "Quern", text: VERSION },
      { mark: "ok", subject: "Deno", text: facts.deno },
      {
        mark: "ok",
        subject: "system",
        text: facts.distribution ? `${name}, ${facts.distribution}` : name,
      },
    ],
    facts,
  };
}
