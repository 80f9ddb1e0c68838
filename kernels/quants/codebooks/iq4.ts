// The sixteen values that the codes of IQ4_NL and IQ4_XS stand for, closer together near zero:
// kvalues_iq4nl in ggml-common.h. Shaders look up two codes at a time, a byte as GGUF has it.

import type { Codebook } from "../format.ts";

/** The value of each code. */
export const iq4Values: readonly number[] = [
  ...[-127, -104, -83, -65, -49, -35, -22, -10],
  ...[1, 13, 25, 38, 53, 69, 89, 113],
];

/** A word per byte of codes: the value of its low nibble in byte 0, of its high one in byte 2. */
export const iq4Codebook: Codebook = {
  type: "u32",
  words: Uint32Array.from(
    { length: 256 },
    (_, codes) => iq4Values[codes & 15] & 255 | (iq4Values[codes >> 4] & 255) << 16,
  ),
};
