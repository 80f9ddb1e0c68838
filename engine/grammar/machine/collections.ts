// Lists, sets of byte strings, and texts that are being read, each by number: equal ones have the
// same number, so that frames, stacks and states are compared by number.

// Hash-consed lists of integers: equal lists have the same id, so that frames, stacks and states of
// the machine are compared by number. Tables are flat and hashes are integers, because a mask may
// make thousands of lists.

/** An odd factor, so that every bit of an element affects the high bits of the hash. */
const MIX = 0x9e3779b1;

/** Initial size of a table, as a power of two. Most objects of a union only ever see one list. */
const FIRST_SIZE = 4;

/** Lists of integers with ids from 0 on, in the order in which they were added. */
export class IntegerLists {
  #elements = new Int32Array(1 << FIRST_SIZE);
  /** The offset of each list, and the end of the last one. */
  #starts = new Int32Array(1 << FIRST_SIZE);
  /** The hash table: id + 1, or 0 for a free slot. */
  #slots = new Int32Array(1 << FIRST_SIZE);
  #shift = 32 - FIRST_SIZE;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The id of a list. The argument is copied if the list is new. */
  intern(list: ArrayLike<number>): number {
    let slot = hash(list) >>> this.#shift;
    const mask = this.#slots.length - 1;
    for (let found = this.#slots[slot]!; found !== 0; found = this.#slots[slot]!) {
      if (this.#equals(found - 1, list)) return found - 1;
      slot = (slot + 1) & mask;
    }
    const id = this.#append(list);
    this.#slots[slot] = id + 1;
    if (2 * this.#size > this.#slots.length) this.#rehash();
    return id;
  }

  /** Number of elements of a list. */
  lengthOf(id: number): number {
    return this.#starts[id + 1]! - this.#starts[id]!;
  }

  /** An element of a list. */
  at(id: number, index: number): number {
    return this.#elements[this.#starts[id]! + index]!;
  }

  /** A copy of a list. */
  get(id: number): number[] {
    const list: number[] = [];
    const end = this.#starts[id + 1]!;
    for (let index = this.#starts[id]!; index < end; index++) list.push(this.#elements[index]!);
    return list;
  }

  #equals(id: number, list: ArrayLike<number>): boolean {
    const start = this.#starts[id]!;
    if (this.#starts[id + 1]! - start !== list.length) return false;
    for (let index = 0; index < list.length; index++) {
      if (this.#elements[start + index] !== list[index]) return false;
    }
    return true;
  }

  #append(list: ArrayLike<number>): number {
    const id = this.#size++;
    const start = this.#starts[id]!;
    const end = start + list.length;
    while (end > this.#elements.length) this.#elements = doubled(this.#elements);
    if (id + 2 > this.#starts.length) this.#starts = doubled(this.#starts);
    this.#elements.set(list, start);
    this.#starts[id + 1] = end;
    return id;
  }

  #rehash(): void {
    this.#shift--;
    this.#slots = new Int32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let id = 0; id < this.#size; id++) {
      const list = this.#elements.subarray(this.#starts[id]!, this.#starts[id + 1]!);
      let slot = hash(list) >>> this.#shift;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = id + 1;
    }
  }
}

function hash(list: ArrayLike<number>): number {
  let result = list.length;
  for (let index = 0; index < list.length; index++) {
    result = Math.imul(result ^ list[index]!, MIX);
    result ^= result >>> 15;
  }
  return Math.imul(result, MIX) >>> 0;
}

/** A copy of an array that is twice as long. */
function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(2 * array.length);
  copy.set(array);
  return copy;
}

/** A set of byte strings, by number. */
export type WordSet = number;

/** The set without members. */
export const NO_WORDS: WordSet = 0;

const QUOTE = 0x22;

/**
 * A collection of sets. Each is a list: 1 if the empty string is a member, then pairs of a byte and
 * the set after it.
 */
export class WordSets {
  readonly #nodes = new IntegerLists();

  readonly #shortened = new Map<WordSet, WordSet>();
  /** By set, the number of its members. */
  readonly #sizes: number[] = [0];

  constructor() {
    this.#nodes.intern([0]);
  }

  /** Number of members. */
  sizeOf(set: WordSet): number {
    // A set's parts were made before the set.
    for (let made = this.#sizes.length; made <= set; made++) {
      let size = this.#nodes.at(made, 0);
      for (let index = 2; index < this.#nodes.lengthOf(made); index += 2) {
        size += this.#sizes[this.#nodes.at(made, index)]!;
      }
      this.#sizes.push(size);
    }
    return this.#sizes[set]!;
  }

  /** Whether the empty string is a member. */
  hasEmpty(set: WordSet): boolean {
    return this.#nodes.at(set, 0) === 1;
  }

  /** The rests of the members that begin with `byte`. */
  after(set: WordSet, byte: number): WordSet {
    for (let index = 1; index < this.#nodes.lengthOf(set); index += 2) {
      if (this.#nodes.at(set, index) === byte) return this.#nodes.at(set, index + 1);
    }
    return NO_WORDS;
  }

  /** Whether a word is a member. */
  has(set: WordSet, word: ArrayLike<number>): boolean {
    for (let index = 0; index < word.length; index++) set = this.after(set, word[index]!);
    return this.hasEmpty(set);
  }

  /** The set with one more member. */
  add(set: WordSet, word: ArrayLike<number>): WordSet {
    const path = [set];
    for (let index = 0; index < word.length; index++) {
      path.push(this.after(path[index]!, word[index]!));
    }
    let result = this.#replace(path[word.length]!, -1, NO_WORDS);
    for (let index = word.length - 1; index >= 0; index--) {
      result = this.#replace(path[index]!, word[index]!, result);
    }
    return result;
  }

  /**
   * The words that end in a quote, without it: items that are strings, as the contents of strings.
   */
  withoutQuote(set: WordSet): WordSet {
    // Not by recursion, because words are as long as items are.
    const open = [set];
    for (let node = open.at(-1); node !== undefined; node = open.at(-1)) {
      const list = this.#nodes.get(node);
      const children = list.filter((_, index) => index > 0 && index % 2 === 0);
      const missing = children.filter((child) => !this.#shortened.has(child));
      if (missing.length > 0) {
        for (const child of missing) open.push(child);
        continue;
      }
      const shorter = [Number(this.hasEmpty(this.after(node, QUOTE)))];
      for (let index = 1; index < list.length; index += 2) {
        const rest = this.#shortened.get(list[index + 1]!)!;
        if (rest !== NO_WORDS) shorter.push(list[index]!, rest);
      }
      this.#shortened.set(node, this.#nodes.intern(shorter));
      open.pop();
    }
    return this.#shortened.get(set)!;
  }

  /** The set that corresponds to a set of another collection. */
  adopt(other: WordSets, set: WordSet): WordSet {
    let result: WordSet = NO_WORDS;
    const open: { set: WordSet; prefix: readonly number[] }[] = [{ set, prefix: [] }];
    for (let next = open.pop(); next; next = open.pop()) {
      if (other.hasEmpty(next.set)) result = this.add(result, next.prefix);
      const list = other.#nodes.get(next.set);
      for (let index = 1; index < list.length; index += 2) {
        open.push({ set: list[index + 1]!, prefix: [...next.prefix, list[index]!] });
      }
    }
    return result;
  }

  /** The node with another child at `byte`, or with the empty string if `byte` is -1. */
  #replace(set: WordSet, byte: number, child: WordSet): WordSet {
    const list = this.#nodes.get(set);
    if (byte < 0) {
      list[0] = 1;
      return this.#nodes.intern(list);
    }
    let index = 1;
    while (index < list.length && list[index]! < byte) index += 2;
    list.splice(index, list[index] === byte ? 2 : 0, byte, child);
    return this.#nodes.intern(list);
  }
}

/** The text so far, by number. */
type BegunText = number;

/** A text that nobody follows. */
export const UNKNOWN_TEXT: BegunText = 0;

/** A text of which nothing has come. */
export const EMPTY_TEXT: BegunText = 1;

/** A collection of such texts: each is a shorter one and a byte. */
export class BegunTexts {
  readonly #texts = new IntegerLists();

  constructor() {
    this.#texts.intern([-1, UNKNOWN_TEXT]);
    this.#texts.intern([-1, EMPTY_TEXT]);
  }

  /** The text after one more byte. */
  after(text: BegunText, byte: number): BegunText {
    return text === UNKNOWN_TEXT ? text : this.#texts.intern([text, byte]);
  }

  /** The bytes of a text that is known. */
  bytesOf(text: BegunText): Uint8Array {
    const bytes: number[] = [];
    for (let at = text; at > EMPTY_TEXT; at = this.#texts.at(at, 0)) {
      bytes.push(this.#texts.at(at, 1));
    }
    return Uint8Array.from(bytes.reverse());
  }

  /** The text that corresponds to a text of another collection. */
  adopt(other: BegunTexts, text: BegunText): BegunText {
    if (text <= EMPTY_TEXT) return text;
    let adopted = EMPTY_TEXT;
    for (const byte of other.bytesOf(text)) adopted = this.after(adopted, byte);
    return adopted;
  }
}
