// Images that were encoded, by the hash of their bytes: what stands in the history of a conversation
// comes with every turn of it. Those that were not asked for longest go first.

import type { PromptImage } from "../prompt_images.ts";

/** An image as it stands in a prompt. */
export interface ReadImage {
  /** The image, or its tiles in the order of the prompt. */
  readonly parts: readonly PromptImage[];
  /** One more than there are parts: before the first, between two, after the last. */
  readonly texts: readonly string[];
}

interface Entry {
  readonly image: Promise<ReadImage>;
  /** Of its embeddings; 0 until they are there. */
  bytes: number;
}

/** Remembers as many images as fit; those that are being read count as nothing. */
export class ImageCache {
  /** The one that was asked for last is last. */
  readonly #entries = new Map<string, Entry>();
  readonly #capacity: number;

  /** @param capacity bytes of embeddings */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The image of a key, read if it is not known. One that could not be read is not remembered. */
  async get(key: string, read: () => Promise<ReadImage>): Promise<ReadImage> {
    const entry = this.#entries.get(key) ?? { image: read(), bytes: 0 };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    try {
      const image = await entry.image;
      entry.bytes = image.parts.reduce((sum, { embeddings }) => sum + embeddings.byteLength, 0);
      this.#trim();
      return image;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
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
