// Requests to hosts that a client has named, or that another server named to us: each address of
// the host
// is checked, and the request goes to one that was checked. A request over http is sent to that address;
// over https the name is kept, because the server has to show a certificate for it. Redirects are not
// followed, since they would have to be checked as well. The caller decides which addresses are
// allowed.

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { untilAborted } from "../../engine/mod.ts";

/** The addresses of a name, at least one. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** The parts that a checked fetch uses. */
export interface CheckedFetchOptions {
  /** Chooses the addresses of a host at which it may be asked; none refuses the host. */
  choose(addresses: readonly string[]): readonly string[];
  /** Default: over the network. */
  fetch?: typeof globalThis.fetch;
  /** Default: as the system does. */
  resolve?: Resolve;
}

/** A host is at an address that must not be asked. */
export class AddressError extends Error {
  /** Name of the class. */
  override name = "AddressError";
}

/** A fetch that throws AddressError for a host that must not be asked. */
export function checkedFetch(
  { choose, fetch = globalThis.fetch, resolve = resolveBySystem }: CheckedFetchOptions,
): typeof globalThis.fetch {
  return async (input, options) => {
    const init = { ...options, redirect: "manual" } as const;
    const url = new URL(input instanceof Request ? input.url : input);
    const known = await knownAddresses(url, resolve, init);
    const addresses = choose(known);
    if (known.length > 0 && addresses.length === 0) {
      throw new AddressError(`Cannot ask ${url.host}: requests may not make this server ask it`);
    }
    const isSafe = url.protocol === "https:" || isIP(bareHost(url)) || addresses.length === 0;
    return isSafe ? await fetch(url, init) : await fetchFrom(addresses, url, init, fetch);
  };
}

/** All addresses of the host of a URL. Fails where it has none. */
export async function hostAddresses(
  url: URL,
  resolve: Resolve = resolveBySystem,
): Promise<string[]> {
  const host = bareHost(url);
  return isIP(host) ? [host] : await resolve(host);
}

/** A host name without the brackets of IPv6. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** None where a proxy has to find them. */
async function knownAddresses(
  url: URL,
  resolve: Resolve,
  { signal }: RequestInit,
): Promise<string[]> {
  const addresses = hostAddresses(url, resolve);
  try {
    return await untilAborted(addresses, signal ?? undefined);
  } catch (error) {
    if (signal?.aborted || !hasProxy(url.protocol)) throw error;
    return [];
  }
}

async function resolveBySystem(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function hasProxy(protocol: string): boolean {
  return [`${protocol.slice(0, -1)}_proxy`, "all_proxy"]
    .some((name) => Deno.env.get(name) || Deno.env.get(name.toUpperCase()));
}

/** Asks the first of the addresses that can be connected to. */
async function fetchFrom(
  addresses: readonly string[],
  url: URL,
  init: RequestInit,
  fetch: typeof globalThis.fetch,
): Promise<Response> {
  // The client is needed until its answers have been read.
  using client = Deno.createHttpClient({ allowHost: true });
  const headers = new Headers(init.headers);
  headers.set("host", url.host);
  for (const [index, address] of addresses.entries()) {
    const target = new URL(url);
    target.hostname = isIP(address) === 6 ? `[${address}]` : address;
    try {
      return await fetch(target, { ...init, headers, client });
    } catch (error) {
      if (index === addresses.length - 1 || !isUnconnected(error)) throw error;
    }
  }
  throw new TypeError(`Cannot ask ${url.host}: it has no address`);
}

/** Whether an error occurred before anything was sent. */
function isUnconnected(error: unknown): boolean {
  return error instanceof Error && /client error \(Connect\)/.test(`${error} ${error.cause}`);
}
