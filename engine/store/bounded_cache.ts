// A cache within a number of bytes: what was used longest ago goes first. The newest entry stays,
// however large it is, so that what is asked for again and again is not read each time.

/** A cache by text keys. */
export class BoundedCache<V> {
  /** The entries, those used longest ago first. */
  readonly #entries = new Map<string, { value: V; bytes: number }>();
  readonly #limit: number;
  #bytes = 0;

  /** @param limit most bytes of all entries */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The value of a key, which counts as used. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** @param bytes how much memory the value takes, about */
  set(key: string, value: V, bytes: number): void {
    this.delete(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limit || oldest === key) break;
      this.delete(oldest);
    }
  }

  /** Forgets a key. */
  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
