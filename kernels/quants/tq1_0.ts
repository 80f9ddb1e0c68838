// TQ1_0: 256 weights as a half d and ternary digits t, weight = d * (t - 1). A byte holds five digits
// as the fraction byte / 256 to the base 3, the first digit leading.
// Block: 32 bytes, byte i with weights i, 32 + i, ... 128 + i; 16 bytes, byte i with weights 160 + i,
// 176 + i, ... 224 + i; 4 bytes, byte i with weights 240 + i, ... 252 + i; d (2 bytes).

import shader from "./tq1_0.wgsl" with { type: "text" };
import { decodeBlocks } from "./blocks.ts";
import type { QuantFormat } from "./format.ts";

/** First weight and byte of the runs of bytes in a block, and the bytes of each. */
const RUNS = [
  { weight: 0, byte: 0, bytes: 32, digits: 5 },
  { weight: 160, byte: 32, bytes: 16, digits: 5 },
  { weight: 240, byte: 48, bytes: 4, digits: 4 },
];

/** 256 weights of -1, 0 and 1 with one scale. */
export const tq1_0: QuantFormat = {
  name: "TQ1_0",
  ggmlType: 34,
  blockSize: 256,
  blockBytes: 54,
  planes: [
    { name: "quants", type: "u32", bytesPerBlock: 52 },
    { name: "scales", type: "u32", bytesPerBlock: 2 },
  ],
  kind: "integer",
  hasMinimum: false,
  codeBias: 1,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    return decodeBlocks(tq1_0, source, blocks, (block, weights) => {
      const d = block.getFloat16(52, true);
      for (const { weight, byte, bytes, digits } of RUNS) {
        for (let i = 0; i < bytes; i++) {
          let fraction = block.getUint8(byte + i);
          for (let digit = 0; digit < digits; digit++) {
            fraction *= 3;
            weights[weight + bytes * digit + i] = d * ((fraction >> 8) - 1);
            fraction &= 255;
          }
        }
      }
    });
  },
};
