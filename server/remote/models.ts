// The models that run on other servers: those of the cloud server, whose names end in :cloud, and
// those of the store that were created with a host. Finds them, lists them and opens them.

import {
  type ChatModel,
  type ModelConfig,
  ModelName,
  type ModelSource,
  readRemoteHost,
  remoteConfig,
  type RemoteDirectory,
  remoteInfo,
  RequestError,
  type StoreEntry,
} from "../../engine/mod.ts";
import type { Resolve } from "../network/checked_fetch.ts";
import { setBounded } from "../bounded.ts";
import { RemoteAccess } from "./access.ts";
import type { RemoteApi, RemoteFacts } from "./dialect.ts";
import { RemoteError } from "./errors.ts";
import { RemoteModel } from "./model.ts";
import { cloudModelOf, cloudNameOf } from "./names.ts";
import { RemoteServer } from "./server.ts";

/** The parts that remote models need. */
export interface RemoteOptions {
  /** Server of the models whose names are marked as the cloud's. Default: there is none. */
  cloudHost?: string;
  /** Key for that server; no other gets it. */
  cloudKey?: string;
  /** API of that server. Default: found by asking. */
  cloudApi?: RemoteApi;
  /** Hosts of models that were created with one. Default: all that are at public addresses. */
  remotes?: readonly string[];
  /** Called with error messages of servers that clients must not be told. */
  report?: (text: string) => void;
  fetch?: typeof globalThis.fetch;
  /** Default: as the system does. */
  resolve?: Resolve;
}

/** Servers that are kept: clients may create models with any host. */
const MOST_SERVERS = 100;

type RemoteSource = Extract<ModelSource, { kind: "remote" }>;

/** Finds, lists and opens them. */
export class RemoteModels implements RemoteDirectory {
  readonly #options: RemoteOptions;
  readonly #access: RemoteAccess;
  readonly #servers = new Map<string, RemoteServer>();

  /** Nothing is asked before the first use. */
  constructor(options: RemoteOptions = {}) {
    this.#options = options;
    this.#access = new RemoteAccess(options);
  }

  /** @throws {RemoteError} 403 if models of that server must not be asked for */
  async admit(host: string): Promise<void> {
    await this.#access.check(host);
  }

  /**
   * The model that a name of the cloud stands for; undefined if it is no such name.
   *
   * @throws {RemoteError} 403 if there is no cloud server
   */
  async find(name: string): Promise<StoreEntry | undefined> {
    const model = cloudModelOf(name);
    if (model === undefined) return undefined;
    const { cloudHost: host } = this.#options;
    if (host === undefined) {
      throw new RemoteError(
        403,
        `ollama cloud is disabled: "${name}" needs a server for cloud models, and none is set: ` +
          "set QUERN_CLOUD_HOST to the address of one with Ollama's API or OpenAI's, and " +
          "QUERN_CLOUD_KEY to a key for it, and start this server again",
      );
    }
    const facts = await this.#serverOf(host).describe(model);
    return entryOf(ModelName.parse(name).toString(), { kind: "remote", host, model }, facts);
  }

  /** The models of the cloud server, as far as it tells. */
  async list(): Promise<StoreEntry[]> {
    const { cloudHost: host } = this.#options;
    if (host === undefined) return [];
    return (await this.#serverOf(host).list()).flatMap(({ model, ...facts }) => {
      const name = cloudNameOf(model);
      return name === undefined ? [] : [entryOf(name, { kind: "remote", host, model }, facts)];
    });
  }

  /** The entry with what its server says of the model, where the store does not know. */
  async complete(entry: StoreEntry): Promise<StoreEntry> {
    const { source, config } = entry;
    if (source.kind !== "remote" || config?.capabilities) return entry;
    try {
      const facts = await this.#serverOf(source.host).describe(source.model);
      return { ...entry, info: remoteInfo({ ...config!, ...facts.config }) };
    } catch (error) {
      // A model whose server must not be asked can still be shown and removed.
      if (error instanceof RemoteError || error instanceof RequestError) return entry;
      throw error;
    }
  }

  /**
   * Makes sure that the server is there. Nothing is loaded by it.
   *
   * @throws {RemoteError} if it cannot be asked
   */
  async open({ host, model }: RemoteSource, signal?: AbortSignal): Promise<ChatModel> {
    const server = this.#serverOf(host);
    await server.dialect(signal);
    const { config } = await server.describe(model);
    return new RemoteModel(server, model, remoteInfo({ ...remoteConfig(host, model), ...config }));
  }

  #serverOf(host: string): RemoteServer {
    const known = this.#servers.get(host);
    if (known) return known;
    const { cloudKey: key, cloudApi: api, report } = this.#options;
    const { isCloud, fetch } = this.#access.admit(host);
    const server = new RemoteServer({
      host,
      fetch,
      quotes: isCloud,
      ...(report && { report }),
      ...(isCloud && key !== undefined && { key }),
      ...(isCloud && api && { api }),
    });
    setBounded(this.#servers, host, server, MOST_SERVERS);
    return server;
  }
}

/**
 * Opens one model of another server at any address, since the caller of the library chose it.
 *
 * @throws {RemoteError} if the server cannot be asked
 */
export async function openRemoteModel(
  source: { host: string; model: string },
  { signal, ...options }: RemoteOptions & { signal?: AbortSignal } = {},
): Promise<ChatModel> {
  const { hostname } = new URL(readRemoteHost(source.host));
  const models = new RemoteModels({ remotes: [hostname], cloudHost: source.host, ...options });
  return await models.open({ kind: "remote", ...source }, signal);
}

function entryOf(name: string, source: RemoteSource, facts: RemoteFacts): StoreEntry {
  const config: ModelConfig = { ...remoteConfig(source.host, source.model), ...facts.config };
  return {
    name,
    size: 0,
    modified: facts.modified ?? new Date(0),
    info: remoteInfo(config),
    source,
    defaults: { parameters: {}, messages: [], license: [] },
    config,
  };
}
