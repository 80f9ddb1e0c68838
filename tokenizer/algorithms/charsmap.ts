// SentencePiece's normalization table (`tokenizer.ggml.precompiled_charsmap`): sequences of bytes
// and their replacements. unigram.ts handles spaces. Format: the length of a double array in bytes
// (u32, little-endian), the array, and the replacements, each ended by a zero byte. Kanda 2018
// describes arrays with XORed edges like these; the packing into 32 bits is that of the Darts-clone
// library.

import { TokenizerError } from "../errors.ts";

/** The replacement of the longest sequence that begins at a place. */
export interface Replacement {
  /** Number of bytes that are replaced; 0 if nothing is. */
  length: number;
  /** Start of the replacement in `Charsmap.bytes`. */
  start: number;
  /** End of the replacement. */
  end: number;
}

/** Fields of a unit of the double array. */
const offsetOf = (unit: number) => (unit >>> 10) << ((unit & 1 << 9) >>> 6);
const hasValue = (unit: number) => (unit & 1 << 8) !== 0;
/** The byte that leads to a unit. Units with a value have bit 31 set, so they match no byte. */
const labelOf = (unit: number) => unit & (1 << 31 | 0xff);
const valueOf = (unit: number) => unit & 0x7fffffff;

/** A table of replacements. */
export class Charsmap {
  /** The bytes of which replacements are ranges. */
  readonly bytes: Uint8Array;
  readonly #units: Uint32Array;

  /** Reads the table. Errors: TokenizerError if it is cut short. */
  constructor(table: Uint8Array) {
    const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
    const size = table.length < 4 ? Infinity : view.getUint32(0, true);
    if (4 + size > table.length || size % 4 !== 0) {
      throw new TokenizerError(
        `Cannot read the table of normalization: its ${table.length} bytes do not hold the array`,
      );
    }
    this.#units = Uint32Array.from(
      { length: size / 4 },
      (_, index) => view.getUint32(4 + 4 * index, true),
    );
    this.bytes = table.subarray(4 + size);
  }

  /**
   * Finds the replacement of the longest sequence at `start` of `text`. In a damaged table it finds
   * none.
   */
  match(text: Uint8Array, start: number, found: Replacement): void {
    const units = this.#units;
    found.length = 0;
    let node = offsetOf(units[0] ?? 0);
    for (let index = start; index < text.length; index++) {
      const byte = text[index]!;
      node ^= byte;
      const unit = units[node];
      if (unit === undefined || byte === 0 || labelOf(unit) !== byte) return;
      node ^= offsetOf(unit);
      if (!hasValue(unit)) continue;
      const value = valueOf(units[node] ?? 0);
      const end = this.bytes.indexOf(0, value);
      if (end < 0) return;
      found.length = index + 1 - start;
      found.start = value;
      found.end = end;
    }
  }
}
