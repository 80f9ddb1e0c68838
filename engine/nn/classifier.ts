// The head of a model that ranks or classifies: one dense layer with an activation, and one that gives a
// number per label, over the pooled state of a text (RobertaClassificationHead, ModernBertPredictionHead).
// It is tiny and runs once per text, so it is computed on the host, in doubles.

import type { WeightLoader } from "../weights/mod.ts";
import type { Config } from "./config.ts";
import { isRanking, type Pooling } from "./row_readback.ts";

/** The head of a model that ranks or classifies. */
export interface Classifier {
  /** The state that it reads. */
  readonly pooling: Pooling;
  /** The outputs, one per label. @param state [width] */
  outputs(state: ArrayLike<number>): Float64Array;
}

/** A matrix [rows, columns] and its bias. */
interface Dense {
  readonly rows: number;
  readonly weights: Float32Array;
  readonly bias: Float32Array | undefined;
}

/**
 * Reads the head of a file, if it has one. Errors: GgufError.
 *
 * @param isEncoder whether tokens see those after them
 */
export function readClassifier(
  weights: WeightLoader,
  config: Config,
  isEncoder: boolean,
): Classifier | undefined {
  const { inventory } = weights;
  if (!isRanking(config)) return undefined;
  const read = (name: string, columns: number): Dense | undefined => {
    if (!inventory.hasAny([`${name}.weight`])) return undefined;
    const [, rows = 1] = inventory.find(`${name}.weight`).shape;
    const hasBias = inventory.hasAny([`${name}.bias`]);
    return {
      rows,
      weights: weights.values(`${name}.weight`, [columns, rows]),
      bias: hasBias ? weights.values(`${name}.bias`, [rows]) : undefined,
    };
  };
  const dense = read("cls", config.width);
  const width = dense?.rows ?? config.width;
  const norm = inventory.hasAny(["cls.norm.weight"])
    ? weights.values("cls.norm.weight", [width])
    : undefined;
  const output = read("cls.output", width);
  if (!dense && !output) return undefined;
  const isModern = config.architecture === "modern-bert";
  const epsilon = config.numberOr("attention.layer_norm_epsilon", 1e-5);
  return {
    // Files do not tell the pooling of the head: llama.cpp has these.
    pooling: isModern ? "mean" : isEncoder ? "first" : "last",
    outputs(state) {
      let values = Float64Array.from(state);
      if (dense) values = applied(dense, values).map(isModern ? gelu : Math.tanh);
      if (norm) values = normalized(values, norm, epsilon);
      return output ? applied(output, values) : values;
    },
  };
}

function applied({ rows, weights, bias }: Dense, values: Float64Array): Float64Array<ArrayBuffer> {
  const columns = values.length;
  return Float64Array.from({ length: rows }, (_, row) => {
    let sum = bias?.[row] ?? 0;
    for (let i = 0; i < columns; i++) sum += weights[row * columns + i]! * values[i]!;
    return sum;
  });
}

/** The tanh form (Hendrycks and Gimpel 2016), as everywhere in these models. */
function gelu(x: number): number {
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

function normalized(
  values: Float64Array,
  gain: Float32Array,
  epsilon: number,
): Float64Array<ArrayBuffer> {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const scale = 1 / Math.sqrt(variance + epsilon);
  return Float64Array.from(values, (value, i) => (value - mean) * scale * gain[i]!);
}
