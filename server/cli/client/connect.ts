// Finds the server that a command talks to: the one at OLLAMA_HOST, or, where nothing listens on this
// machine, an application in this process, whose handler is called without a port. And the files of a
// model, for commands that load it themselves.

import type { FileSource } from "../../../engine/mod.ts";
import { assemble } from "../../http/mod.ts";
import type { Log } from "../../log.ts";
import { clientUrl, type HostAddress, isLoopback } from "../../network/host.ts";
import { checkEnvironment } from "../../settings/environment.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import type { CliDependencies } from "../dependencies.ts";
import { showLoadProgress } from "../terminal/live_lines.ts";
import { type Api, ConnectionError, createApi } from "./api.ts";

/** How long a server has to answer the first request, in milliseconds. */
const CONNECT_MILLISECONDS = 10_000;

export interface ConnectOptions {
  /**
   * Whether a server in this process will do. Default true; false for what makes sense only with
   * one that runs already, such as asking which models it has in memory.
   */
  mayStart?: boolean;
  /** Requests that a server in this process answers at a time. Default 1: a command asks one thing. */
  parallel?: number;
}

/**
 * Connects to the server at OLLAMA_HOST, or starts one in this process if the address is this
 * machine's and nothing listens there.
 *
 * @throws {ConnectionError} if there is no server and none may be started
 * @throws {EnvironmentError} if the value of a variable cannot be read
 */
export async function connect(
  dependencies: CliDependencies,
  { mayStart = true, parallel = 1 }: ConnectOptions = {},
): Promise<Api> {
  checkEnvironment(dependencies.environment, "Cannot go on");
  const settings = readSettings(dependencies.environment);
  const { host, apiKey } = settings;
  const url = clientUrl(host);
  const headers: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  const send = (request: Request) => dependencies.fetch(request);

  if (await isListening(dependencies.fetch, url)) {
    return createApi({ inProcess: false, url, headers, send });
  }
  if (!isOfThisMachine(host)) {
    throw new ConnectionError(
      `Cannot reach a server at ${url}: start one there with \`quern serve\`, ` +
        `or unset OLLAMA_HOST to work on this machine`,
    );
  }
  if (!mayStart) {
    throw new ConnectionError(
      `Cannot reach a server at ${url}: start one with \`quern serve\``,
    );
  }
  return startInProcess(dependencies, { ...settings, maxSequences: parallel }, url);
}

/** @throws {ConnectionError} if something listens and does not answer */
async function isListening(fetch: CliDependencies["fetch"], url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/`, { signal: AbortSignal.timeout(CONNECT_MILLISECONDS) });
    await response.body?.cancel();
    return true;
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "TimeoutError")) return false;
    throw new ConnectionError(
      `Cannot reach a server at ${url}: what listens there has not answered within ` +
        `${CONNECT_MILLISECONDS / 1000} seconds; check the address in OLLAMA_HOST and the network`,
    );
  }
}

function isOfThisMachine({ hostname }: HostAddress): boolean {
  return isLoopback(hostname) || hostname === "0.0.0.0" || hostname === "::";
}

function startInProcess(dependencies: CliDependencies, settings: Settings, url: string): Api {
  const { terminal, environment } = dependencies;
  const open: CliDependencies["open"] = async (source, options) => {
    using display = showLoadProgress(terminal, environment);
    return await dependencies.open(source, {
      ...options,
      onProgress(progress) {
        display.update(progress);
        options.onProgress?.(progress);
      },
    });
  };
  const { app, manager } = assemble({
    dependencies: { ...dependencies, open },
    settings,
    log: warningsOnly((text) => terminal.writeError(`Warning: ${text}\n`)),
  });
  return createApi({
    inProcess: true,
    url,
    send: (request) => app.fetch(request),
    close: () => manager.closeAll(),
  });
}

/**
 * A log of warnings alone. Errors of requests come with their answers, and the rest is not for
 * users.
 */
function warningsOnly(warn: Log["warn"]): Log {
  const ignore = () => {};
  return { debug: ignore, info: ignore, warn, error: ignore };
}

/**
 * Where a model of the store, or of a path, is.
 *
 * @throws {ModelNotFoundError} if there is none
 * @throws {Error} if it runs elsewhere
 */
export async function findLocalModel(
  dependencies: CliDependencies,
  name: string,
): Promise<FileSource> {
  const settings = readSettings(dependencies.environment);
  const { store } = assemble({ dependencies, settings, log: warningsOnly(() => {}) });
  const { source } = await store.find(name);
  if (source.kind === "files") return source;
  throw new Error(`Cannot load "${name}": it runs at ${source.host}, not on this machine`);
}
