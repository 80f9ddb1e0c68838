// Packed records as tests compare them.

import type { Fields, RecordLayout, RecordOf } from "../kernels/record.ts";

/** All records that are packed in `words`. */
export function unpacked<Of extends Fields>(
  layout: RecordLayout<Of>,
  words: Uint32Array,
): RecordOf<Of>[] {
  return Array.from(
    { length: words.length / layout.words },
    (_, index) => layout.read(words, index),
  );
}
