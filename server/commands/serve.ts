// `quern serve`: store, manager and HTTP application behind a port, until a signal comes.

import { ModelManager, ModelStore } from "../../engine/mod.ts";
import { createApp } from "../app.ts";
import { Drain } from "../drain.ts";
import { messageOf } from "../errors.ts";
import { type HostAddress, isLoopback } from "../host.ts";
import { createLog, type Log } from "../log.ts";
import { readSettings } from "../settings.ts";
import { formatDuration } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { VERSION } from "../version.ts";
import type { CliDependencies } from "./dependencies.ts";

/** How long closing models and the port may take before the process leaves all the same. */
const CLOSE_MILLISECONDS = 5000;
/** Longest delay that timers can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Serves until interrupted. Then what runs has QUERN_SHUTDOWN_TIMEOUT to end, while new requests are
 * sent away; a second interrupt does not wait for that, a third one for nothing.
 */
export async function serve(dependencies: CliDependencies): Promise<number> {
  const { open, inspect, terminal, environment } = dependencies;
  const settings = readSettings(environment);
  const { host, models, keepAlive, maxLoaded, maxSequences, contextLength } = settings;
  const { debug, logFormat: format } = settings;
  const log = createLog({ write: terminal.writeError, debug, format });
  const store = new ModelStore({
    folder: models,
    inspect,
    // Who may reach the port from another machine shall not have any file of this one read.
    allowPaths: isLoopback(host.hostname),
    onBroken: (path, error) => log.warn(`left out of the models: ${path}: ${messageOf(error)}`),
  });
  const load = {
    maxSequences,
    ...(contextLength !== undefined && { contextLength }),
  };
  const manager = new ModelManager({
    store,
    open: reportLoads(open, log),
    keepAlive,
    maxLoaded,
    load,
  });
  const drain = new Drain();
  const server = listen(host, (request) => app.fetch(request), log);
  const app = createApp({
    store,
    manager,
    log,
    version: VERSION,
    // The address, not the name: also a name that leads to loopback needs the guard of Host.
    boundTo: server.addr.hostname,
    ownNames: machineNames(),
    origins: settings.origins,
    maxQueue: settings.maxQueue,
    anthropicExact: settings.anthropicExact,
    drain,
    ...(settings.apiKey && { apiKey: settings.apiKey }),
  });
  log.info(`models in ${models}`);
  const stop = async () => {
    log.info(`shutting down: ${drain.running} requests running`);
    await drain.begin();
  };
  const close = async () => {
    // Ends what the models are still saying, and with it the streams that the port would wait for.
    await manager.closeAll();
    await server.shutdown();
  };
  await uponInterrupt(terminal, [[stop, settings.shutdownTimeout], [close, CLOSE_MILLISECONDS]]);
  return 0;
}

type Step = [run: () => Promise<void>, milliseconds: number];

/** Waits for an interrupt, then takes the steps; the time of each, or one more interrupt, ends it. */
async function uponInterrupt(terminal: Terminal, steps: Step[]): Promise<void> {
  const interrupts = Array.from({ length: 1 + steps.length }, () => Promise.withResolvers<void>());
  let count = 0;
  const forget = terminal.onInterrupt(() => interrupts[count++]?.resolve());
  await interrupts[0]!.promise;
  for (const [index, [run, milliseconds]] of steps.entries()) {
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, Math.min(milliseconds, LONGEST_TIMER));
    await Promise.race([run(), timeout.promise, interrupts[index + 1]!.promise]);
    clearTimeout(timer);
  }
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
): Deno.HttpServer<Deno.NetAddr> {
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
