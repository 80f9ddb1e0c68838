// Which servers may be asked for models: the cloud server that the operator has set up, those that
// OLLAMA_REMOTES names, and, if it names none, those at public addresses. A client can create a
// model with any address, and must not reach the services of this machine's own network by it.

import { readRemoteHost } from "../../engine/mod.ts";
import { checkedFetch, hostAddresses, type Resolve } from "../network/checked_fetch.ts";
import { isPublicAddress } from "../network/host.ts";
import { refusal } from "./errors.ts";

/** The settings from which the rules are made. */
export interface AccessOptions {
  /** Server of the models whose names are marked as the cloud's. */
  cloudHost?: string;
  /** Hosts, each with a port or for all ports. */
  remotes?: readonly string[];
  fetch?: typeof globalThis.fetch;
  resolve?: Resolve;
}

/** How a server may be asked. */
export interface Admission {
  /** Whether it is the cloud server, whose address the operator has chosen. */
  readonly isCloud: boolean;
  /** A fetch that refuses addresses that must not be asked. */
  readonly fetch: typeof globalThis.fetch;
}

/** The rules of this server. */
export class RemoteAccess {
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
