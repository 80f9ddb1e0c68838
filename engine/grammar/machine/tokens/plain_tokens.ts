// The tokens of a vocabulary that a string may contain as they are, by the classes and the number
// of their characters. So what may follow in a string of [a-z_] is found without a walk.

import {
  BEYOND_ASCII,
  CLASS_OF,
  continuationsOf,
  EVERY_CLASS,
  isSeparator,
  LINE_SEPARATORS,
  secondBytesOf,
  UNSAFE,
} from "../texts/character_classes.ts";

/** Masks that are cached: 4 MB for 128,000 tokens. */
const MAX_MASKS = 256;

/** A number of characters that no token has. */
const NOT_PLAIN = 0xffff;

/**
 * The tokens that consist of whole characters without escapes, except that the last one may be cut
 * off.
 */
export class PlainTokens {
  readonly #size: number;
  readonly #longest: number;
  /** By token. */
  readonly #lengths: Uint16Array;
  readonly #classes: Int32Array;
  /** Tokens by number of characters, and the offset of each number. */
  readonly #byLength: Int32Array;
  readonly #starts: Int32Array;
  readonly #masks = new Map<number, Map<number, Uint32Array<ArrayBuffer>>>();
  readonly #samples = new Map<number, readonly number[]>();
  #count = 0;

  /**
   * @param size number of tokens of the vocabulary
   * @param longest bytes of its longest token
   */
  constructor(
    size: number,
    longest: number,
    tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[],
  ) {
    this.#size = size;
    this.#longest = longest;
    this.#lengths = new Uint16Array(size).fill(NOT_PLAIN);
    this.#classes = new Int32Array(size).fill(UNSAFE);
    this.#starts = new Int32Array(longest + 2);
    for (const { id, bytes } of tokens) this.#read(id, bytes);
    for (let length = 0; length <= longest; length++) {
      this.#starts[length + 1]! += this.#starts[length]!;
    }
    this.#byLength = new Int32Array(this.#starts[longest + 1]!);
    const places = this.#starts.slice();
    for (const { id } of tokens) {
      const length = this.#lengths[id]!;
      if (length !== NOT_PLAIN) this.#byLength[places[length]!++] = id;
    }
    this.mask(EVERY_CLASS, longest);
  }

  /** The tokens of at most so many characters, all of some classes. Read only. */
  mask(classes: number, characters: number): Uint32Array<ArrayBuffer> {
    const most = Math.min(characters, this.#longest);
    const known = this.#masks.get(classes)?.get(most);
    if (known) return known;
    const bits = most === this.#longest ? this.#ofClasses(classes) : this.#shorter(classes, most);
    if (++this.#count > MAX_MASKS) {
      this.#masks.clear();
      this.#count = 1;
    }
    let masks = this.#masks.get(classes);
    if (!masks) this.#masks.set(classes, masks = new Map());
    masks.set(most, bits);
    return bits;
  }

  /** Of the tokens of some classes, one of each number of characters, the longest first. */
  ofEachLength(classes: number): readonly number[] {
    let found = this.#samples.get(classes);
    if (!found) {
      const byLength: number[] = [];
      for (const token of this.#byLength) {
        if ((this.#classes[token]! & ~classes) === 0) byLength[this.#lengths[token]!] ??= token;
      }
      found = byLength.reverse().filter((token) => token !== undefined);
      this.#samples.set(classes, found);
    }
    return found;
  }

  #ofClasses(classes: number): Uint32Array<ArrayBuffer> {
    const bits = new Uint32Array(Math.ceil(this.#size / 32));
    for (let token = 0; token < this.#size; token++) {
      const isOut = (this.#classes[token]! & ~classes) !== 0;
      bits[token >>> 5]! |= Number(!isOut) << (token & 31);
    }
    return bits;
  }

  /**
   * The mask of the next greater number of characters that is cached, without the longer tokens.
   */
  #shorter(classes: number, most: number): Uint32Array<ArrayBuffer> {
    const masks = this.#masks.get(classes);
    let from = most + 1;
    while (from < this.#longest && !masks?.has(from)) from++;
    const bits = this.mask(classes, from).slice();
    for (let place = this.#starts[most + 1]!; place < this.#starts[from + 1]!; place++) {
      const token = this.#byLength[place]!;
      bits[token >>> 5]! &= ~(1 << (token & 31));
    }
    return bits;
  }

  #read(id: number, bytes: Uint8Array): void {
    let characters = 0;
    let classes = 0;
    for (let index = 0; index < bytes.length; characters++) {
      const first = bytes[index++]!;
      const left = continuationsOf(first);
      if (left < 0 || (left === 0 && CLASS_OF[first] === UNSAFE)) return;
      let [low, high] = secondBytesOf(first);
      let before = first;
      let isLine = false;
      for (let count = 0; count < left && index < bytes.length; count++) {
        const byte = bytes[index++]!;
        if (byte < low || byte > high) return;
        [low, high] = [0x80, 0xbf];
        isLine = isSeparator(before, byte);
        before = before << 8 | byte;
      }
      classes |= left === 0 ? CLASS_OF[first]! : isLine ? LINE_SEPARATORS : BEYOND_ASCII;
    }
    this.#lengths[id] = characters;
    this.#classes[id] = classes;
    this.#starts[characters + 1]!++;
  }
}
