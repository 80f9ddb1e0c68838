// Guards a server against DNS rebinding: an attacker makes the name of a web page resolve to this
// machine, and the browser takes the page and the server's answers for the same origin. Such a request
// has the attacker's name as Host, so names that do not belong to this machine are refused. An address
// as Host cannot be rebound.

import { isIP } from "node:net";
import type { MiddlewareHandler } from "../../dependencies.ts";
import { HttpError } from "../errors.ts";
import { isLocalAddress, isLoopback } from "../../network/host.ts";
import { hostPattern, isHostName } from "../../network/patterns.ts";

const LOCAL_DOMAIN = /\w\.(localhost|local|internal)$/;

/** The hosts that a server answers to. */
export interface HostGuardOptions {
  /** Address that the server is bound to: on loopback, no address but local ones leads to it. */
  boundTo: string;
  /** The machine's names and addresses. */
  ownNames: readonly string[];
  /** Further names, `*` standing for any text: QUERN_HOSTS. */
  hosts: readonly string[];
}

/** Middleware that answers 400 where Host makes the URL of the request invalid. */
export const wellFormedHost: MiddlewareHandler = async (context, next) => {
  if (!URL.canParse(context.req.url)) throw new HttpError(400, "the Host header is malformed");
  await next();
};

/** Middleware that answers 403 unless Host is an address, local, a name of the machine, or allowed. */
export function hostGuard({ boundTo, ownNames, hosts }: HostGuardOptions): MiddlewareHandler {
  const names = new Set(["localhost", ...ownNames.map(withoutPort).flatMap(withShortName)]);
  const patterns = hosts.map((host) => {
    return hostPattern(withoutPort(host.replace(/^https?:\/\//i, "")));
  });
  const isOwnAddress = isLoopback(boundTo) ? isLocalAddress : isAddress;
  return async (context, next) => {
    const host = context.req.header("host") ?? new URL(context.req.url).host;
    const name = withoutPort(host);
    const isAllowed = names.has(name) || LOCAL_DOMAIN.test(name) || isOwnAddress(name) ||
      patterns.some((matches) => matches(name));
    if (!isAllowed || !isHostName(name)) {
      throw new HttpError(
        403,
        `host "${host}" is not allowed: this server answers to addresses, localhost and names of ` +
          "this machine; add others to QUERN_HOSTS",
      );
    }
    await next();
  };
}

/** `[::1]:80` -> `::1`, `Localhost:80` -> `localhost`; the dot of the DNS root at the end goes too. */
function withoutPort(host: string): string {
  const lower = host.toLowerCase();
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(lower);
  if (bracketed) return bracketed[1]!;
  return isAddress(lower) ? lower : lower.replace(/:\d*$/, "").replace(/(?<=\w)\.$/, "");
}

function isAddress(name: string): boolean {
  return isIP(name) !== 0;
}

/** A full name, and what the machine is called on its own network. */
function withShortName(name: string): string[] {
  return isAddress(name) ? [name] : [name, name.split(".")[0]!];
}
