// F32: IEEE single precision, unquantized and little-endian. The plane is the source itself, not a
// copy of it.

import shader from "./f32.wgsl" with { type: "text" };
import type { QuantFormat } from "./format.ts";

/** Single-precision weights. */
export const f32: QuantFormat = {
  name: "F32",
  ggmlType: 0,
  blockSize: 1,
  blockBytes: 4,
  planes: [
    { name: "floats", type: "vec4<f32>", bytesPerBlock: 4 },
  ],
  kind: "float",
  hasMinimum: false,
  uniformGroup: true,
  snippet: shader,
  dequantize(source, blocks) {
    return new Float32Array(source.slice(0, blocks * 4).buffer);
  },
};
