// `quern serve`: store, manager and HTTP application behind a port, until a signal comes.

import { ModelManager, ModelStore } from "../../engine/mod.ts";
import { createApp } from "../app.ts";
import { messageOf } from "../errors.ts";
import { type HostAddress, isLoopback } from "../host.ts";
import { createLog, type Log } from "../log.ts";
import { readSettings } from "../settings.ts";
import { formatDuration } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { VERSION } from "../version.ts";
import type { CliDependencies } from "./dependencies.ts";

/** How long a shutdown may take before the process leaves all the same. */
const GRACE_MILLISECONDS = 5000;

/** Serves until interrupted; a second interrupt does not wait for the shutdown. */
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

  const server = listen(host, app.fetch, log);
  log.info(`models in ${models}`);
  await interrupted(terminal, log, async () => {
    // Ends what the models are saying, and with it the streams that the port would wait for.
    await manager.closeAll();
    await server.shutdown();
  });
  return 0;
}

/** Waits for an interrupt, then for the shutdown, though not too long and not after a second one. */
async function interrupted(terminal: Terminal, log: Log, shutdown: () => Promise<void>) {
  const { promise: over, resolve: leave } = Promise.withResolvers<void>();
  let grace: ReturnType<typeof setTimeout> | undefined;
  const forget = terminal.onInterrupt(() => {
    if (grace !== undefined) return leave();
    log.info("shutting down");
    grace = setTimeout(leave, GRACE_MILLISECONDS);
    void shutdown().then(leave);
  });
  await over;
  clearTimeout(grace);
  forget();
}

function reportLoads(open: CliDependencies["open"], log: Log): CliDependencies["open"] {
  return async (path, options) => {
    log.info(`loading ${path}`);
    const started = performance.now();
    const model = await open(path, options);
    const duration = formatDuration(performance.now() - started);
    log.info(`loaded ${path} in ${duration}, window of ${model.contextLength} tokens`);
    for (const warning of model.warnings) log.warn(`${path}: ${warning}`);
    return model;
  };
}

function listen(
  { hostname, port }: HostAddress,
  handler: Deno.ServeHandler,
  log: Log,
): Deno.HttpServer {
  const onListen = (address: Deno.NetAddr) => {
    const name = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname;
    log.info(`listening on http://${name}:${address.port}, version ${VERSION}`);
  };
  try {
    return Deno.serve({ hostname, port, onListen }, handler);
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
