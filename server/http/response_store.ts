// The responses and conversations that are kept for later requests: a file each in a folder of the
// cache, bounded by count, bytes and age, the oldest dropped first. Knows files, not what is in them.
//
// A file has three parts: the SHA-256 of what follows, a line that identifies the owner, and the
// content. It is written under another name and renamed, so that it is there completely or not at
// all, and it is checked when it is read. The owner's line is the HMAC-SHA256 of the id under the
// owner's key, so that it tells nothing to anybody without the key. Ids begin with the time at
// which they were made, so the names of files sort by age. Several servers may use one folder: of two
// that change a file at once, the later one counts.

import { createHmac } from "node:crypto";
import { join } from "node:path";
import { entriesOf, readIfThere, removeIfThere } from "../../engine/mod.ts";

/** 12 digits of the time in milliseconds, and 144 random bits, which cannot be guessed. */
const ID = /^[0-9a-f]{48}$/;
const TIME_DIGITS = 12;
const RANDOM_BYTES = 18;

/** The name of a file that is being written. */
const PART = /\.part$/;
/** The age, in milliseconds, from which on such a file is abandoned. */
const STALE_PART = 600_000;
/** Milliseconds by which the clocks of servers that share a folder may differ. */
const SKEW = 60_000;

/** SHA-256 or its HMAC in hexadecimal digits, and a line feed. */
const LINE_BYTES = 65;
/** Bytes before the content: two such lines. */
const HEAD_BYTES = 2 * LINE_BYTES;

/** How many answers of /v1/responses are kept. */
export interface ResponseBounds {
  count: number;
  /** Of all files. */
  bytes: number;
  /** In milliseconds. */
  age: number;
}

export interface ResponseStoreOptions extends ResponseBounds {
  folder: string;
  /** Called with the reason when a response cannot be kept, or when a kept one is lost. */
  warn: (text: string) => void;
}

/** The responses of a folder. */
export class ResponseStore {
  readonly bounds: ResponseBounds;
  readonly #folder: string;
  readonly #warn: (text: string) => void;
  /** Sizes of the files that were looked at, in bytes. */
  readonly #sizes = new Map<string, number>();
  #opened = Date.now();
  /** Settles when all changes and deletions that were asked for earlier are done. */
  #earlier: Promise<unknown> = Promise.resolve();

  constructor({ folder, warn, ...bounds }: ResponseStoreOptions) {
    this.#folder = folder;
    this.#warn = warn;
    this.bounds = bounds;
  }

