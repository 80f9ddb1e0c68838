// The weight formats of the CPU device.

import { type FloatFormat, floatFormats, floatGroupBytes } from "./floats.ts";
import { blockBytes, GROUP, type PackedFormat } from "./format.ts";
import { rowFormats } from "./codebooks.ts";
import { kQuants } from "./k_quants.ts";
import { simpleFormats } from "./simple.ts";

export { type FloatFormat, floatFormats, floatGroupBytes };
export { BAND, blockBytes, GROUP, maximumCode, type PackedFormat } from "./format.ts";

/** All integer formats. */
export const packedFormats: readonly PackedFormat[] = [
  ...simpleFormats,
  ...kQuants,
  ...rowFormats,
];

/** A format that there are kernels for. */
export type CpuFormat = PackedFormat | FloatFormat;

/** The format on the CPU of a format of files, if there are kernels for it. */
export function cpuFormat(name: string): CpuFormat | undefined {
  return [...packedFormats, ...floatFormats].find(({ source }) => source.name === name);
}

/** Columns of a block as kernels count them: those of float formats are groups. */
export function blockColumns(format: CpuFormat): number {
  return format.source.kind === "float" ? GROUP : format.source.blockSize;
}

export function bandBytes(format: CpuFormat, blocks: number): number {
  return blocks * ("load" in format ? floatGroupBytes(format) : blockBytes(format));
}
