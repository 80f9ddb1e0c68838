// Finite sets of byte strings: the keys that an object has had, or the items of a `uniqueItems`
// array. A set is a node of a hash-consed trie, so that equal sets are equal numbers, and the
// possible continuations of a prefix are a set again.

import { IntegerLists } from "./integer_lists.ts";

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
