// The length of tokens within the content of a JSON string: their characters, and the bytes that
// the last one lacks. The numbers have a meaning only for tokens that may come in a string after a
// complete character.

import { continuationsOf } from "../texts/character_classes.ts";

/** By token. */
export interface TokenSpans {
  /**
   * The number of characters, a begun one included; MOST_CHARACTERS stands for greater numbers,
   * too.
   */
  readonly characters: Uint8Array;
  /** Bytes that the last character lacks at least; ESCAPE after a backslash. */
  readonly lacks: Uint8Array;
}

/** The greatest number of characters that is stored. */
export const MOST_CHARACTERS = 0xff;

/** The bytes that a character lacks after a backslash: they depend on the text. */
export const ESCAPE = 0xff;

const BACKSLASH = 0x5c;

const LETTER_U = 0x75;

/** Hexadecimal digits of an escape such as \u0041. */
const DIGITS = 4;

/** Measures the tokens of a vocabulary of `size`. */
export function measureSpans(
  size: number,
  tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[],
): TokenSpans {
  const characters = new Uint8Array(size);
  const lacks = new Uint8Array(size);
  for (const { id, bytes } of tokens) {
    let count = 0;
    let lack = 0;
    for (const byte of bytes) {
      if (lack === ESCAPE) lack = byte === LETTER_U ? DIGITS : 0;
      else if (lack > 0) lack--;
      else {
        count++;
        lack = byte === BACKSLASH ? ESCAPE : Math.max(continuationsOf(byte), 0);
      }
    }
    characters[id] = Math.min(count, MOST_CHARACTERS);
    lacks[id] = lack;
  }
  return { characters, lacks };
}
