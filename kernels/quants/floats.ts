// The float formats, unquantized: a plane is the source itself, not a copy of it.

import shaders from "./floats.wgsl" with { type: "text" };
import { partOf, type Plane, type QuantFormat } from "./format.ts";

/** F32: IEEE single precision. */
export const f32 = floatFormat("F32", 0, "vec4<f32>", (source) => new Float32Array(source));

/** F16: IEEE half precision. */
export const f16 = floatFormat(
  "F16",
  1,
  "vec2<u32>",
  (source) => new Float32Array(new Float16Array(source)),
);

/** BF16: the high halves of IEEE single-precision floats, with 8 significant bits. */
export const bf16 = floatFormat(
  "BF16",
  30,
  "vec2<u32>",
  (source) =>
    new Float32Array(Uint32Array.from(new Uint16Array(source), (half) => half << 16).buffer),
);

/** Four weights are an element of the plane, of the given WGSL type. */
function floatFormat(
  name: string,
  ggmlType: number,
  type: Plane["type"],
  decode: (source: ArrayBufferLike) => Float32Array,
): QuantFormat {
  const blockBytes = type === "vec4<f32>" ? 4 : 2;
  return {
    name,
    ggmlType,
    blockSize: 1,
    blockBytes,
    planes: [{ name: "floats", type, bytesPerBlock: blockBytes }],
    kind: "float",
    hasMinimum: false,
    uniformGroup: true,
    snippet: partOf(shaders, name),
    dequantize: (source, blocks) => decode(source.slice(0, blocks * blockBytes).buffer),
  };
}
