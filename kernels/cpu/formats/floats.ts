// F32, F16 and BF16 on the CPU: the eight rows of a band are stored column by column. Halves are
// converted to floats by integer arithmetic, which reads infinity and NaN as numbers from 65536 on.

import { bf16, f16, f32 as float } from "../../quants/floats.ts";
import type { QuantFormat } from "../../quants/mod.ts";
import { type FunctionBuilder, i32x4 } from "../wasm/mod.ts";
import { BAND, GROUP, type Pointer, type Quads } from "./format.ts";
import { eightHalves, halvesToFloats, loadFourHalves } from "./scales.ts";
import { convertsHalves } from "../engine_features.ts";

/** A float format on the CPU. */
export interface FloatFormat {
  readonly source: QuantFormat;
  /** A column's weights of the eight rows, as floats. */
  load(f: FunctionBuilder, group: Pointer, column: number): Quads;
}

/** Bytes of a group of a band. */
export function floatGroupBytes({ source }: FloatFormat): number {
  return BAND * GROUP * source.blockBytes;
}

export const floatFormats: readonly FloatFormat[] = [
  {
    source: float,
    load(_f, { memory, address }, column) {
      return [memory.v128.load(address, 32 * column), memory.v128.load(address, 32 * column + 16)];
    },
  },
  {
    source: f16,
    load(f, { memory, address }, column) {
      if (convertsHalves()) return eightHalves(f, memory.v128.load(address, 16 * column));
      return [
        halvesToFloats(f, loadFourHalves(memory, address, 16 * column)),
        halvesToFloats(f, loadFourHalves(memory, address, 16 * column + 8)),
      ];
    },
  },
  {
    source: bf16,
    load(_f, { memory, address }, column) {
      return [
        i32x4.shl(memory.v128.load16x4_u(address, 16 * column), 16),
        i32x4.shl(memory.v128.load16x4_u(address, 16 * column + 8), 16),
      ];
    },
  },
];
