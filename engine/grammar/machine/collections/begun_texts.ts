// The texts of items while they are read, byte by byte. Equal texts have the same number, so that
// frames can hold them.

import { IntegerLists } from "./integer_lists.ts";

/** The text so far, by number. */
export type BegunText = number;

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
