// The parts of a server put together from the settings: store, manager and HTTP application. Shared by
// `serve`, which gives them a port, and by commands that find no server and call the handler.

import { join } from "node:path";
import type { Hono } from "../dependencies.ts";
import {
  BOX_MODEL,
  type BudgetOptions,
  type ChatModel,
  type FileSource,
  type ManagerOptions,
  type MemoryBudget,
  type ModelInfo,
  ModelManager,
  ModelStore,
  type OpenOptions,
} from "../../engine/mod.ts";
import type { AppEnvironment, AppOptions } from "./app_types.ts";
import { createApp } from "./app.ts";
import { BlockCache } from "./block_cache.ts";
import type { Drain } from "./drain.ts";
import { given } from "../given.ts";
import { type Log, messageOf } from "../log.ts";
import type { KeyRing } from "../keys/mod.ts";
import { isLoopback } from "../network/host.ts";
import type { Preload } from "./preload.ts";
import { ResponseStore } from "./response_store.ts";
import { RemoteModels } from "../remote/mod.ts";
import { proofOptions, type Settings, tuningFolder } from "../settings/settings.ts";
import { VERSION } from "../version.ts";

/** The outside of a server: the engine's ways to load models, and the network. */
export interface AssembleDependencies {
  /** Loads the model of its files. */
  open: (source: FileSource, options: OpenOptions) => Promise<ChatModel>;
  /** Reads the header of a file. */
  inspect: (path: string) => Promise<ModelInfo>;
  /** How much memory there is, and how much models will take. Default: everything fits. */
  memory?: {
    estimate: NonNullable<ManagerOptions["estimate"]>;
    startAhead?: () => void;
    budget: (options: BudgetOptions) => Promise<MemoryBudget>;
    isGpuFaster?: () => Promise<boolean>;
  };
  fetch: typeof globalThis.fetch;
}

/** The parts from which a server is made. */
export interface AssembleOptions {
  dependencies: AssembleDependencies;
  settings: Settings;
  log: Log;
  /** How others reach the server; undefined for one that only this process asks. */
  port?: PortOptions;
}

/** A server's place in the network. */
export interface PortOptions {
  /** An address, not a name. The guard of Host must know whether it is a loopback address. */
  boundTo: string;
  ownNames: string[];
  drain: Drain;
  lostLogLines: () => number;
  preload: Preload;
  /** Which of its clients it answers. Requests of this process itself need no key. */
  keys: KeyRing;
  /** Where traces and metrics go. Default: nowhere. */
  telemetry?: NonNullable<AppOptions["telemetry"]>;
  /** Looks at the machine. */
  examine?: NonNullable<AppOptions["examine"]>;
}

/** A server without a port. */
export interface ServerParts {
  app: Hono<AppEnvironment>;
  manager: ModelManager;
  store: ModelStore;
  /** The responses that are kept; no new ones are added where a bound is 0. */
  responses: ResponseStore | undefined;
}

/** Puts a server together. Nothing is loaded or read before the first request. */
export function assemble(options: AssembleOptions): ServerParts {
  const { dependencies, settings, log, port } = options;
  const remote = createRemoteModels(options);
  const store = new ModelStore({
    folder: settings.models,
    inspect: dependencies.inspect,
    builtin: settings.noBox ? [] : [BOX_MODEL],
    remote,
    keepUnused: settings.keepUnused,
    // Clients of other machines must not be able to read files of this one.
    allowPaths: !port || isLoopback(settings.host.hostname),
    onBroken: (path, error) => log.warn(`left out of the models: ${path}: ${messageOf(error)}`),
  });
  const blocks = new BlockCache(settings, log.warn);
  const manager = createManager(options, store, remote, blocks);
  const responses = createResponseStore(options);
  const keepsAny = responses && Math.min(...Object.values(responses.bounds)) > 0;
  const app = createApp({
    store,
    manager,
    blocks,
    ...given({ cacheTypes: settings.cacheTypes }),
    log,
    version: VERSION,
    origins: settings.origins,
    maxQueue: settings.maxQueue,
    anthropicExact: settings.anthropicExact,
    completesChats: settings.completions === "chat",
    enforcesThinkingBudget: settings.thinkingBudget === "enforce",
    whiteSpaceMilliseconds: settings.whiteSpaceAfter,
    hasCloud: settings.cloudHost !== undefined,
    hosts: settings.hosts,
    ...(keepsAny && { responses }),
    ...port,
    ...(port && { ownNames: [...port.ownNames, settings.host.hostname] }),
  });
  return { app, manager, store, responses };
}

function createRemoteModels({ dependencies, settings, log }: AssembleOptions): RemoteModels {
  const { cloudHost, cloudKey, cloudApi, remotes } = settings;
  return new RemoteModels({
    fetch: dependencies.fetch,
    remotes,
    report: log.warn,
    ...given({ cloudHost, cloudKey, cloudApi }),
  });
}

function createManager(
  { dependencies: { open, memory }, settings, log }: AssembleOptions,
  store: ModelStore,
  remote: RemoteModels,
  blocks: BlockCache,
): ModelManager {
  const { keepAlive, loadTimeout, maxLoaded, maxSequences, isolation } = settings;
  const { contextLength, gpuMemory: total, gpuOverhead: overhead, cacheMemory } = settings;
  const folder = settings.noTuning ? undefined : tuningFolder(settings);
  const tuning = folder === undefined ? undefined : { folder, warn: log.warn };
  const proof = proofOptions(settings);
  return new ModelManager({
    store,
    open: async (source, options) =>
      source.kind === "remote" ? await remote.open(source, options.signal) : await open(source, {
        ...options,
        ...(tuning && { tuning }),
        ...(proof && { proof: { ...proof, warn: log.warn } }),
        blockStore: await blocks.options(),
      }),
    keepAlive,
    loadTimeout,
    maxLoaded,
    isolation,
    warn: log.warn,
    ...(memory && {
      estimate: memory.estimate,
      ...given({ isGpuFaster: memory.isGpuFaster, startAhead: memory.startAhead }),
      budget: () => memory.budget({ overhead, ...given({ total, cacheMemory }) }),
    }),
    load: { maxSequences, ...given({ contextLength, cacheType: settings.cacheTypes }) },
  });
}

function createResponseStore({ settings, log }: AssembleOptions): ResponseStore | undefined {
  const { cache, responseCount: count, responseBytes: bytes, responseAge: age } = settings;
  if (cache === undefined) return undefined;
  const folder = join(cache, "responses");
  return new ResponseStore({ folder, warn: log.warn, count, bytes, age });
}
