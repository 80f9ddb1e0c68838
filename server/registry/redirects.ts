// One HTTP exchange that follows redirects itself, because credentials must not be sent to another
// origin, and no request may change from https to http.

import { AddressError } from "../network/checked_fetch.ts";
import { RegistryError } from "./errors.ts";

const MOST_REDIRECTS = 10;
/** Statuses of redirects that are followed with the same method and body. */
const SAME_METHOD = new Set([307, 308]);
const REDIRECTS = new Set([301, 302, 303, ...SAME_METHOD]);

/** A request. */
export interface Exchange {
  method: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  signal: AbortSignal;
  /** The attempt, for messages: "Cannot pull blob …". */
  subject: string;
}

/** How to reach servers. */
export interface Reach {
  fetch: typeof fetch;
  /** Whether a redirect may lead to http. */
  insecure: boolean;
}

/**
 * The answer at the end of the redirects, whatever its status.
 *
 * @throws {RegistryError} transient if a server cannot be reached; or for a redirect that leads
 * nowhere, in a circle or to http
 */
export async function followRedirects(
  start: URL,
  exchange: Exchange,
  { fetch, insecure }: Reach,
): Promise<Response> {
  const { method, subject, signal } = exchange;
  const headers = { ...exchange.headers };
  let url = start;
  for (let count = 0; count <= MOST_REDIRECTS; count++) {
    if (url.protocol !== "https:" && !(insecure && url.protocol === "http:")) {
      throw new RegistryError(
        `${subject}: ${url.origin} is not reached by https; "insecure": true allows http`,
      );
    }
    const response = await request(url, { ...exchange, headers }, fetch);
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body?.cancel().catch(() => {});
    signal.throwIfAborted();
    if (!SAME_METHOD.has(response.status) && method !== "GET" && method !== "HEAD") {
      throw new RegistryError(`${subject}: a ${method} was redirected with ${response.status}`);
    }
    url = resolve(location, url, subject);
    // The credentials stay removed, even if a later redirect leads back to the first origin.
    if (url.origin !== start.origin) delete headers.authorization;
  }
  throw new RegistryError(`${subject}: more than ${MOST_REDIRECTS} redirects`);
}

async function request(url: URL, exchange: Exchange, fetch: Reach["fetch"]): Promise<Response> {
  const { method, headers, body, signal, subject } = exchange;
  try {
    return await fetch(url, {
      method,
      headers,
      signal,
      redirect: "manual",
      ...(body ? { body } : {}),
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AddressError) {
      const state = `${url.host} is at an address that a registry must not lead to`;
      throw new RegistryError(`${subject}: ${state}`, { status: 403, cause: error });
    }
    const state = `${url.host} cannot be reached: ${(error as Error).message}`;
    const facts = { transient: true, unreachable: true, cause: error };
    throw new RegistryError(`${subject}: ${state}`, facts);
  }
}

function resolve(location: string, base: URL, subject: string): URL {
  try {
    return new URL(location, base);
  } catch (error) {
    throw new RegistryError(`${subject}: redirected to "${location}", which is no address`, {
      cause: error,
    });
  }
}
