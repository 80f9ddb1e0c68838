// The keys that a server takes: the one of QUERN_API_KEY, whose holder sees the use of all, and those of
// a file, which may change while the server runs. A file that became wrong changes nothing, and the log
// says so.

import { timingSafeEqual } from "node:crypto";
import { KeyAccount } from "./account.ts";
import { digestOfKey, type KeyEntry, KeyFileError, parseKeys } from "./key_file.ts";

const LOOK_MILLISECONDS = 1000;

/** The name of the key of QUERN_API_KEY. */
export const OWNER = "owner";

/** From where keys come. */
export interface KeyRingOptions {
  /** The key of the server's owner. */
  ownerKey?: string | undefined;
  /** A file of further keys. */
  file?: string | undefined;
  /** Told what is wrong with a file that changed. */
  warn: (message: string) => void;
  /** How often the file is looked at, at most, in milliseconds. Default 1,000. */
  lookMilliseconds?: number;
}

/** Knows keys by what clients send. */
export class KeyRing {
  readonly #options: KeyRingOptions;
  readonly #owner: KeyAccount | undefined;
  #accounts: KeyAccount[] = [];
  #version = "";
  #lookedAt = -Infinity;
  #look: Promise<void> | undefined;

  constructor(options: KeyRingOptions) {
    this.#options = options;
    const { ownerKey } = options;
    if (ownerKey !== undefined) {
      this.#owner = new KeyAccount({ name: OWNER, sha256: digestOfKey(ownerKey) });
    }
  }

  /**
   * Reads the file, if there is one, for the first time.
   *
   * @throws {KeyFileError} if it cannot be read
   */
  async open(): Promise<void> {
    await this.#read();
  }

  /** Whether requests need a key. */
  get isNeeded(): boolean {
    return this.#owner !== undefined || this.#options.file !== undefined;
  }

  /** All accounts, the owner's first. */
  get accounts(): readonly KeyAccount[] {
    return [...this.#owner ? [this.#owner] : [], ...this.#accounts];
  }

  /** Whether this account sees the use of all. */
  isOwner(account: KeyAccount): boolean {
    return account === this.#owner;
  }

  /** The account of a key that a client sent; undefined if it is none. */
  async find(key: string): Promise<KeyAccount | undefined> {
    await this.#refresh();
    const digest = Uint8Array.fromHex(digestOfKey(key));
    // All of them, and each in constant time, so that the time tells nothing of the keys there are.
    return this.accounts.filter(({ entry }) =>
      timingSafeEqual(digest, Uint8Array.fromHex(entry.sha256))
    ).at(0);
  }

  async #refresh(): Promise<void> {
    const now = performance.now();
    const { file, lookMilliseconds = LOOK_MILLISECONDS } = this.#options;
    if (file === undefined || now < this.#lookedAt + lookMilliseconds) return;
    this.#lookedAt = now;
    this.#look ??= this.#read()
      .catch((error) => this.#options.warn(`${error.message}; the keys stay as they were`))
      .finally(() => this.#look = undefined);
    await this.#look;
  }

  async #read(): Promise<void> {
    const { file } = this.#options;
    if (file === undefined) return;
    const version = await versionOf(file);
    if (version === this.#version) return;
    // First, so that what is wrong with this version of the file is said once.
    this.#version = version;
    this.#accounts = parseKeys(await readText(file), file).map((entry) => this.#accountOf(entry));
  }

  /** The account that an entry has, which is the former one where nothing changed. */
  #accountOf(entry: KeyEntry): KeyAccount {
    if (entry.name === OWNER && this.#owner) {
      throw new KeyFileError(this.#options.file!, `"${OWNER}" is the name of QUERN_API_KEY's key`);
    }
    const former = this.#accounts.find((account) => account.entry.name === entry.name);
    if (!former) return new KeyAccount(entry);
    if (JSON.stringify(former.entry) === JSON.stringify(entry)) return former;
    const account = new KeyAccount(entry);
    account.continue(former);
    return account;
  }
}

/** What tells a version of a file from another. */
async function versionOf(path: string): Promise<string> {
  const { mtime, size, ino } = await Deno.stat(path).catch((cause) => unreadable(path, cause));
  return `${mtime?.getTime()} ${size} ${ino}`;
}

async function readText(path: string): Promise<string> {
  return await Deno.readTextFile(path).catch((cause) => unreadable(path, cause));
}

function unreadable(path: string, cause: unknown): never {
  const state = cause instanceof Deno.errors.NotFound ? "there is no such file" : String(cause);
  throw new KeyFileError(path, state, { cause });
}
