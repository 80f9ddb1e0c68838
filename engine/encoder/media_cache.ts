// The images and sounds that were read last, by the hash of their bytes: their embeddings take the longest
// to compute of all that a prompt has.

import { untilAborted } from "../async.ts";
import type { ReadMedia } from "../prompt/mod.ts";

/** Runs work while nothing else uses the device. An aborted signal ends the wait for that. */
export type Between = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface Entry {
  readonly read: Promise<ReadMedia>;
  /** Aborts the reading. */
  readonly abort: AbortController;
  /** Number of callers that wait for it. */
  waiting: number;
  /** Bytes of its embeddings; 0 until they are there. */
  bytes: number;
}

/** A cache of images or sounds with a limit in bytes. */
export class MediaCache {
  /** Entries, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #capacity: number;

  /** @param capacity bytes of embeddings */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * The image or sound of a key, read if it is not in the cache. Failures are not cached.
   *
   * @param read reads it; its signal is aborted when nobody waits any more
   * @throws what `read` throws; the reason of `signal`, at once
   */
  async get(
    key: string,
    read: (signal: AbortSignal) => Promise<ReadMedia>,
    signal?: AbortSignal,
  ): Promise<ReadMedia> {
    signal?.throwIfAborted();
    const entry = this.#entries.get(key) ?? this.#begin(key, read);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.waiting++;
    try {
      const media = await untilAborted(entry.read, signal);
      entry.bytes = media.parts.reduce((sum, { embeddings }) => sum + embeddings.byteLength, 0);
      return media;
    } finally {
      entry.waiting--;
      if (entry.bytes > 0) this.#trim();
      else if (entry.waiting === 0) this.#drop(key, entry);
    }
  }

  #begin(key: string, read: (signal: AbortSignal) => Promise<ReadMedia>): Entry {
    const abort = new AbortController();
    const entry: Entry = { read: read(abort.signal), abort, waiting: 0, bytes: 0 };
    entry.read.catch(() => this.#drop(key, entry));
    return entry;
  }

  /** Removes what could not be read, or for which nobody waits. */
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
