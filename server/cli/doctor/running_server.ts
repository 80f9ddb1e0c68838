// The section about the server at OLLAMA_HOST: whether it is Quern's, another one, or something that
// only has the port.

import { clientUrl, isLoopback } from "../../network/host.ts";
import type { Settings } from "../../settings/settings.ts";
import { VERSION } from "../../version.ts";
import type { OllamaProcess, Version } from "../client/mod.ts";
import type { Finding, Machine, Section, Todo } from "./types.ts";

const ANSWER_MILLISECONDS = 5000;

/** The findings at the address. */
export interface ServerState {
  section: Section;
  /** Models that it has in memory, if it is on this machine. */
  loaded: OllamaProcess[];
}

type Ask = (path: string) => Promise<Response | undefined>;

/** Asks the server that commands talk to. */
export async function examineServer(
  fetch: typeof globalThis.fetch,
  settings: Settings,
  { isPortOpen }: Pick<Machine, "isPortOpen">,
): Promise<ServerState> {
  const { host, apiKey } = settings;
  const url = clientUrl(host);
  const headers: HeadersInit = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  const ask: Ask = (path) => {
    const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
    return fetch(url + path, { headers, signal }).catch(() => undefined);
  };
  const isHere = isLoopback(host.hostname) || ["0.0.0.0", "::"].includes(host.hostname);
  const answer = await ask("/api/version");
  const state = (
    finding: Finding,
    facts: Record<string, unknown>,
    loaded: OllamaProcess[] = [],
  ) => ({
    section: { title: "Server", findings: [finding], facts: { url, ...facts } },
    loaded,
  });

  if (!answer) {
    const { hostname } = new URL(url);
    const isTaken = await isPortOpen({ ...host, hostname: hostname.replace(/^\[|\]$/g, "") });
    if (isTaken) return state(otherProgram(url, "does not answer"), { state: "taken" });
    return state(isHere ? noServer(url) : unreachable(url), { state: "none" });
  }
  if (answer.status === 401 || answer.status === 403) {
    await answer.body?.cancel();
    return state(locked(url, apiKey !== undefined), { state: "locked" });
  }
  const told: Partial<Version> = await answer.json().catch(() => undefined) ?? {};
  const version = told.quern_version ?? told.version;
  if (typeof version !== "string") {
    return state(otherProgram(url, "has no Ollama API"), { state: "taken" });
  }
  const isQuern = told.quern_version !== undefined;
  const processes = isHere ? await memberOf(await ask("/api/ps"), "models") : undefined;
  const loaded = Array.isArray(processes) ? processes as OllamaProcess[] : [];
  const program = isQuern ? "quern" : "other";
  return state(serverFinding(url, isQuern, version), { state: program, version }, loaded);
}

/** A member of an answer's JSON object; undefined if there is none. */
async function memberOf(answer: Response | undefined, name: string): Promise<unknown> {
  const value = await answer?.json().catch(() => undefined);
  return value?.[name];
}

function serverFinding(url: string, isQuern: boolean, version: string): Finding {
  if (!isQuern) {
    return warning(`${url} is Ollama's or another one, version ${version}: commands talk to it`, {
      text: "To have Quern's engine beside it, give Quern an address of its own.",
      command: "OLLAMA_HOST=127.0.0.1:11435 quern serve",
    });
  }
  if (version === VERSION) return ok(`${url} runs, version ${version}`);
  return warning(`${url} runs, but with version ${version}: this is ${VERSION}`, {
    text: "End the server with Ctrl-C and start it again.",
    command: "quern serve",
  });
}

function noServer(url: string): Finding {
  return ok(`none at ${url}: commands load models themselves, until \`quern serve\` runs`);
}

function unreachable(url: string): Finding {
  return problem(`none can be reached at ${url}`, {
    text: "Start one there with `quern serve`, or unset OLLAMA_HOST to work on this machine.",
  });
}

function locked(url: string, hasKey: boolean): Finding {
  return problem(`${url} refuses ${hasKey ? "the key in QUERN_API_KEY" : "who has no key"}`, {
    text: "Set QUERN_API_KEY to the key that the server was started with.",
  });
}

function otherProgram(url: string, what: string): Finding {
  return problem(`${url} is taken by a program that ${what}`, {
    text: "End that program, or give Quern another port, for `quern serve` and all commands.",
    command: "export OLLAMA_HOST=127.0.0.1:11435",
  });
}

function ok(text: string): Finding {
  return { mark: "ok", subject: "server", text };
}

function warning(text: string, todo: Todo): Finding {
  return { mark: "warning", subject: "server", text, todo };
}

function problem(text: string, todo: Todo): Finding {
  return { mark: "problem", subject: "server", text, todo };
}
