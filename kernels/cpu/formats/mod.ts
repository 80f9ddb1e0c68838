// The formats that the CPU reads.

import type { PackedFormat } from "./format.ts";
import { kQuants } from "./k_quants.ts";
import { simpleFormats } from "./simple.ts";

export { type FloatFormat, floatFormats, floatGroupBytes } from "./floats.ts";
export { BAND, blockBytes, GROUP, type PackedFormat } from "./format.ts";

/** All integer formats. */
export const packedFormats: readonly PackedFormat[] = [...simpleFormats, ...kQuants];
