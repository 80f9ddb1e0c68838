// Loops over GGUF blocks: splitting their fields into planes, and decoding them one by one. Each
// format's own file says which fields a block has. Multi-byte fields of GGUF are little-endian, as
// is every platform that has WebGPU.

import type { QuantFormat } from "./format.ts";

/**
 * Copies the fields of every block side by side: field f of all blocks becomes plane f. A field
 * that is shorter than its plane's `bytesPerBlock` is followed by zeros.
 *
 * @param fields bytes of each field in the block's order, all even. Default: those of the planes
 * @returns one array per plane, each of blocks * bytesPerBlock bytes
 */
export function splitBlocks(
  format: QuantFormat,
  source: Uint8Array,
  blocks: number,
  fields: readonly number[] = format.planes.map((plane) => plane.bytesPerBlock),
): Uint8Array[] {
  const from = halvesOf(source.subarray(0, blocks * format.blockBytes));
  let start = 0;
  return format.planes.map(({ bytesPerBlock }, index) => {
    const plane = new Uint8Array(blocks * bytesPerBlock);
    const to = halvesOf(plane);
    copyField(from, start / 2, format.blockBytes / 2, to, bytesPerBlock / 2, fields[index] / 2);
    start += fields[index];
    return plane;
  });
}

/** Copies `length` halves per block; blocks start `fromStride` and `toStride` halves apart. */
function copyField(
  from: Uint16Array,
  start: number,
  fromStride: number,
  to: Uint16Array,
  toStride: number,
  length: number,
): void {
  for (let read = start, write = 0; write < to.length; read += fromStride, write += toStride) {
    for (let i = 0; i < length; i++) to[write + i] = from[read + i];
  }
}

/**
 * The bytes as 16-bit units, of which every block has a whole number. A copy if their address is
 * odd.
 */
function halvesOf(bytes: Uint8Array): Uint16Array {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 2);
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
