// `quern serve`: store, manager and HTTP application behind a port, until a signal comes.

import { ModelManager } from "../../engine/manager.ts";
import { ModelStore } from "../../engine/store.ts";
import { createApp } from "../app.ts";
import { messageOf } from "../errors.ts";
import { type HostAddress, isLoopback } from "../host.ts";
import { createLog, type Log } from "../log.ts";
import { readSettings } from "../settings.ts";
import { formatDuration } from "../terminal/format.ts";
import { VERSION } from "../version.ts";
import type { CliDependencies } from "./dependencies.ts";

/** Serves until interrupted; a second interrupt does not wait for answers under way. */
export async function serve(dependencies: CliDependencies): Promise<number> {
  const { open, inspect, terminal, environment } = dependencies;
  const settings = readSettings(environment);
  const { host, models, keepAlive, maxLoaded, maxSequences, contextLength } = settings;
  const log = createLog({ write: terminal.writeError, debug: settings.debug });
  const store = new ModelStore({
    folder: models,
    inspect,
    // Who may reach the port from another machine shall not have any file of this one read.
    allowPaths: isLoopback(host.hostname),
    onBroken: (path, error) => log.warn(`left out of the models: ${path}: ${messageOf(error)}`),
  });
  const load = {
    ...(maxSequences !== undefined && { maxSequences }),
    ...(contextLength !== undefined && { contextLength }),
  };
  const manager = new ModelManager({
    store,
    open: reportLoads(open, log),
    keepAlive,
    maxLoaded,
    load,
  });
  const app = createApp({
    store,
    manager,
    log,
    version: VERSION,
    boundTo: host.hostname,
    ownNames: machineNames(),
    origins: settings.origins,
    maxQueue: settings.maxQueue,
  });

  const abort = new AbortController();
  const server = listen(host, app.fetch, log, abort.signal);
  log.info(`models in ${models}`);
  let stopping = false;
  const forget = terminal.onInterrupt(async () => {
    if (stopping) return abort.abort();
    stopping = true;
    log.info("shutting down");
    await manager.closeAll();
    await server.shutdown();
  });
  await server.finished;
  forget();
  await manager.closeAll();
  return 0;
}

function reportLoads(open: CliDependencies["open"], log: Log): CliDependencies["open"] {
  return async (path, options) => {
    log.info(`loading ${path}`);
    const started = performance.now();
    const model = await open(path, options);
    const duration = formatDuration(performance.now() - started);
    log.info(`loaded ${path} in ${duration}, window of ${model.contextLength} tokens`);
    return model;
  };
}

function listen(
  { hostname, port }: HostAddress,
  handler: Deno.ServeHandler,
  log: Log,
  signal: AbortSignal,
): Deno.HttpServer {
  const onListen = (address: Deno.NetAddr) => {
    const name = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname;
    log.info(`listening on http://${name}:${address.port}, version ${VERSION}`);
  };
  try {
    return Deno.serve({ hostname, port, signal, onListen }, handler);
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    throw new Error(
      `Cannot listen on ${hostname}:${port}: the address is in use; ` +
        `stop the server that has it, or set OLLAMA_HOST to another port`,
    );
  }
}

function machineNames(): string[] {
  return [Deno.hostname(), ...Deno.networkInterfaces().map(({ address }) => address)];
}
