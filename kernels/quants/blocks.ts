// Loops over GGUF blocks: splitting their fields into planes, and decoding them one by one. Each
// format's own file says which fields a block has. Multi-byte fields of GGUF are little-endian, as
// is every platform that has WebGPU.

import type { QuantFormat } from "./format.ts";

/**
 * Copies the fields of every block side by side: field f of all blocks becomes plane f. A field
 * that is shorter than its plane's `bytesPerBlock` is followed by zeros.
 *
 * @param fields bytes of each field in the block's order
 * @returns one array per plane, each of blocks * bytesPerBlock bytes
 */
export function splitBlocks(
  { planes, blockBytes }: QuantFormat,
  source: Uint8Array,
  blocks: number,
  fields: readonly number[],
): Uint8Array[] {
  let start = 0;
  return planes.map(({ bytesPerBlock }, index) => {
    const plane = new Uint8Array(blocks * bytesPerBlock);
    for (let block = 0; block < blocks; block++) {
      const from = block * blockBytes + start;
      plane.set(source.subarray(from, from + fields[index]!), block * bytesPerBlock);
    }
    start += fields[index]!;
    return plane;
  });
}

/** The bytes as words of 32 bits. */
export function wordsOf(plane: Uint8Array | Int8Array): Uint32Array {
  return new Uint32Array(plane.buffer, plane.byteOffset, plane.byteLength / 4);
}

/**
 * Decodes block after block: `decode` reads one block's bytes and writes one block's weights. It
 * may compute in doubles: products of factors, scales and codes fit in the 24 bits of a float, so
 * only the sum with a minimum is rounded, once, as in single precision.
 */
export function decodeBlocks(
  { blockBytes, blockSize }: QuantFormat,
  source: Uint8Array,
  blocks: number,
  decode: (block: DataView, weights: Float32Array) => void,
): Float32Array {
  const weights = new Float32Array(blocks * blockSize);
  for (let block = 0; block < blocks; block++) {
    const bytes = new DataView(source.buffer, source.byteOffset + block * blockBytes, blockBytes);
    decode(bytes, weights.subarray(block * blockSize, (block + 1) * blockSize));
  }
  return weights;
}
