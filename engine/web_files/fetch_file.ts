// Fetches a file by HTTP, by ranges where a part of it is here (RFC 9110, 14), and checks it by its
// SHA-256, which is computed as the bytes come. What is kept, and where, is the store's business.

import { type OriginFile, sha256 } from "../../host/mod.ts";
import { GgufError } from "../errors.ts";
import type { FileNote, OriginStore } from "./origin_store.ts";

/** A file at an address. */
export interface RemoteFile {
  /** Its address; relative ones count from that of the page. */
  url: string;
  /** Its SHA-256 in hex, if it is known. A file with another one is refused. */
  sha256?: string;
  /** Headers of the requests, such as `authorization`. */
  headers?: Record<string, string>;
}

/** How often a connection that breaks is made again without a byte more, and the time before that. */
const [MOST_TRIES, PAUSE_MILLISECONDS] = [4, 300];

/** Bytes of a kept part that are read at a time. */
const READ_BYTES = 2 ** 22;

interface FetchOptions {
  onProgress?: (loaded: number, total: number) => void;
  signal?: AbortSignal;
}

/**
 * The file at an address: from what is kept, if it is still that of the server, or else fetched.
 *
 * @param name for errors
 * @param store undefined: nothing is kept
 */
export async function fetchFile(
  name: string,
  file: RemoteFile,
  store: OriginStore | undefined,
  options: FetchOptions = {},
): Promise<Blob> {
  const fetching = new Fetching(name, file, options);
  if (!store) return await fetching.intoMemory();
  return await store.alone(file.url, async () => {
    const kept = await keptFile(fetching, store);
    return kept ?? await fetching.into(store);
  });
}

/** The whole file that is kept, if the server does not have another one by now. */
async function keptFile(fetching: Fetching, store: OriginStore): Promise<Blob | undefined> {
  const { url, sha256: digest } = fetching.file;
  if (digest) return await store.whole(digest.toLowerCase());
  const note = await store.note(url);
  const kept = note?.sha256 === undefined ? undefined : await store.whole(note.sha256);
  if (!kept || !note) return undefined;
  const now = await fetching.look();
  // Without the server, what is here has to do.
  return !now || (now.etag === note.etag && now.size === note.size) ? kept : undefined;
}

/** The fetching of one file. */
class Fetching {
  readonly file: RemoteFile;
  readonly #name: string;
  readonly #options: FetchOptions;

  constructor(name: string, file: RemoteFile, options: FetchOptions) {
    this.#name = name;
    this.file = {
      ...file,
      ...(file.sha256 && { sha256: file.sha256.replace(/^sha256[:-]/i, "") }),
    };
    this.#options = options;
  }

  /** What the server says of the file; undefined if it says nothing. */
  async look(): Promise<Pick<FileNote, "etag" | "size"> | undefined> {
    try {
      const response = await fetch(this.file.url, {
        ...this.#request(),
        method: "HEAD",
        headers: { ...this.file.headers },
      });
      return response.ok ? versionOf(response) : undefined;
    } catch {
      this.#options.signal?.throwIfAborted();
      return undefined;
    }
  }

