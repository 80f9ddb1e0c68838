// Files of a load that are not on this machine: at an address, or given by the program as bytes or as a
// `File` that a user picked. A thread of a browser reads them piece by piece where they lie, so that a
// model is never whole in the heap; elsewhere they are in memory.

import { readBlob, readsBlobs } from "../../host/mod.ts";
import { type ByteSource, type ByteSources, filesInMemory } from "../gguf/mod.ts";
import { GgufError } from "../errors.ts";
import { fetchFile, type RemoteFile } from "./fetch_file.ts";
import { OriginStore } from "./origin_store.ts";

/** Where a file is: its address, or what is in it. */
export type WebFile = string | URL | RemoteFile | Blob | Uint8Array<ArrayBuffer>;

/** The options of {@linkcode openSources}. */
export interface SourceOptions {
  /** Called while a file is fetched, with its name and the bytes that are here. */
  onFetch?: (name: string, loaded: number, total: number) => void;
  /** Aborting it ends the fetching with its reason. What is here is kept, and the next time goes on. */
  signal?: AbortSignal;
}

/**
 * Opens files by the names that a load has for them. Those at addresses are fetched first. A browser keeps
 * them by their SHA-256 in the private file system of the page's site, if this thread is a worker: then
 * they are fetched once, an interrupted fetch goes on where it ended, and they are checked.
 *
 * @throws {GgufError} if a file cannot be had, or is not the one with the given SHA-256; the signal's reason
 */
export async function openSources(
  sources: Readonly<Record<string, WebFile>>,
  { onFetch, signal }: SourceOptions = {},
): Promise<ByteSources> {
  const store = await OriginStore.open();
  const blobs = new Map<string, Blob>();
  const bytes: Record<string, Uint8Array> = {};
  for (const [name, source] of Object.entries(sources)) {
    const given = source instanceof Uint8Array || source instanceof Blob
      ? source
      : await fetchFile(name, remote(source), store, {
        onProgress: (loaded, total) => onFetch?.(name, loaded, total),
        ...(signal && { signal }),
      });
    if (given instanceof Uint8Array) bytes[name] = given;
    else if (readsBlobs()) blobs.set(name, given);
    else bytes[name] = new Uint8Array(await given.arrayBuffer());
  }
  const inMemory = filesInMemory(bytes);
  return {
    open(path) {
      const blob = blobs.get(path);
      return blob ? Promise.resolve(new BlobSource(path, blob)) : inMemory.open(path);
    },
    has: async (path) => blobs.has(path) || await inMemory.has(path),
  };
}

/** Sources as they can be sent to another thread. */
export function sendableSources(
  sources: Readonly<Record<string, WebFile>>,
): Record<string, WebFile> {
  const base = globalThis.location?.href;
  return Object.fromEntries(
    Object.entries(sources).map(([name, source]) => {
      if (source instanceof Blob || source instanceof Uint8Array) return [name, source];
      const { url, ...others } = remote(source);
      return [name, { ...others, url: URL.parse(url, base)?.href ?? url }];
    }),
  );
}

function remote(source: string | URL | RemoteFile): RemoteFile {
  return typeof source === "string" || source instanceof URL ? { url: String(source) } : source;
}

/** What is in a blob, which may be a file on disk. */
class BlobSource implements ByteSource {
  readonly size: number;
  readonly #path: string;
  readonly #blob: Blob;

  constructor(path: string, blob: Blob) {
    this.size = blob.size;
    this.#path = path;
    this.#blob = blob;
  }

  read(offset: number, target: Uint8Array): number {
    try {
      const bytes = readBlob(this.#blob, offset, offset + target.length);
      target.set(bytes);
      return bytes.length;
    } catch (cause) {
      // As when a picked file was changed on disk.
      throw new GgufError(this.#path, "file", `the browser cannot read it: ${String(cause)}`);
    }
  }

  [Symbol.dispose](): void {}
}