  /** An id that nothing else has. */
  static newId(): string {
    const time = Date.now().toString(16).padStart(TIME_DIGITS, "0");
    return time + crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)).toHex();
  }

  /** Time at which an id was made; undefined for a text that is not an id. */
  static madeAt(id: string): Date | undefined {
    return ID.test(id) ? new Date(parseInt(id.slice(0, TIME_DIGITS), 16)) : undefined;
  }

  /** Whether a response with such an id is too old to be kept. */
  isExpired(id: string): boolean {
    const made = ResponseStore.madeAt(id)?.getTime();
    if (made === undefined) return false;
    const now = Date.now();
    this.#opened = Math.min(this.#opened, now);
    // One of the future was made before somebody set the clock right, perhaps just before this.
    return now - (isOfFuture(id, now) ? this.#opened : made) > this.bounds.age;
  }

  /**
   * Keeps a response, in place of an earlier one of its id, and drops the oldest ones if there are
   * too many.
   *
   * @param owner key of the client that may read it
   * @returns whether it is kept; not if it is larger than all may be together, or cannot be written
   */
  async put(id: string, owner: string, content: Uint8Array<ArrayBuffer>): Promise<boolean> {
    if (HEAD_BYTES + content.length > this.bounds.bytes) {
      this.#warn(`a response is not kept: it has ${content.length} bytes, more than all may have`);
      return false;
    }
    const part = join(this.#folder, `${ResponseStore.newId()}.part`);
    try {
      await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const bytes = await sealed(ownerLine(owner, id), content);
      await Deno.writeFile(part, bytes, { mode: 0o600, createNew: true });
      await Deno.rename(part, join(this.#folder, id));
      this.#sizes.delete(id);
    } catch (error) {
      await Deno.remove(part).catch(() => {});
      this.#warn(`a response is not kept: ${(error as Error).message}`);
      return false;
    }
    await this.trim().catch((error) => this.#warn(`kept responses: ${error.message}`));
    return true;
  }

  /**
   * The content of a response; undefined if it is not kept, or is another's.
   *
   * @throws {Error} what the disk says of a file that is there and cannot be read
   */
  async get(id: string, owner: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (!ID.test(id) || this.isExpired(id)) return undefined;
    const path = join(this.#folder, id);
    const bytes = await readIfThere(path).catch((error) => {
      // It belongs to another user of the system.
      if (error instanceof Deno.errors.PermissionDenied) return undefined;
      throw error;
    });
    if (!bytes) return undefined;
    const line = (from: number) =>
      new TextDecoder().decode(bytes.subarray(from, from + LINE_BYTES));
    if (bytes.length < HEAD_BYTES || line(0) !== await digestLine(bytes.subarray(LINE_BYTES))) {
      this.#warn(`a kept response is lost: its file is damaged: ${path}`);
      await removeIfThere(path).catch(() => {});
      return undefined;
    }
    return line(LINE_BYTES) === ownerLine(owner, id) ? bytes.subarray(HEAD_BYTES) : undefined;
  }

  /** Drops a response; returns whether it was there. */
  async delete(id: string, owner: string): Promise<boolean> {
    return await this.#inTurn(async () =>
      await this.get(id, owner) !== undefined && await removeIfThere(join(this.#folder, id))
    );
  }

  /**
   * Puts something else in the place of a content. Changes happen one after the other, so that none
   * is lost.
   *
   * @param edit makes the new content of the old one; what it throws is thrown
   * @returns whether the new content is kept; undefined if there is no old one, or it is another's
   */
  async change(
    id: string,
    owner: string,
    edit: (content: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<boolean | undefined> {
    return await this.#inTurn(async () => {
      const content = await this.get(id, owner);
      return content && await this.put(id, owner, await edit(content));
    });
  }

  /** Drops responses that are too old or too many, and files that were never completed. */
  async trim(): Promise<void> {
    const names = await this.#list();
    let count = names.length;
    let bytes = 0;
    for (const name of names) bytes += this.#sizes.get(name) ?? 0;
    for (const name of names) {
      const isOver = count > this.bounds.count || bytes > this.bounds.bytes;
      if (!isOver && !this.isExpired(name)) break;
      await removeIfThere(join(this.#folder, name));
      count--;
      bytes -= this.#sizes.get(name) ?? 0;
      this.#sizes.delete(name);
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#earlier.then(work);
    this.#earlier = done.catch(() => {});
    return done;
  }

  /** The names of all files, the oldest first; their sizes are known then. */
  async #list(): Promise<string[]> {
    const names: string[] = [];
    for (const { name } of await entriesOf(this.#folder)) {
      if (ID.test(name)) names.push(name);
      else if (PART.test(name)) await this.#removeStale(name);
    }
    const known = new Set(names);
    for (const name of this.#sizes.keys()) if (!known.has(name)) this.#sizes.delete(name);
    for (const name of names) {
      if (this.#sizes.has(name)) continue;
      const facts = await Deno.lstat(join(this.#folder, name)).catch(() => undefined);
      if (facts) this.#sizes.set(name, facts.size);
    }
    const now = Date.now();
    const { ahead = [], others = [] } = Object.groupBy(
      names.sort(),
      (name) => isOfFuture(name, now) ? "ahead" : "others",
    );
    return [...ahead, ...others];
  }

  async #removeStale(name: string): Promise<void> {
    const path = join(this.#folder, name);
    const changed = (await Deno.lstat(path).catch(() => undefined))?.mtime;
    if (changed && Math.abs(Date.now() - changed.getTime()) > STALE_PART) await removeIfThere(path);
  }
}

/**
 * Whether an id was made while the clock ran ahead. Such a response must not stay longer than those
 * that are made since somebody set the clock right: it counts as older than all of them.
 */
function isOfFuture(id: string, now: number): boolean {
  return ResponseStore.madeAt(id)!.getTime() > now + SKEW;
}

function ownerLine(owner: string, id: string): string {
  return `${createHmac("sha256", owner).update(id).digest("hex")}\n`;
}

/** The digest. It is computed off the main thread, so that other requests are served meanwhile. */
async function digestLine(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `${new Uint8Array(digest).toHex()}\n`;
}

/** The bytes of a file. */
async function sealed(owner: string, content: Uint8Array): Promise<Uint8Array> {
  const bytes = new Uint8Array(HEAD_BYTES + content.length);
  const encoder = new TextEncoder();
  encoder.encodeInto(owner, bytes.subarray(LINE_BYTES));
  bytes.set(content, HEAD_BYTES);
  encoder.encodeInto(await digestLine(bytes.subarray(LINE_BYTES)), bytes);
  return bytes;
}
