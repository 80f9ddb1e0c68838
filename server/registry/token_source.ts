// Tokens for a registry: asked for when it wants one, kept until it refuses them.
// Anonymous, or signed with the user's key the way Ollama does (its auth and server folders).

import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import { type BearerChallenge, maySign, parseChallenge } from "./challenge.ts";
import { RegistryError } from "./errors.ts";
import { type Exchange, followRedirects } from "./redirects.ts";
import { parseSshKey, type SigningKey } from "./ssh_key.ts";
import { statusError } from "./status_error.ts";
import { readAll, type Watchdog } from "./watchdog.ts";

const LONGEST_ANSWER = 2 ** 20;
/** Stands in the signed text for the body, which is empty. */
const EMPTY_BODY = Buffer.from(createHash("sha256").digest("hex")).toString("base64");

/** The parts that a source of tokens needs. */
export interface TokenSourceOptions {
  registry: URL;
  insecure: boolean;
  fetch: typeof fetch;
  headers: Record<string, string>;
  /** Path of the user's key; it may be missing. */
  keyPath: string | undefined;
}

/** The token of one model in one registry. */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  #token: string | undefined;
  #renewal: Promise<string> | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  /** The token to send, if the registry has asked for one before. */
  get current(): string | undefined {
    return this.#token;
  }

  /**
   * Gets another token than the one that was refused; streams that were refused together share a
   * request.
   *
   * @param refused the token that the request carried
   * @throws {RegistryError} if the registry wants something else, or there is no token to be had
   */
  async renew(refused: string | undefined, answer: Response, watchdog: Watchdog): Promise<void> {
    if (this.#token !== refused) return;
    const challenge = parseChallenge(answer.headers.get("www-authenticate"));
    if (!challenge) {
      throw new RegistryError(
        `Cannot log in to ${this.#options.registry.host}: unauthorized, and the registry offers ` +
          `no token; passwords are not supported`,
        { status: 401 },
      );
    }
    this.#renewal ??= this.#request(challenge, watchdog).finally(() => this.#renewal = undefined);
    this.#token = await this.#renewal;
  }

  async #request(challenge: BearerChallenge, watchdog: Watchdog): Promise<string> {
    const { registry, insecure, keyPath } = this.#options;
    const subject = `Cannot get a token for ${registry.host}`;
    const url = parseRealm(challenge, registry, subject);
    if (challenge.service !== undefined) url.searchParams.append("service", challenge.service);
    for (const scope of challenge.scopes) url.searchParams.append("scope", scope);
    const headers = { ...this.#options.headers };
    const key = maySign(registry, url) ? await readKey(keyPath) : undefined;
    if (key) headers.authorization = signRequest(url, key);

    const exchange: Exchange = { method: "GET", headers, signal: watchdog.signal, subject };
    const response = await followRedirects(url, exchange, { fetch: this.#options.fetch, insecure });
    if (!response.ok) throw await statusError(response, subject);
    const body = await readAll(response, { subject, limit: LONGEST_ANSWER, watchdog });
    return parseToken(new TextDecoder().decode(body), subject);
  }
}

function parseRealm({ realm }: BearerChallenge, registry: URL, subject: string): URL {
  try {
    return new URL(realm, registry);
  } catch (error) {
    throw new RegistryError(`${subject}: the registry names "${realm}", which is no address`, {
      cause: error,
    });
  }
}

/** Adds a nonce and the time to the address, and signs it. */
function signRequest(url: URL, key: SigningKey): string {
  url.searchParams.append("ts", String(Math.floor(Date.now() / 1000)));
  url.searchParams.append("nonce", randomBytes(16).toString("base64url"));
  url.searchParams.sort();
  return `${key.publicKey}:${key.sign(`GET,${url},${EMPTY_BODY}`)}`;
}

/** The user's key; undefined if none can be read, since public models need none. */
async function readKey(path: string | undefined): Promise<SigningKey | undefined> {
  if (path === undefined) return undefined;
  try {
    return parseSshKey(await Deno.readTextFile(path));
  } catch {
    return undefined;
  }
}

function parseToken(text: string, subject: string): string {
  let answer: { token?: unknown; access_token?: unknown } | null = null;
  try {
    answer = JSON.parse(text);
  } catch {
    // The message follows below.
  }
  const token = answer?.token ?? answer?.access_token;
  if (typeof token !== "string" || token === "") {
    throw new RegistryError(`${subject}: the answer holds no token`);
  }
  return token;
}
