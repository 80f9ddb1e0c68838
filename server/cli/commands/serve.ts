// `quern serve`: store, manager and HTTP application behind a port, until a signal comes.

import type { ModelStore } from "../../../engine/mod.ts";
import {
  assemble,
  Drain,
  type Handler,
  HttpServer,
  isUrgent,
  Preload,
  Telemetry,
} from "../../http/mod.ts";
import { createLog, type Log, messageOf } from "../../log.ts";
import { LogWriter } from "../../log_writer.ts";
import { KeyRing } from "../../keys/mod.ts";

import { clientUrl, type HostAddress } from "../../network/host.ts";
import { readSettings } from "../../settings/settings.ts";
import { formatBytes, formatDuration, type Terminal } from "../terminal/mod.ts";
import { VERSION } from "../../version.ts";
import type { CliDependencies } from "../dependencies.ts";
import { examine, localMachine } from "../doctor/mod.ts";
import { checkEnvironment } from "../../settings/environment.ts";

/** How long closing models and the port may take before the process exits anyway, in milliseconds. */
const CLOSE_MILLISECONDS = 5000;
/** Longest delay that timers can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Options of the command line. */
export interface ServeOptions {
  open?: boolean;
}

/** Programs that open a page in the browser, with the arguments before its address. */
const OPENERS: Record<string, [string, ...string[]]> = {
  darwin: ["open"],
  windows: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Serves until interrupted. Then running requests have QUERN_SHUTDOWN_TIMEOUT to end, while new
 * ones are refused. A second interrupt does not wait for them, a third one ends the process at
 * once.
 *
 * @throws {EnvironmentError} if the value of a variable cannot be read
 */
export async function serve(
  dependencies: CliDependencies,
  { open: opensPage = false }: ServeOptions = {},
): Promise<number> {
  const { open, terminal, environment } = dependencies;
  checkEnvironment(environment, "Cannot start the server");
  const settings = readSettings(environment);
  const { host, models, debug, logFormat: format } = settings;
  const writer = new LogWriter(
    terminal.writeErrorBytes,
    (lines) => log.warn(`${lines} lines of the log before this one could not be written`),
  );
  const log = createLog({ write: (line) => writer.add(line), debug, format });
  const keys = new KeyRing({ ownerKey: settings.apiKey, file: settings.keyFile, warn: log.warn });
  await keys.open();
  const telemetry = settings.telemetry ? new Telemetry() : undefined;
  if (telemetry && !telemetry.isExporting) {
    log.warn(
      "no traces are exported: OTEL_DENO must be true, for an executable when it is compiled, too",
    );
  }
  const drain = new Drain();
  const preload = new Preload(settings.preload);
  const server = listen(host, (request) => app.fetch(request), log);
  const { app, manager, store, responses } = assemble({
    dependencies: { ...dependencies, open: reportLoads(open, log) },
    settings,
    log,
    port: {
      boundTo: server.addr.hostname,
      ownNames: machineNames(),
      drain,
      preload,
      lostLogLines: () => writer.lost,
      keys,
      ...(telemetry && { telemetry }),
      examine: () => Array.fromAsync(examine(dependencies, localMachine())),
    },
  });
  log.info(`models in ${models}`);
  if (opensPage) void openPage(dependencies, pageAddress(server.addr), log);
  void preload.run(manager, log);
  // Beside the requests, and the wait for an interrupt, which may come at once.
  const cleaning = Promise.all([
    settings.keepUnused ? undefined : cleanUp(store, log),
    responses?.trim().catch((error) => log.warn(`kept responses: ${messageOf(error)}`)),
  ]);
  const stop = async () => {
    log.info(`shutting down: ${drain.running} requests running`);
    await drain.begin();
  };
  const close = async () => {
    // Ends the answers that are still being generated, and thereby the streams that the port would
    // wait for.
    await manager.closeAll();
    // Answers that are made in the background are kept with the word that they were ended.
    await Promise.all([cleaning, server.shutdown(), drain.begin()]);
  };
  await uponInterrupt(terminal, [[stop, settings.shutdownTimeout], [close, CLOSE_MILLISECONDS]]);
  await writer.flush();
  return 0;
}

/** Most files that a line of the log names. */
const MOST_NAMED = 8;

/** Removes files that interrupted pulls and creations have left. */
async function cleanUp(store: ModelStore, log: Log): Promise<void> {
  const { removed, bytes, skipped, kept } = await store.prune();
  if (skipped) log.warn(skipped);
  if (kept && kept.names.length > 0) {
    const named = kept.names.slice(0, MOST_NAMED).join(", ");
    const rest = kept.names.length > MOST_NAMED
      ? ` and ${kept.names.length - MOST_NAMED} more`
      : "";
    log.warn(
      `kept, though no manifest in sight names them: ${named}${rest}, ${formatBytes(kept.bytes)}`,
    );
  }
  if (removed > 0) log.info(`removed ${removed} unused files of ${formatBytes(bytes)}`);
}

/** The address at which a browser on this machine finds the server. */
function pageAddress({ hostname, port }: Deno.NetAddr): string {
  return clientUrl({ scheme: "http", hostname, port });
}

/** Opens the page, or says where it is. */
async function openPage({ spawn }: CliDependencies, url: string, log: Log): Promise<void> {
  const [program, ...args] = OPENERS[Deno.build.os] ?? ["xdg-open"];
  try {
    if (await spawn?.(program, [...args, url], {}) === 0) return;
    log.warn(`cannot open the browser: ${program} failed; the page is at ${url}`);
  } catch (error) {
    log.warn(`cannot open the browser: ${messageOf(error)}; the page is at ${url}`);
  }
}

type Step = [run: () => Promise<void>, milliseconds: number];

/**
 * Waits for an interrupt, then takes the steps. Each ends after its time, or at a further
 * interrupt.
 */
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
  return async (source, options) => {
    const { path: name } = source;
    log.info(`loading ${name}`);
    const started = performance.now();
    const model = await open(source, options);
    const duration = formatDuration(performance.now() - started);
    log.info(`loaded ${name} in ${duration}, window of ${model.contextLength} tokens`);
    for (const warning of model.warnings) log.warn(`${name}: ${warning}`);
    return model;
  };
}

function listen({ hostname, port }: HostAddress, handler: Handler, log: Log): HttpServer {
  try {
    const listener = Deno.listen({ hostname, port });
    const { addr } = listener;
    const name = addr.hostname.includes(":") ? `[${addr.hostname}]` : addr.hostname;
    log.info(`listening on http://${name}:${addr.port}, version ${VERSION}`);
    return new HttpServer(listener, handler, { log, isUrgent });
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
