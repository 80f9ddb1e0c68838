// Finds out whether anything accepts connections at an address. In a network that drops packets, fetch
// fails only after minutes.

import { RegistryError } from "./errors.ts";

/** If one of these is set, a proxy makes the connections, and the address cannot be checked. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((n) => [n, n.toLowerCase()]);

/** The address to connect to, and how long to wait. */
export interface ReachableOptions {
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
