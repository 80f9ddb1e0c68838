// Whom the server answers, and how much it reads: checks of a request's Host, Origin and key, and
// the bound of its body. Host guards against DNS rebinding: an attacker makes the name of a web
// page resolve to this machine, and the browser takes the page and the server's answers for the
// same origin. Such a request has the attacker's name as Host, so names that do not belong to this
// machine are refused. An address as Host cannot be rebound.

import { isIP } from "node:net";
import { type Context, cors, type MiddlewareHandler, type Next } from "../../dependencies.ts";
import {
  hostPattern,
  isHostName,
  isLocalAddress,
  isLoopback,
  originPattern,
} from "../../network/host.ts";
import { BodyAllowance, type BodyBudget, tooLarge } from "../body/bodies.ts";
import { HttpError, LimitError } from "../errors.ts";
import { type AccessVariables, type BodyVariables, whenAnswered } from "./variables.ts";
import type { KeyAccount, KeyRing, LimitState } from "../../keys/mod.ts";

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

// Admits requests with a key that the server knows: as a bearer token, as OpenAI's clients send it, or
// as `x-api-key`, as Anthropic's do. /health needs none, so that monitors can watch the server, and
// neither does the web page, which asks people for the key.

const OPEN_PATHS = ["/", "/docs", "/docs/guide", "/health", "/health/live", "/health/ready"];
/** The documentation, and the files of the page, which asks for the key itself. */
const OPEN_FOLDERS = ["/docs/guide/", "/web/"];

/** Middleware that answers 401 to requests without a key, and 429 where a limit of one is reached. */
export function keyGuard(keys: KeyRing): MiddlewareHandler<{ Variables: AccessVariables }> {
  return async (context, next) => {
    const { path, method } = context.req;
    const bearer = /^Bearer\s+(.*)$/i.exec(context.req.header("authorization") ?? "")?.[1];
    const given = [bearer, context.req.header("x-api-key")].filter((text) => text !== undefined)
      .map((text) => text.trim());
    const isOpen = OPEN_PATHS.includes(path) ||
      OPEN_FOLDERS.some((folder) => path.startsWith(folder));
    for (const apiKey of isOpen ? [] : given) {
      const account = await keys.find(apiKey);
      if (!account) continue;
      context.set("account", account);
      context.set("apiKey", apiKey);
      return await underLimits(account, method === "POST", context, next);
    }
    if (!isOpen) {
      const state = given.length > 0 ? "is not this server's" : "is missing";
      throw new HttpError(
        401,
        `the API key ${state}: send it as "Authorization: Bearer" or "x-api-key"`,
      );
    }
    await next();
  };
}

/** Goes on if the limits of the key admit the request, and tells what is left of them. */
async function underLimits(
  account: KeyAccount,
  isCounted: boolean,
  context: Context<{ Variables: AccessVariables }>,
  next: Next,
): Promise<void> {
  const reached = isCounted ? account.begin() : undefined;
  if (reached) {
    const { kind, limit, waitMilliseconds } = reached;
    const seconds = Math.ceil(waitMilliseconds / 1000);
    throw new LimitError(
      `the limit of key "${account.entry.name}" is reached: ${limit} ${kind} in a minute; ` +
        `try again in ${seconds} s`,
      { "retry-after": String(seconds), ...limitHeaders(account.limits()) },
    );
  }
  await next();
  for (const [name, value] of Object.entries(limitHeaders(account.limits()))) {
    context.header(name, value);
  }
  whenAnswered(context, () => {
    const { generation, promptTokens } = context.var;
    const usage = generation?.usage ?? (promptTokens !== undefined && { promptTokens });
    if (usage) account.charge(usage);
  });
}

/** The headers by which OpenAI's clients know limits. */
function limitHeaders(limits: readonly LimitState[]): Record<string, string> {
  return Object.fromEntries(limits.flatMap(({ kind, limit, remaining, resetMilliseconds }) => [
    [`x-ratelimit-limit-${kind}`, String(limit)],
    [`x-ratelimit-remaining-${kind}`, String(remaining)],
    [`x-ratelimit-reset-${kind}`, `${Math.ceil(resetMilliseconds / 1000)}s`],
  ]));
}

// The web pages that may use the server: those of this machine, of local apps, and those that
// OLLAMA_ORIGINS names. Others are refused before anything runs. To leave out the CORS headers would
// not be enough, because a page can send a request even if it may not read the answer.

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
  "last-event-id",
  "x-conversation-id",
];
/** The headers of an answer that a page may read. */
const EXPOSED_HEADERS = [
  ...["request-id", "x-request-id", "retry-after"],
  // Of files that are fetched by ranges.
  ...["content-length", "content-range", "etag"],
];
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

// Bounds the bodies of requests: refuses at once a body whose Content-Length is too large, and
// gives each request the allowance against which its body is read (bodies.ts).

/**
 * Middleware that answers 413 to bodies whose length is over the bound.
 *
 * @param maxBytes largest body in bytes
 * @param toDisk paths whose bodies are not held in memory
 */
export function bodyLimit(
  budget: BodyBudget,
  maxBytes: number,
  toDisk: readonly RegExp[],
): MiddlewareHandler<{ Variables: AccessVariables & BodyVariables }> {
  return async (context, next) => {
    const length = Number(context.req.header("content-length") ?? 0);
    const isHeld = !toDisk.some((path) => path.test(context.req.path));
    if (length > maxBytes && isHeld) throw tooLarge(maxBytes);
    const allowance = new BodyAllowance(budget, maxBytes);
    context.set("body", allowance);
    try {
      await next();
    } finally {
      whenAnswered(context, () => allowance[Symbol.dispose]());
    }
  };
}
