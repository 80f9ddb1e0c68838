// Guards a server on loopback against DNS rebinding: a page whose name has been made to point to
// 127.0.0.1 sends that name as Host, and this refuses names that are not this machine's.

import { BlockList, isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import { HttpError } from "../errors.ts";

const LOCAL_SUFFIXES = [".localhost", ".local", ".internal"];
const localAddresses = createLocalAddresses();

/**
 * Middleware that answers 403 unless Host is local.
 *
 * @param ownNames the machine's name and addresses
 */
export function hostGuard(ownNames: string[]): MiddlewareHandler {
  const names = ["localhost", ...ownNames.map((name) => name.toLowerCase())];
  return async (context, next) => {
    const host = context.req.header("host") ?? new URL(context.req.url).host;
    const name = withoutPort(host).toLowerCase();
    const suffixed = LOCAL_SUFFIXES.some((suffix) => name.endsWith(suffix));
    if (!names.includes(name) && !suffixed && !isLocalAddress(name)) {
      throw new HttpError(
        403,
        `host "${host}" is not allowed: this server answers local names only`,
      );
    }
    await next();
  };
}

/** `[::1]:80` -> `::1`, `localhost:80` -> `localhost`. */
function withoutPort(host: string): string {
  const bracketed = /^\[(.*)\]/.exec(host);
  return bracketed ? bracketed[1]! : host.replace(/:\d*$/, "");
}

function isLocalAddress(name: string): boolean {
  const version = isIP(name);
  return version !== 0 && localAddresses.check(name, version === 4 ? "ipv4" : "ipv6");
}

/** Loopback, unspecified and private addresses (RFC 1122, 1918, 4193, 4291). */
function createLocalAddresses(): BlockList {
  const list = new BlockList();
  for (
    const [address, prefix] of [["127.0.0.0", 8], ["10.0.0.0", 8], ["172.16.0.0", 12]] as const
  ) {
    list.addSubnet(address, prefix, "ipv4");
  }
  list.addSubnet("192.168.0.0", 16, "ipv4");
  list.addAddress("0.0.0.0", "ipv4");
  list.addSubnet("fc00::", 7, "ipv6");
  list.addAddress("::1", "ipv6");
  list.addAddress("::", "ipv6");
  return list;
}
