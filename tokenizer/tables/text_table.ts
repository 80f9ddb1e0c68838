// A hash table from texts to numbers that looks up a range of a longer text without copying it.
// Words and pieces are looked up millions of times, and making a string for each would cost more
// than all else. Open addressing over typed arrays; it does not grow, and single entries cannot be
// removed.

/** An odd multiplier with well-spread bits, so that short texts do not collide. */
const MULTIPLIER = 0x2c1b3c6d;
/** 2^32 divided by the golden ratio, which spreads a hash over its upper bits. */
const SPREAD = 0x9e3779b1;

/** A polynomial hash of `text[start, end)`. */
function hashText(text: string, start: number, end: number): number {
  let hash = 0;
  for (let index = start; index < end; index++) {
    hash = Math.imul(hash, MULTIPLIER) + text.charCodeAt(index) + 1 | 0;
  }
  return hash;
}

/** The hashes of all ranges of a text, each computed in constant time. */
export class RangeHashes {
  #prefixes = new Int32Array(64);
  readonly #powers: Int32Array;

  /** @param longest length of the longest range */
  constructor(longest: number) {
    const powers = this.#powers = new Int32Array(longest + 1).fill(1);
    for (let power = 1; power < powers.length; power++) {
      powers[power] = Math.imul(powers[power - 1]!, MULTIPLIER);
    }
  }

  /** Starts another text. */
  reset(text: string): void {
    if (text.length >= this.#prefixes.length) this.#prefixes = new Int32Array(2 * text.length);
    const prefixes = this.#prefixes;
    for (let index = 0; index < text.length; index++) {
      prefixes[index + 1] = Math.imul(prefixes[index]!, MULTIPLIER) + text.charCodeAt(index) + 1;
    }
  }

  /** The value of `hashText` for `[start, end)`. */
  of(start: number, end: number): number {
    const before = Math.imul(this.#prefixes[start]!, this.#powers[end - start]!);
    return this.#prefixes[end]! - before | 0;
  }
}

/** The words of an entry are adjacent, so that one cache line has all of them. */
const HASH = 0;
const START = 1;
const END = 2;
const VALUE = 3;
const FIELDS = 4;

/** A map from texts to non-negative numbers. */
export class TextTable {
  /**
   * Offset in `#entries` of the entry at each slot, -1 for a free slot. Half of the slots are free.
   */
  readonly #slots: Int32Array;
  readonly #shift: number;
  readonly #entries: Int32Array;
  /** The texts, one after the other, in UTF-16. */
  readonly #units: Uint16Array;
  #entriesEnd = 0;
  #unitsEnd = 0;

  /** @param entries most texts @param units most UTF-16 units of all texts together */
  constructor(entries: number, units: number) {
    const bits = 33 - Math.clz32(entries);
    this.#slots = new Int32Array(1 << bits).fill(-1);
    this.#shift = 32 - bits;
    this.#entries = new Int32Array(entries * FIELDS);
    this.#units = new Uint16Array(units);
  }

  /** The number of `text[start, end)`, or -1. @param hash of that range, if known */
  find(text: string, start: number, end: number, hash = hashText(text, start, end)): number {
    const entry = this.#slots[this.#slotOf(text, start, end, hash)]!;
    return entry < 0 ? -1 : this.#entries[entry + VALUE]!;
  }

  /** Adds `text` unless it is there. False if there is no room for it. */
  add(text: string, value: number): boolean {
    const entries = this.#entries;
    const entry = this.#entriesEnd;
    const start = this.#unitsEnd;
    const end = start + text.length;
    if (entry === entries.length || end > this.#units.length) return false;
    const hash = hashText(text, 0, text.length);
    const slot = this.#slotOf(text, 0, text.length, hash);
    if (this.#slots[slot]! >= 0) return true;
    for (let index = 0; index < text.length; index++) {
      this.#units[start + index] = text.charCodeAt(index);
    }
    entries[entry + HASH] = hash;
    entries[entry + START] = start;
    entries[entry + END] = end;
    entries[entry + VALUE] = value;
    this.#slots[slot] = entry;
    this.#entriesEnd = entry + FIELDS;
    this.#unitsEnd = end;
    return true;
  }

  /** Removes all entries. */
  clear(): void {
    this.#slots.fill(-1);
    this.#entriesEnd = 0;
    this.#unitsEnd = 0;
  }

  /** The slot of the text, or the free slot for it. */
  #slotOf(text: string, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = Math.imul(hash, SPREAD) >>> this.#shift;; slot = slot + 1 & mask) {
      const entry = slots[slot]!;
      if (entry < 0) return slot;
      if (this.#entries[entry + HASH] === hash && this.#isAt(entry, text, start, end)) return slot;
    }
  }

  #isAt(entry: number, text: string, start: number, end: number): boolean {
    const first = this.#entries[entry + START]!;
    if (this.#entries[entry + END]! - first !== end - start) return false;
    for (let index = start; index < end; index++) {
      if (this.#units[first + index - start] !== text.charCodeAt(index)) return false;
    }
    return true;
  }
}
