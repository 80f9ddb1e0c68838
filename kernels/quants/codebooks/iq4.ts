// The sixteen values of the codes of IQ4_NL and IQ4_XS, which are denser near zero: kvalues_iq4nl
// in ggml-common.h. Shaders look up a byte of two codes at a time, as GGUF has it.

import type { Codebook } from "../format.ts";

/** The value of each code. */
export const iq4Values: readonly number[] = [
  ...[-127, -104, -83, -65, -49, -35, -22, -10],
  ...[1, 13, 25, 38, 53, 69, 89, 113],
];

/**
 * A word for each byte of two codes: the value of its low nibble is in byte 0, that of its high
 * nibble in byte 2.
 */
export const iq4Codebook: Codebook = {
  type: "u32",
  words: Uint32Array.from(
    { length: 256 },
    (_, codes) => iq4Values[codes & 15] & 255 | (iq4Values[codes >> 4] & 255) << 16,
  ),
};
