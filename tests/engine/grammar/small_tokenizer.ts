// A tokenizer for tests of grammars: every byte, then some texts, control tokens and an end token;
// and what a mask says beside what every token does byte by byte.

import type { CompiledSchema } from "../../../engine/grammar/mod.ts";
import type { Tokenizer } from "../../../tokenizer/mod.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A tokenizer of bytes, texts, control tokens and `<end>`; it encodes by the longest match. */
export function smallTokenizer(texts: readonly string[], controls: readonly string[]): Tokenizer {
  const pieces = [
    ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
    ...[...texts, ...controls, "<end>"].map((text) => encoder.encode(text)),
  ];
  const firstControl = 256 + texts.length;
  const end = pieces.length - 1;
  const names = [...controls, "<end>"];
  const tokenizer: Partial<Tokenizer> = {
    vocabularySize: pieces.length,
    endOfGeneration: new Set([end]),
    tokenBytes: (token) => pieces[token]!,
    isControl: (token) => token >= firstControl,
    piece: (token) => names[token - firstControl] ?? decoder.decode(pieces[token]),
    encode: (text) => {
      const parts = text.toString().split(
        new RegExp(`(${controls.map(RegExp.escape).join("|") || "$^"})`, "u"),
      );
      return parts.flatMap((part) => {
        const control = controls.indexOf(part);
        return control < 0
          ? encodeWith(pieces.slice(0, firstControl), encoder.encode(part))
          : [firstControl + control];
      });
    },
  };
  return tokenizer as Tokenizer;
}

function encodeWith(pieces: readonly Uint8Array[], bytes: Uint8Array): number[] {
  const tokens: number[] = [];
  for (let at = 0; at < bytes.length;) {
    let best = bytes[at]!;
    for (let token = 256; token < pieces.length; token++) {
      const piece = pieces[token]!;
      const isThere = piece.every((byte, index) => bytes[at + index] === byte);
      if (isThere && piece.length > pieces[best]!.length) best = token;
    }
    tokens.push(best);
    at += pieces[best]!.length;
  }
  return tokens;
}

/** What becomes of a text, control tokens by name in it. */
export function fateOf(
  compiled: CompiledSchema,
  tokenizer: Tokenizer,
  text: string,
): "refused" | "open" | "complete" {
  const matcher = compiled.matcher();
  if (!tokenizer.encode(text).every((token) => matcher.accept(token))) return "refused";
  return matcher.isComplete ? "complete" : "open";
}

/** The tokens of a mask. */
export function tokensOf(mask: Uint32Array): number[] {
  const tokens: number[] = [];
  mask.forEach((word, index) => {
    for (let bit = 0; bit < 32; bit++) if ((word >>> bit) & 1) tokens.push(32 * index + bit);
  });
  return tokens;
}

/** The tokens that may come after others, each tried with a matcher of its own. */
export function tryTokens(
  compiled: CompiledSchema,
  tokenizer: Tokenizer,
  before: readonly number[],
): number[] {
  const tokens = Array.from({ length: tokenizer.vocabularySize }, (_, token) => token);
  return tokens.filter((token) => {
    const matcher = compiled.matcher();
    for (const one of before) matcher.accept(one);
    const bytes = tokenizer.tokenBytes(token);
    if (tokenizer.isControl(token) || bytes.length === 1) return matcher.accept(token);
    // The tokens of single bytes have their numbers.
    return bytes.every((byte) => matcher.accept(byte));
  });
}

/** Numbers from 0 to below 1, the same in every run. */
export function randomNumbers(seed: number): () => number {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}
