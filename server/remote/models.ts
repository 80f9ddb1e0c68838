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
import { setBounded } from "../bounded.ts";
import { checkedFetch, hostAddresses, type Resolve } from "../network/checked_fetch.ts";
import { isPublicAddress } from "../network/host.ts";
import { cloudModelOf, cloudNameOf, type RemoteApi, type RemoteFacts } from "./dialect.ts";
import { refusal, RemoteError } from "./errors.ts";
import { RemoteModel } from "./model.ts";
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

// Which servers may be asked for models: the cloud server that the operator has set up, those that
// OLLAMA_REMOTES names, and, if it names none, those at public addresses. A client can create a
// model with any address, and must not reach the services of this machine's own network by it.

/** The settings from which the rules are made. */
interface AccessOptions {
  /** Server of the models whose names are marked as the cloud's. */
  cloudHost?: string;
  /** Hosts, each with a port or for all ports. */
  remotes?: readonly string[];
  fetch?: typeof globalThis.fetch;
  resolve?: Resolve;
}

/** How a server may be asked. */
interface Admission {
  /** Whether it is the cloud server, whose address the operator has chosen. */
  readonly isCloud: boolean;
  /** A fetch that refuses addresses that must not be asked. */
  readonly fetch: typeof globalThis.fetch;
}

/** The rules of this server. */
class RemoteAccess {
  readonly #cloudOrigin: string | undefined;
  readonly #named: readonly URL[];
  readonly #fetch: typeof globalThis.fetch;
  readonly #publicFetch: typeof globalThis.fetch;
  readonly #resolve: Resolve | undefined;

  /** Makes no requests. */
  constructor({ cloudHost, remotes = [], fetch = globalThis.fetch, resolve }: AccessOptions) {
    this.#cloudOrigin = cloudHost === undefined ? undefined : URL.parse(cloudHost)?.origin;
    this.#named = remotes.map(readHost).filter((url) => url !== null);
    this.#fetch = fetch;
    this.#resolve = resolve;
    this.#publicFetch = checkedFetch({
      choose: (addresses) => arePublic(addresses) ? addresses : [],
      fetch,
      ...(resolve && { resolve }),
    });
  }

  /**
   * How the server at an address may be asked.
   *
   * @throws {RemoteError} 403 if OLLAMA_REMOTES names others alone
   * @throws {RequestError} if it is no address
   */
  admit(host: string): Admission {
    const url = new URL(readRemoteHost(host));
    const isCloud = url.origin === this.#cloudOrigin;
    if (isCloud || this.#named.some((named) => isSame(named, url))) {
      return { isCloud, fetch: this.#fetch };
    }
    if (this.#named.length > 0) throw refusal(host, "OLLAMA_REMOTES names other hosts");
    return { isCloud, fetch: this.#publicFetch };
  }

  /**
   * Refuses a server that must not be asked; a name that cannot be resolved now is accepted.
   *
   * @throws as of admit(), and if it is at no public address
   */
  async check(host: string): Promise<void> {
    if (this.admit(host).fetch !== this.#publicFetch) return;
    const addresses = await hostAddresses(new URL(readRemoteHost(host)), this.#resolve)
      .catch(() => []);
    if (!arePublic(addresses)) throw refusal(host);
  }
}

function arePublic(addresses: readonly string[]): boolean {
  return addresses.every(isPublicAddress);
}

/** The host and, if it is given, the port; null if the text is no host. */
function readHost(text: string): URL | null {
  const bare = text.replace(/^[a-z]+:\/\//i, "");
  // A URL drops the default port of its scheme, so a scheme is used whose port is never meant.
  return URL.parse(`ftp://${/^[^[]*:.*:/.test(bare) ? `[${bare}]` : bare}`);
}

function isSame(named: URL, { hostname, port, protocol }: URL): boolean {
  const own = port || (protocol === "https:" ? "443" : "80");
  return bare(named.hostname) === bare(hostname) && (named.port === "" || named.port === own);
}

/** A host name without the dot of the DNS root. */
function bare(hostname: string): string {
  return hostname.replace(/(?<=\w)\.$/, "");
}
