// Names of KV blocks outside of the device. A name is a SHA-256 of the name of the block before and
// the block's own tokens, so it identifies the whole text up to its end. The chain begins with a
// name for the model, so blocks of different models, or of a model loaded with other options, never
// have the same name.

import { sha256 } from "../../host/mod.ts";

/** Hexadecimal digits of a name: 160 bits. */
const DIGITS = 40;

/** The name before the first block of every text. @param model identity of the model */
export function rootName(model: string): string {
  return digest(`model:${model}`);
}

/** The name of the block with these tokens, or rows of images, after the block with that name. */
export function nameAfter(before: string, tokens: readonly (number | string)[]): string {
  return digest(`${before}:${tokens.join()}`);
}

function digest(text: string): string {
  return sha256().update(text).digest("hex").slice(0, DIGITS);
}
