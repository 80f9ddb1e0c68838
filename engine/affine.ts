// The affine part of weight rows: `<tensor>.scale` and `<tensor>.bias` of the GGUF file, and gains
// of the architecture, which cost nothing when they ride along.

import { type Matrix, setAffine } from "../kernels/mod.ts";
import { nameOf, rangesOf, type Rows } from "./rows.ts";
import type { TensorSource } from "./tensor_source.ts";

/** How the scale and bias of a tensor are meant. */
export interface StackOptions {
  /** The scale multiplies the bias too, as GGUF has it in feed-forward blocks. */
  biasFirst?: boolean;
  /** Multiplies all outputs, biases included. */
  gain?: number;
}

/**
 * Gives a matrix the scales and biases of its tensors, if there are any:
 * y = gain * (scale * (w x) + bias), or with `biasFirst` gain * scale * (w x + bias).
 * Tensors with experts have a scale for each of them.
 */
export function loadAffine(
  weights: TensorSource,
  matrix: Matrix,
  sources: readonly Rows[],
  { biasFirst = false, gain = 1 }: StackOptions,
): void {
  const bases = sources.map((source) => nameOf(source).replace(/\.weight$/, ""));
  const has = (part: string) => bases.some((base) => weights.has(`${base}.${part}`));
  if (gain === 1 && !has("scale") && !has("bias")) return;
  const scale = new Float32Array(matrix.rows * matrix.sides);
  const bias = new Float32Array(matrix.rows * matrix.sides);
  let row = 0;
  for (const [i, source] of sources.entries()) {
    const rows = weights.rowsOf(nameOf(source));
    const scales = weights.has(`${bases[i]}.scale`) ? weights.values(`${bases[i]}.scale`) : [1];
    const biases = weights.has(`${bases[i]}.bias`) ? weights.values(`${bases[i]}.bias`) : undefined;
    for (const [first, count] of rangesOf(source, rows)) {
      for (let from = first; from < first + count; from++, row++) {
        const factor = scales[Math.floor(from * scales.length / rows)];
        scale[row] = gain * factor;
        bias[row] = gain * (biases?.[from] ?? 0) * (biasFirst ? factor : 1);
      }
    }
  }
  setAffine(weights.device, matrix, { scale, bias });
}
