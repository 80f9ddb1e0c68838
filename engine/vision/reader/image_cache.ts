// A cache of encoded images by the hash of their bytes, because clients send the images of a
// conversation again with every turn. The least recently used are evicted first. If nobody waits
// for an image any more, reading it is aborted and nothing is kept.

import type { ReadImage } from "../../prompt/mod.ts";
import { untilAborted } from "../../async.ts";

interface Entry {
  readonly image: Promise<ReadImage>;
  /** Aborts the reading. */
  readonly abort: AbortController;
  /** Number of callers that wait for it. */
  waiting: number;
  /** Bytes of its embeddings; 0 until they are there. */
  bytes: number;
}

/** A cache of images with a limit in bytes. */
export class ImageCache {
  /** Entries, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #capacity: number;

  /** @param capacity bytes of embeddings */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * The image of a key, read if it is not in the cache. Failures are not cached.
   *
   * @param read reads the image; its signal is aborted when nobody waits any more
   * @throws what `read` throws; the reason of `signal`, at once
   */
  async get(
    key: string,
    read: (signal: AbortSignal) => Promise<ReadImage>,
    signal?: AbortSignal,
  ): Promise<ReadImage> {
    signal?.throwIfAborted();
    const entry = this.#entries.get(key) ?? this.#begin(key, read);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.waiting++;
    try {
      const image = await untilAborted(entry.image, signal);
      entry.bytes = image.parts.reduce((sum, { embeddings }) => sum + embeddings.byteLength, 0);
      return image;
    } finally {
      entry.waiting--;
      if (entry.bytes > 0) this.#trim();
      else if (entry.waiting === 0) this.#drop(key, entry);
    }
  }

  #begin(key: string, read: (signal: AbortSignal) => Promise<ReadImage>): Entry {
    const abort = new AbortController();
    const entry: Entry = { image: read(abort.signal), abort, waiting: 0, bytes: 0 };
    entry.image.catch(() => this.#drop(key, entry));
    return entry;
  }

  /** Removes an image that could not be read, or for which nobody waits. */
  #drop(key: string, entry: Entry): void {
    entry.abort.abort();
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  #trim(): void {
    let total = this.#entries.values().reduce((sum, { bytes }) => sum + bytes, 0);
    for (const [key, { bytes }] of this.#entries) {
      if (total <= this.#capacity) return;
      if (bytes === 0) continue;
      this.#entries.delete(key);
      total -= bytes;
    }
  }
}
