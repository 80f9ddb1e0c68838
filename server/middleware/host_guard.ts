// Guards a server on loopback against DNS rebinding: a page whose name has been made to point to
// 127.0.0.1 sends that name as Host, and this refuses names that are not this machine's.

import type { MiddlewareHandler } from "hono";
import { HttpError } from "../errors.ts";
import { isLocalAddress } from "../host.ts";

const LOCAL_DOMAIN = /\w\.(localhost|local|internal)$/;

/** Middleware that answers 400 where Host makes the URL of the request none. */
export const wellFormedHost: MiddlewareHandler = async (context, next) => {
  if (!URL.canParse(context.req.url)) throw new HttpError(400, "the Host header is malformed");
  await next();
};

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
    if (!names.includes(name) && !LOCAL_DOMAIN.test(name) && !isLocalAddress(name)) {
      throw new HttpError(
        403,
        `host "${host}" is not allowed: this server answers local names only`,
      );
    }
    await next();
  };
}

/** `[::1]:80` -> `::1`, `localhost:80` -> `localhost`; the dot of the DNS root at the end goes too. */
function withoutPort(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host);
  return bracketed ? bracketed[1]! : host.replace(/:\d*$/, "").replace(/(?<=\w)\.$/, "");
}
