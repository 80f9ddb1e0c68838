// The web pages that may use the server: those of this machine, of local apps, and those that
// OLLAMA_ORIGINS names. Others are refused before anything runs. To leave out the CORS headers would
// not be enough, because a page can send a request even if it may not read the answer.

import { cors, type MiddlewareHandler } from "../../dependencies.ts";
import { originPattern } from "../../network/patterns.ts";
import { HttpError } from "../errors.ts";

const LOCAL_HOSTS = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];
const APP_ORIGINS = ["app://*", "file://*", "tauri://*", "vscode-webview://*", "vscode-file://*"];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/** Headers that clients of the three APIs send; those that a preflight asks for are allowed as well. */
const HEADERS = [
  "authorization",
  "content-type",
  "user-agent",
  "accept",
  "x-requested-with",
  "x-api-key",
  "anthropic-version",
  "anthropic-beta",
  "anthropic-dangerous-direct-browser-access",
  "openai-beta",
  "openai-organization",
  "openai-project",
];
/** The headers of an answer that a page may read. */
const EXPOSED_HEADERS = ["request-id", "x-request-id", "retry-after"];
/** How long a browser may remember a preflight, in seconds. */
const PREFLIGHT_SECONDS = 12 * 60 * 60;

/**
 * Middleware that answers pages of other origins with 403 and all others with CORS headers.
 *
 * @param extra patterns of further origins
 */
export function originGuard(extra: string[]): MiddlewareHandler[] {
  const allowed = [...extra, ...APP_ORIGINS, ...LOCAL_HOSTS.flatMap(localOrigins)]
    .map(originPattern);
  const guard: MiddlewareHandler = async (context, next) => {
    const origin = context.req.header("origin");
    const host = context.req.header("host") ?? new URL(context.req.url).host;
    const own = origin === `http://${host}` || origin === `https://${host}`;
    if (origin && !own && !allowed.some((matches) => matches(origin))) {
      throw new HttpError(403, `origin "${origin}" is not allowed: add it to OLLAMA_ORIGINS`);
    }
    await next();
  };
  return [guard, (context, next) => {
    const asked = context.req.header("access-control-request-headers")?.toLowerCase() ?? "";
    const names = asked.split(",").map((name) => name.trim()).filter(Boolean);
    return cors({
      origin: (origin) => origin,
      allowMethods: METHODS,
      allowHeaders: [...new Set([...HEADERS, ...names])],
      exposeHeaders: EXPOSED_HEADERS,
      maxAge: PREFLIGHT_SECONDS,
    })(context, next);
  }];
}

function localOrigins(host: string): string[] {
  return ["http", "https"].flatMap((scheme) => [`${scheme}://${host}`, `${scheme}://${host}:*`]);
}
