// Speaks to one registry about one model: sends requests with the right headers and token.
// Pull and push decide which requests are sent, and interpret the answers.

import { checkedFetch, type CheckedFetchOptions } from "../network/checked_fetch.ts";
import { isMetadataAddress, isPublicAddress } from "../network/host.ts";
import { VERSION } from "../version.ts";
import { RegistryError } from "./errors.ts";
import { type Exchange, followRedirects, type Reach } from "./redirects.ts";
import type { RegistryReference } from "./reference.ts";
import { TokenSource } from "./token_source.ts";
import type { Watchdog } from "./retry.ts";

/**
 * How often a refused token is renewed: it can expire before its use, or be for another stream's
 * scope.
 */
const MOST_LOGINS = 3;

/** Settings of a client. */
export interface ClientOptions {
  /** Default: one that refuses addresses to which a registry must not refer. */
  fetch?: typeof fetch;
  userAgent?: string;
  /** Path of the user's Ed25519 key. Default: ~/.ollama/id_ed25519. */
  keyPath?: string;
}

/** A request to the registry: as {@linkcode Exchange}, under a watch. */
export interface RegistryRequest extends Omit<Exchange, "headers" | "signal" | "method"> {
  method?: string;
  headers?: Record<string, string>;
  watchdog: Watchdog;
}

/** A connection to the registry of one model. */
export class RegistryClient {
  readonly reference: RegistryReference;
  readonly #reach: Reach;
  readonly #headers: Record<string, string>;
  readonly #tokens: TokenSource;
  /** Whether requests go over the network, and not to a fetch that the caller gave. */
  readonly #isReal: boolean;

  constructor(reference: RegistryReference, options: ClientOptions = {}) {
    this.reference = reference;
    this.#isReal = options.fetch === undefined;
    const fetch = options.fetch ?? registryFetch(reference.origin);
    this.#reach = { fetch, insecure: reference.insecure };
    this.#headers = {
      "user-agent": options.userAgent ?? userAgent(),
      // A compressed body would have other ranges and another length.
      "accept-encoding": "identity",
    };
    this.#tokens = new TokenSource({
      registry: reference.origin,
      headers: this.#headers,
      keyPath: options.keyPath ?? defaultKeyPath(),
      ...this.#reach,
    });
  }

  /**
   * As send(), for the first request of all, which finds out whether there is a registry.
   *
   * @param milliseconds within which somebody must accept a connection
   * @throws {RegistryError} like send(), and if no address answers
   */
  async sendFirst(url: URL, request: RegistryRequest, milliseconds: number): Promise<Response> {
    const answer = this.send(url, request);
    if (!this.#isReal) return await answer;
    const { subject } = request;
    return await Promise.race([answer, failUnlessReachable(url, { subject, milliseconds })]);
  }

  /**
   * The answer, whatever its status; after 401 with a challenge, that to a request with a token.
   *
   * @throws {RegistryError} if no answer comes, or no token is to be had
   */
  async send(url: URL, { watchdog, ...request }: RegistryRequest): Promise<Response> {
    for (let logins = 0;; logins++) {
      const token = this.#tokens.current;
      const headers = { ...this.#headers, ...request.headers };
      // The Location of an upload may be on another server, which must not get the token.
      if (token !== undefined && url.origin === this.reference.origin.origin) {
        headers.authorization = `Bearer ${token}`;
      }
      const exchange = { method: "GET", ...request, headers, signal: watchdog.signal };
      const response = await followRedirects(url, exchange, this.#reach);
      watchdog.feed();
      if (response.status !== 401 || logins === MOST_LOGINS) return response;
      await response.body?.cancel().catch(() => {});
      await this.#tokens.renew(token, response, watchdog);
      watchdog.feed();
    }
  }
}

function userAgent(): string {
  return `quern/${VERSION} (${Deno.build.arch} ${Deno.build.os}) Deno/${Deno.version.deno}`;
}

function defaultKeyPath(): string | undefined {
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE");
  return home && `${home}/.ollama/id_ed25519`;
}

// Finds out whether anything accepts connections at an address. In a network that drops packets, fetch
// fails only after minutes.

/** If one of these is set, a proxy makes the connections, and the address cannot be checked. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((n) => [n, n.toLowerCase()]);

/** The address to connect to, and how long to wait. */
interface ReachableOptions {
  /** The attempt, for the message. */
  subject: string;
  milliseconds: number;
  connect?: (options: Deno.ConnectOptions) => Promise<Pick<Deno.Conn, "close">>;
}

/**
 * Rejects if nothing accepts a connection in time; never settles otherwise. An address that refuses
 * connections is left to fetch, which reports it at once.
 *
 * @throws {RegistryError} if no address accepts a connection
 */
export async function failUnlessReachable(
  { hostname, port, protocol, host }: URL,
  { subject, milliseconds, connect = Deno.connect }: ReachableOptions,
): Promise<never> {
  const signal = AbortSignal.timeout(milliseconds);
  if (!PROXIES.some((name) => Deno.env.get(name))) {
    const address = {
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port) || (protocol === "https:" ? 443 : 80),
    };
    await connect({ ...address, signal }).then((connection) => connection.close(), () => {});
  }
  if (!signal.aborted) return await new Promise<never>(() => {});
  const state = `${host} cannot be reached: no connection in ${milliseconds / 1000} seconds`;
  throw new RegistryError(`${subject}: ${state}`, { unreachable: true });
}

// Which addresses a pull or push may send requests to. The user chooses the registry, and a local
// one is common, so it may be at any address except the metadata services of clouds. Its redirects,
// token realms and upload locations are the registry's choice: a registry on the Internet may only
// refer to public addresses.

/**
 * A fetch for one registry, whose first request has to go to the registry itself. It throws
 * AddressError for addresses that must not be asked.
 */
export function registryFetch(
  registry: URL,
  options: Omit<CheckedFetchOptions, "choose"> = {},
): typeof globalThis.fetch {
  let isPublic: boolean | undefined;
  const ofRegistry = (addresses: readonly string[]) => {
    isPublic ??= addresses.some(isPublicAddress);
    // A name that resolves to different addresses each time must not get the rights of all of them.
    return addresses.filter((address) =>
      isPublicAddress(address) === isPublic && !isMetadataAddress(address)
    );
  };
  const ofOthers = (addresses: readonly string[]) =>
    addresses.filter((address) =>
      isPublicAddress(address) || isPublic === false && !isMetadataAddress(address)
    );
  const [own, others] = [ofRegistry, ofOthers].map((choose) =>
    checkedFetch({ ...options, choose })
  );
  return (input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input);
    return (hostname === registry.hostname ? own! : others!)(input, init);
  };
}
