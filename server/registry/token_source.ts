// Tokens for a registry: asked for when it wants one, kept until it refuses them.
// Anonymous, or signed with the user's key the way Ollama does (its auth and server folders).

import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, randomBytes, sign } from "node:crypto";
import { RegistryError } from "./errors.ts";
import { type Exchange, followRedirects } from "./redirects.ts";
import { readAll, statusError, type Watchdog } from "./retry.ts";

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

// WWW-Authenticate as registries write it (RFC 9110, section 11.6.1; token authentication of the
// distribution specification), and which servers may hand out tokens for a registry.

/** The demand of a registry: a token from `realm` for `service`, good for `scopes`. */
interface BearerChallenge {
  realm: string;
  service?: string;
  scopes: string[];
}

/** Registries whose tokens come, signed for, from another host of the same owner. */
const TOKEN_HOSTS: Record<string, string> = {
  "registry.ollama.ai": "ollama.com",
  "hf.co": "huggingface.co",
};

const PARAMETER = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** The challenge for a bearer token in a WWW-Authenticate header; undefined if it holds none. */
export function parseChallenge(header: string | null): BearerChallenge | undefined {
  const [, parameters] = /(?:^|,)\s*bearer\s+(.*)/i.exec(header ?? "") ?? [];
  if (parameters === undefined) return undefined;
  const values = new Map<string, string>();
  for (const [, key, quoted, plain] of parameters.matchAll(PARAMETER)) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? plain!;
    if (!values.has(key!.toLowerCase())) values.set(key!.toLowerCase(), value);
  }
  const realm = values.get("realm");
  if (!realm) return undefined;
  const service = values.get("service");
  const scopes = values.get("scope")?.split(" ").filter(Boolean) ?? [];
  return { realm, scopes, ...(service === undefined ? {} : { service }) };
}

/**
 * Whether a request for a token may carry the user's signature. A token is given to the registry
 * that named the realm; a foreign realm would let any registry collect the user's tokens for it.
 */
export function maySign(registry: URL, realm: URL): boolean {
  return realm.host === registry.host ||
    (realm.protocol === "https:" && TOKEN_HOSTS[registry.host] === realm.host);
}

// The user's key of Ollama, ~/.ollama/id_ed25519, and signatures with it.
// The format is OpenSSH's (PROTOCOL.key in its sources), unencrypted, Ed25519 only.

const PEM = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]+)-----END OPENSSH PRIVATE KEY-----/;
const MAGIC = "openssh-key-v1\0";
const KEY_TYPE = "ssh-ed25519";
const SEED_BYTES = 32;
/** The bytes before the seed in the PKCS #8 form of an Ed25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** An Ed25519 key that can sign. */
interface SigningKey {
  /** The public half in base64, as it stands in authorized_keys. */
  readonly publicKey: string;
  /** The signature of a text in base64. */
  sign(text: string): string;
}

/**
 * Reads an unencrypted OpenSSH private key.
 *
 * @throws {SyntaxError} if the text is none, or the key is encrypted or of another kind
 */
export function parseSshKey(text: string): SigningKey {
  const reader = new Reader(Buffer.from(PEM.exec(text)?.[1] ?? "", "base64"));
  if (reader.take(MAGIC.length).toString("latin1") !== MAGIC) {
    throw new SyntaxError("Cannot read the private key: it is not in OpenSSH's format");
  }
  const cipher = reader.string().toString();
  if (cipher !== "none") {
    throw new SyntaxError(`Cannot read the private key: it is encrypted with ${cipher}`);
  }
  reader.string(); // name of the key derivation, "none"
  reader.string(); // its options
  if (reader.number() !== 1) {
    throw new SyntaxError("Cannot read the private key: the file holds several keys");
  }
  const publicKey = reader.string().toString("base64");
  const secret = new Reader(reader.string());
  secret.take(8); // two equal numbers that tell whether decryption went well
  const type = secret.string().toString();
  if (type !== KEY_TYPE) {
    throw new SyntaxError(`Cannot read the private key: it is of type ${type}, not ${KEY_TYPE}`);
  }
  secret.string(); // the public half again
  const seed = secret.string().subarray(0, SEED_BYTES);
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return {
    publicKey,
    sign: (message) => sign(null, Buffer.from(message), key).toString("base64"),
  };
}

/** Reads numbers and length-prefixed strings, both big-endian. */
class Reader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(count: number): Buffer {
    const end = this.#offset + count;
    if (end > this.#bytes.length) {
      throw new SyntaxError("Cannot read the private key: it is not in OpenSSH's format");
    }
    const taken = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }

  number(): number {
    return this.take(4).readUInt32BE();
  }

  string(): Buffer {
    return this.take(this.number());
  }
}
