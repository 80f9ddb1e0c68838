// Admits requests with the key of QUERN_API_KEY: as a bearer token, as OpenAI's clients send it, or as
// `x-api-key`, as Anthropic's do. /health needs none, so that monitors can watch the server, and
// neither does the web page, which asks people for the key.

import type { MiddlewareHandler } from "../../dependencies.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import { HttpError } from "../errors.ts";

const OPEN_PATHS = ["/", "/docs", "/docs/guide", "/health"];
/** The documentation, and the files of the page, which asks for the key itself. */
const OPEN_FOLDERS = ["/docs/guide/", "/web/"];

/** Middleware that answers 401 to requests without the key. */
export function apiKeyGuard(key: string): MiddlewareHandler {
  const expected = digest(key);
  return async (context, next) => {
    const { path } = context.req;
    const bearer = /^Bearer\s+(.*)$/i.exec(context.req.header("authorization") ?? "")?.[1];
    const given = [bearer, context.req.header("x-api-key")].filter((text) => text !== undefined);
    // Digests have the same length whatever was sent, so that the comparison always takes as long.
    const isKnown = given.some((text) => timingSafeEqual(digest(text.trim()), expected));
    const isOpen = OPEN_PATHS.includes(path) ||
      OPEN_FOLDERS.some((folder) => path.startsWith(folder));
    if (!isKnown && !isOpen) {
      const state = given.length > 0 ? "is not this server's" : "is missing";
      throw new HttpError(
        401,
        `the API key ${state}: send it as "Authorization: Bearer" or "x-api-key"`,
      );
    }
    await next();
  };
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
