// The Huffman codes of a JPEG file. A code has at most 16 bits, so a table with an entry for each
// number of 16 bits finds the code with which the number begins. The format: ITU-T T.81, annexes
// B.2.4.2 and C.

import type { ByteReader } from "../byte_reader.ts";
import { ImageError } from "../image.ts";

const MAX_CODE_BITS = 16;

/** A table of codes. */
export interface HuffmanTable {
  /**
   * Entries for the next 16 bits: length of the code in the upper byte, symbol in the lower one.
   */
  readonly entries: Uint16Array;
}

/** Reads the number of codes of each length, and the symbols by ascending codes. */
export function readHuffmanTable(reader: ByteReader): HuffmanTable {
  const counts = reader.take(MAX_CODE_BITS);
  const entries = new Uint16Array(1 << MAX_CODE_BITS);
  let start = 0;
  for (const [index, count] of counts.entries()) {
    const length = index + 1;
    const span = 1 << MAX_CODE_BITS - length;
    for (const symbol of reader.take(count)) {
      if (start + span > entries.length) {
        throw new ImageError("the JPEG file is damaged: its codes");
      }
      entries.fill(length << 8 | symbol, start, start += span);
    }
  }
  return { entries };
}
