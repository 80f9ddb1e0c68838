// Finds out whether anybody accepts connections at an address: of a network that swallows packets,
// fetch tells only after minutes.

import { RegistryError } from "./errors.ts";

/** Where these are set, a proxy connects in our place, and there is nothing to find out. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((n) => [n, n.toLowerCase()]);

/** How long to wait for whom. */
export interface ReachableOptions {
  /** What was attempted, for the message. */
  subject: string;
  milliseconds: number;
  connect?: (options: Deno.ConnectOptions) => Promise<Pick<Deno.Conn, "close">>;
}

/**
 * Rejects if nobody accepts a connection in time; never settles otherwise. An address that refuses at
 * once is left to fetch, which reports it as fast.
 *
 * @throws {RegistryError} if nobody does
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
