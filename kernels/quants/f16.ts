// F16: IEEE half precision, unquantized and little-endian. The plane is the source itself, not a
// copy of it.

import shader from "./f16.wgsl" with { type: "text" };
import type { QuantFormat } from "./format.ts";

/** Half-precision weights. */
export const f16: QuantFormat = {
  name: "F16",
  ggmlType: 1,
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
    return new Float32Array(new Float16Array(source.slice(0, blocks * 2).buffer));
  },
};
