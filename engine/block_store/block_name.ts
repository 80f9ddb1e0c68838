// Names of blocks outside of the device. A name is a SHA-256 over the name of the block before it and
// the block's own tokens, so it stands for the whole text up to its end; that of a text's beginning
// stands for the model. Blocks of different models, or of one that is loaded otherwise, never share one.

import { createHash } from "node:crypto";

/** Hexadecimal digits of a name: 160 bits. */
const DIGITS = 40;

/** The name that the first block of every text stands behind. @param model identity of the model */
export function rootName(model: string): string {
  return digest(`model:${model}`);
}

/** The name of the block that holds these tokens, or rows of images, behind the block of that name. */
export function nameAfter(before: string, tokens: readonly (number | string)[]): string {
  return digest(`${before}:${tokens.join()}`);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, DIGITS);
}