  /** Fetches the file into memory, or to where the browser keeps what it fetches. */
  async intoMemory(): Promise<Blob> {
    const response = await this.#ask({});
    if (!response.ok || !response.body) throw this.#error(`the server answers ${response.status}`);
    const { size } = versionOf(response);
    const hash = sha256();
    let loaded = 0;
    const told = response.body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform: (bytes, controller) => {
          hash.update(bytes);
          this.#tell(loaded += bytes.length, size);
          controller.enqueue(bytes);
        },
      }),
    );
    const blob = await new Response(told).blob();
    this.#check(hash.digest("hex"));
    return blob;
  }

  /** Fetches the file into the store, from where an earlier time ended. */
  async into(store: OriginStore): Promise<Blob> {
    const { url } = this.file;
    const digest = await store.withPart(url, async (part) => {
      const note = await store.note(url);
      // A part without a note is that of a version that nobody knows.
      if (note === undefined || note.sha256 !== undefined) part.truncate(0);
      const hash = hashOf(part);
      let [at, etag, tries] = [part.getSize(), note?.etag, 0];
      while (true) {
        const before = at;
        try {
          const response = await this.#ask({
            ...(at > 0 && { range: `bytes=${at}-`, ...(etag && { "if-range": etag }) }),
          });
          if (response.status === 416 && at > 0) {
            await response.body?.cancel();
            part.truncate(at = 0); // It is another file by now, and shorter.
            hash.restart();
            continue;
          }
          if (!response.ok || !response.body) {
            throw this.#error(`the server answers ${response.status}`);
          }
          if (at > 0 && response.status !== 206) {
            part.truncate(at = 0);
            hash.restart();
          }
          const version = versionOf(response, at);
          etag = version.etag;
          await this.#requireRoom(store, version.size - at);
          await store.setNote({ url, ...version });
          for await (const bytes of response.body) {
            this.#options.signal?.throwIfAborted();
            part.write(bytes, { at });
            hash.update(bytes);
            this.#tell(at += bytes.length, version.size);
          }
          if (version.size > 0 && at < version.size) throw new TypeError("it ended early");
          part.flush();
          const digest = hash.digest();
          await this.#checkOrDrop(store, part, digest);
          await store.setNote({ url, ...version, size: at, sha256: digest });
          return digest;
        } catch (error) {
          // A connection that breaks is a TypeError.
          this.#options.signal?.throwIfAborted();
          if (!(error instanceof TypeError)) throw error;
          tries = at > before ? 0 : tries + 1;
          if (tries >= MOST_TRIES) throw this.#error(`the connection breaks: ${error.message}`);
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS * tries));
        }
      }
    });
    return await store.complete(url, digest);
  }

  async #ask(headers: Record<string, string>): Promise<Response> {
    return await fetch(this.file.url, {
      ...this.#request(),
      headers: { ...this.file.headers, ...headers },
    });
  }

  #request(): RequestInit {
    const { signal } = this.#options;
    return { cache: "no-store", ...(signal && { signal }) } as RequestInit;
  }

  async #requireRoom(store: OriginStore, bytes: number): Promise<void> {
    const free = await store.free();
    if (bytes <= free) return;
    throw this.#error(
      `the browser keeps ${Math.round(free / 1e6)} MB more for this site, and it has ${
        Math.round(bytes / 1e6)
      }`,
    );
  }

  async #checkOrDrop(store: OriginStore, part: OriginFile, digest: string): Promise<void> {
    try {
      this.#check(digest);
    } catch (error) {
      part.truncate(0);
      await store.dropPart(this.file.url).catch(() => {});
      throw error;
    }
  }

  #check(digest: string): void {
    const wanted = this.file.sha256?.toLowerCase();
    if (wanted === undefined || wanted === digest) return;
    throw this.#error(`its SHA-256 is ${digest}, not ${wanted}`);
  }

  #tell(loaded: number, total: number): void {
    this.#options.onProgress?.(loaded, Math.max(total, loaded));
  }

  #error(state: string): GgufError {
    return new GgufError(
      this.#name,
      "file",
      `it cannot be fetched from ${this.file.url}: ${state}`,
    );
  }
}

/** What a response says of a file. @param before bytes that precede those of the response */
function versionOf({ headers }: Response, before = 0): Pick<FileNote, "etag" | "size"> {
  const etag = headers.get("etag");
  const whole = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  const size = whole ?? before + Number(headers.get("content-length") ?? 0);
  // Weak ones do not tell that the bytes are those of before.
  return { size: Number(size), ...(etag && !etag.startsWith("W/") && { etag }) };
}

/** The SHA-256 of what is in a file, to be gone on with. */
function hashOf(part: OriginFile) {
  let hash = sha256();
  const buffer = new Uint8Array(READ_BYTES);
  for (let at = 0, count; (count = part.read(buffer, { at })) > 0; at += count) {
    hash.update(buffer.subarray(0, count));
  }
  return {
    update: (bytes: Uint8Array) => void hash.update(bytes),
    restart: () => void (hash = sha256()),
    digest: () => hash.digest("hex"),
  };
}
