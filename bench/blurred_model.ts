// Writes a model like another one, whose weights differ a little: a draft model that is mostly right.

import { readGguf } from "../engine/gguf/mod.ts";

/** Bytes of a block of Q8_0: a scale of two, and 32 codes. */
const BLOCK = 34;

/**
 * Copies a file, with the codes of its Q8_0 matrices changed a little.
 *
 * @param blur the most by which a code changes: 0 to 127
 */
export async function writeBlurred(from: string | URL, to: string, blur = 12): Promise<void> {
  const { tensors } = await readGguf(from);
  const bytes = await Deno.readFile(from);
  const codes = new Int8Array(bytes.buffer);
  let state = 1;
  for (const { name, typeName, offset, byteLength } of tensors.values()) {
    if (typeName !== "Q8_0" || !name.startsWith("blk.")) continue;
    for (let at = 0; at < byteLength; at++) {
      if (at % BLOCK < 2) continue;
      state = Math.imul(state, 1664525) + 1013904223 >>> 0;
      const off = Math.round((state / 2 ** 31 - 1) * blur);
      const code = codes[offset + at] + off;
      codes[offset + at] = Math.max(-127, Math.min(127, code));
    }
  }
  await Deno.writeFile(to, bytes);
}
