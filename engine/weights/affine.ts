// The affine part of weight rows: `<tensor>.scale` and `<tensor>.bias` of the GGUF file, and gains
// of the architecture, which cost nothing as a part of it.

import type { Matrix } from "../../kernels/mod.ts";
import { baseOf, rangesOf, type Rows } from "./rows.ts";
import type { TensorSource } from "./tensor_source.ts";

/** How the scale and bias of a tensor apply. */
export interface StackOptions {
  /** Whether the scale multiplies the bias, too, as in feed-forward blocks of GGUF. */
  biasFirst?: boolean;
  /** A factor of all outputs, including biases. */
  gain?: number;
  /** Whether all files of the architecture have biases, or only some. Default "optional". */
  bias?: "required" | "optional";
}

/**
 * Sets the scales and biases of a matrix from its tensors, if there are any: y = gain * (scale * (w
 * x) + bias), or with `biasFirst` gain * scale * (w x + bias). Tensors with experts have a scale
 * for each expert. Errors: GgufError if one is missing, or does not have the shape of the rows.
 */
export function loadAffine(
  weights: TensorSource,
  matrix: Matrix,
  sources: readonly Rows[],
  options: StackOptions,
): void {
  const { gain = 1 } = options;
  const parts = sources.map((source) => readAffine(weights, source, options));
  if (gain === 1 && parts.every(({ scales, biases }) => !scales && !biases)) return;
  const scale = new Float32Array(matrix.rows * matrix.sides);
  const bias = new Float32Array(matrix.rows * matrix.sides);
  let row = 0;
  for (const [i, source] of sources.entries()) {
    const { scales = [1], biases } = parts[i];
    for (const [first, count] of rangesOf(source)) {
      for (let from = first; from < first + count; from++, row++) {
        const factor = scales[Math.floor(from * scales.length / source.rows)];
        scale[row] = gain * factor;
        bias[row] = gain * (biases?.[from] ?? 0) * (options.biasFirst ? factor : 1);
      }
    }
  }
  weights.deviceOf(matrix.label).setAffine(matrix, { scale, bias });
}

function readAffine(
  weights: TensorSource,
  source: Rows,
  { bias = "optional" }: StackOptions,
): { scales?: Float32Array; biases?: Float32Array } {
  const { rows, matrices = 1 } = source;
  const base = baseOf(source);
  const { inventory } = weights;
  // Weights in NVFP4 have a scale, and one of their input. Weights of other types have none.
  const { typeName } = inventory.find(source.name);
  const hasScale = inventory.has(`${base}.scale`, typeName);
  if (!hasScale && inventory.needsScale(base)) {
    throw inventory.missing(`${base}.scale`, `although "${base}.input_scale" is there`);
  }
  const hasBias = bias === "required" || inventory.has(`${base}.bias`);
  return {
    ...hasScale && { scales: weights.values(`${base}.scale`, [matrices]) },
    ...hasBias && { biases: weights.values(`${base}.bias`, [rows / matrices, matrices]) },
  };
}
