// The file of API keys: who may ask, by the SHA-256 of a key, so that whoever reads the file cannot
// ask. A key is 32 random bytes, which nobody can guess from a digest, so it needs no slow hash.

import { createHash } from "node:crypto";

/** What a key may do. */
export interface KeyEntry {
  /** By which metrics, the log and GET /api/usage name it. */
  readonly name: string;
  /** Of the key, in hex. */
  readonly sha256: string;
  /** Its share of a model beside other keys that ask at the same time. Default 1. */
  readonly weight?: number;
  /** "background": its requests wait for those of others. Default "normal". */
  readonly priority?: "normal" | "background";
  /** Most requests that it may send in a minute. Default: any number. */
  readonly requests_per_minute?: number;
  /** Most tokens, read and written, in a minute. Default: any number. */
  readonly tokens_per_minute?: number;
}

/** A file of keys cannot be used. */
export class KeyFileError extends Error {
  /** Name of the class. */
  override name = "KeyFileError";

  /** @param state what is so, as a clause */
  constructor(readonly path: string, state: string, options?: ErrorOptions) {
    super(`Cannot read the keys of "${path}": ${state}`, options);
  }
}

const PREFIX = "quern-";
const NAME = /^[\w.@-]{1,64}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** The members of an entry, what each must be, and whether a value is. */
const MEMBERS: Record<keyof KeyEntry, [is: string, fits: (value: unknown) => boolean]> = {
  name: ["up to 64 letters, digits and . _ @ -", (value) => isText(value) && NAME.test(value)],
  sha256: ["64 hexadecimal digits", (value) => isText(value) && DIGEST.test(value)],
  weight: ["a number above 0, at most 1000", (value) => isPositive(value) && value <= 1000],
  priority: [`"normal" or "background"`, (value) => value === "normal" || value === "background"],
  requests_per_minute: ["a number above 0", isPositive],
  tokens_per_minute: ["a number above 0", isPositive],
};

const REQUIRED = ["name", "sha256"] as const;

/**
 * The entries of a file `{"keys": [{"name": …, "sha256": …}]}`.
 *
 * @throws {KeyFileError} with the first entry and member that is wrong
 */
export function parseKeys(text: string, path: string): KeyEntry[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new KeyFileError(path, `it is no JSON: ${(cause as Error).message}`, { cause });
  }
  const keys = isObject(content) ? content.keys : undefined;
  if (!Array.isArray(keys)) throw new KeyFileError(path, `it has no list named "keys"`);
  const seen = new Set<string>();
  for (const [index, entry] of keys.entries()) {
    const fault = faultOf(entry) ?? repeated(entry, seen);
    if (fault) throw new KeyFileError(path, `keys[${index}]${fault}`);
  }
  return keys as KeyEntry[];
}

function faultOf(entry: unknown): string | undefined {
  if (!isObject(entry)) return " is no object";
  const missing = REQUIRED.find((member) => entry[member] === undefined);
  if (missing) return `.${missing} is missing`;
  for (const [member, value] of Object.entries(entry)) {
    const [is, fits] = MEMBERS[member as keyof KeyEntry] ?? [];
    if (!fits) return `.${member} is not known: members are ${Object.keys(MEMBERS).join(", ")}`;
    if (!fits(value)) return `.${member} must be ${is}, not ${JSON.stringify(value)}`;
  }
}

/** What is wrong where two entries have one name, or one key. Adds those of the entry. */
function repeated({ name, sha256 }: KeyEntry, seen: Set<string>): string | undefined {
  if (seen.has(`name ${name}`)) return `.name is "${name}" again`;
  if (seen.has(sha256)) return `.sha256 is that of another key`;
  seen.add(`name ${name}`).add(sha256);
}

/** A new key, which is shown once, and the entry that knows it. */
export function createKey(more: Omit<KeyEntry, "sha256">): { key: string; entry: KeyEntry } {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const key = PREFIX + bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  const { name, ...limits } = more;
  return { key, entry: { name, sha256: digestOfKey(key), ...limits } };
}

/** By which an entry knows a key. */
export function digestOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** The text of a file with these entries. */
export function encodeKeys(keys: readonly KeyEntry[]): string {
  return JSON.stringify({ keys }, undefined, 2) + "\n";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
