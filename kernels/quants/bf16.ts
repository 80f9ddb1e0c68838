// BF16: the high halves of IEEE single-precision floats, unquantized. The plane is the source
// itself, not a copy of it.

import shader from "./bf16.wgsl" with { type: "text" };
import type { QuantFormat } from "./format.ts";

/** Weights with the exponent of single precision and 8 significant bits. */
export const bf16: QuantFormat = {
  name: "BF16",
  ggmlType: 30,
  blockSize: 1,
  blockBytes: 2,
  planes: [
    { name: "floats", type: "vec2<u32>", bytesPerBlock: 2 },
  ],
  kind: "float",
  hasMinimum: false,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    const halves = new Uint16Array(source.slice(0, blocks * 2).buffer);
    return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
  },
};
