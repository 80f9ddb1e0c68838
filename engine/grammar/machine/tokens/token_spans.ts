// What tokens are of the content of a JSON string: how many characters, and what the last one lacks. Only
// tokens that may stand in a string after a whole character are of interest: others' numbers mean nothing.

import { continuationsOf } from "../texts/character_classes.ts";

/** By token. */
export interface TokenSpans {
  /** Its characters, one that is only begun among them; from MOST_CHARACTERS on they are not told apart. */
  readonly characters: Uint8Array;
  /** Bytes that its last character lacks at least; ESCAPE after a backslash. */
  readonly lacks: Uint8Array;
}

/** Most characters that are told apart. */
export const MOST_CHARACTERS = 0xff;

/** Stands for what a character lacks after a backslash, which is a matter of the text. */
export const ESCAPE = 0xff;

const BACKSLASH = 0x5c;

const LETTER_U = 0x75;

/** Hexadecimal digits of an escape that spells a number. */
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
