// Speaks to one registry about one model: sends requests with the right headers and token.
// Pull and push decide which requests are sent, and interpret the answers.

import { VERSION } from "../version.ts";
import { failUnlessReachable } from "./reachable.ts";
import type { RegistryReference } from "./reference.ts";
import { type Exchange, followRedirects, type Reach } from "./redirects.ts";
import { registryFetch } from "./registry_fetch.ts";
import { TokenSource } from "./token_source.ts";
import type { Watchdog } from "./watchdog.ts";

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
