// Repacks GGUF blocks into the planes of their format, in plain loops. Devices may do it by other means,
// with the same result.

import { orderGroups, spreadBits, transposeFields, transposeQuarters } from "./bits.ts";
import { splitBlocks } from "./blocks.ts";
import type { Arrangement, Plane, QuantFormat } from "./format.ts";

const ARRANGE: Record<Arrangement, (plane: Uint8Array) => void> = {
  "1-bit fields": (plane) => transposeFields(plane, 1),
  "2-bit fields": (plane) => transposeFields(plane, 2),
  "4-bit fields": (plane) => transposeFields(plane, 4),
  "4-bit fields by group": (plane) => {
    transposeFields(plane, 4);
    orderGroups(plane);
  },
  "spread bits": spreadBits,
  "quarters": transposeQuarters,
};

/** Bytes that a plane takes from each block. */
export function fieldBytesOf({ fieldBytes, bytesPerBlock }: Plane): number {
  return fieldBytes ?? bytesPerBlock;
}

/** Whether blocks are as they lie in a file: one plane of all their bytes. */
export function liesAsInFile({ planes, blockBytes }: QuantFormat): boolean {
  return planes.length === 1 && !planes[0]!.arrangement && fieldBytesOf(planes[0]!) === blockBytes;
}

/**
 * Splits `blocks` GGUF blocks from `source` into planes. Each plane has exactly blocks * bytesPerBlock
 * bytes, which need not be a multiple of 4, because buffers round up. A plane may be a view of the source.
 */
export function repack(format: QuantFormat, source: Uint8Array, blocks: number): Uint8Array[] {
  if (liesAsInFile(format)) return [source.subarray(0, blocks * format.blockBytes)];
  const planes = splitBlocks(format, source, blocks, format.planes.map(fieldBytesOf));
  format.planes.forEach(({ arrangement }, i) => arrangement && ARRANGE[arrangement](planes[i]!));
  return planes;
}
