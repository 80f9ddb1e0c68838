// Random weights that come to be when a reference model first uses them: to run the model is to say
// which tensors of which shapes its file has. Written to a GGUF file, the engine gets the same ones.

import { randomWeights } from "../../../bench/random_weights.ts";
import type { WritableTensor } from "../../../engine/gguf/mod.ts";
import { normalize, rmsNormalize, type Vector } from "./numbers.ts";
import { quantize, type QuantizedType, roundActivation } from "./quantize.ts";

/** Epsilon of all norms. */
export const EPSILON = 1e-5;

/** A tensor in GGML's order: shape[0] is the length of a row. */
export interface Tensor {
  readonly shape: readonly number[];
  /** As f32, whatever the type. */
  readonly values: Float32Array;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Vectors are evenly distributed. */
interface Distribution {
  mean?: number;
  deviation?: number;
}

/** What a product is like. */
interface ProductOptions {
  /** Adds `<name>.bias`. */
  bias?: boolean;
  /** How much larger the result is than the input. */
  gain?: number;
  /** Stays f32 in a quantized model, as routers do. */
  float?: boolean;
}

/** The tensors of a model, or of a layer of it. */
export class RandomWeights {
  readonly tensors: Map<string, Tensor>;
  readonly #prefix: string;
  /** Whether quantized matrices multiply activations that are rounded to int8. */
  readonly #integer: boolean;

  /** @param type of the matrices */
  constructor(
    readonly type: "F32" | QuantizedType = "F32",
    { prefix = "", tensors = new Map<string, Tensor>(), integer = false } = {},
  ) {
    this.#prefix = prefix;
    this.#integer = integer;
    this.tensors = tensors;
  }

  /** The weights of a layer. */
  layer(index: number): RandomWeights {
    const { tensors } = this;
    const prefix = `blk.${index}.`;
    return new RandomWeights(this.type, { prefix, tensors, integer: this.#integer });
  }

  /** These weights, for products with int8 activations. */
  asInteger(): RandomWeights {
    const { tensors } = this;
    return new RandomWeights(this.type, { prefix: this.#prefix, tensors, integer: true });
  }

  /** A tensor, which is made where there is none. */
  tensor(
    name: string,
    shape: readonly number[],
    { mean = 0, deviation = 0.3 }: Distribution = {},
    type: "F32" | QuantizedType = "F32",
  ): Tensor {
    const fullName = this.#prefix + name;
    let tensor = this.tensors.get(fullName);
    if (!tensor) {
      const count = shape.reduce((product, size) => product * size);
      const [bytes] = randomWeights("F32", count, { mean, deviation, seed: hash(fullName) });
      tensor = typed(shape, new Float32Array(bytes.slice().buffer), type);
      this.tensors.set(fullName, tensor);
    }
    return tensor;
  }

  /** A vector of a file's shape, [length] if that is not given. */
  vector(name: string, shape: number | readonly number[], distribution?: Distribution): Vector {
    return Array.from(this.tensor(name, [shape].flat(), distribution).values);
  }

  /** W x, W being `<name>.weight` [rows, columns of x]. */
  linear(name: string, x: Vector, rows: number, options: ProductOptions = {}): Vector {
    const weight = this.#matrix(name, [x.length, rows], options);
    const bias = options.bias ? this.vector(`${name}.bias`, rows) : undefined;
    return product(weight, this.#rounded(x, weight), rows, 0, bias);
  }

  /** W x of one of `experts` matrices. */
  expert(
    name: string,
    { index, experts }: { index: number; experts: number },
    x: Vector,
    rows: number,
    options: ProductOptions = {},
  ): Vector {
    const weight = this.#matrix(name, [x.length, rows, experts], options);
    const bias = options.bias ? this.vector(`${name}.bias`, [rows, experts]) : undefined;
    const own = bias?.slice(index * rows, (index + 1) * rows);
    return product(weight, this.#rounded(x, weight), rows, index * rows, own);
  }

  /** A token's row of the table of embeddings. */
  embedding(name: string, token: number, width: number, rows: number): Vector {
    const table = this.#matrix(name, [width, rows], { gain: Math.sqrt(width) });
    return Array.from(table.values.subarray(token * width, (token + 1) * width));
  }

  /** RMSNorm (Zhang and Sennrich 2019). */
  rmsNorm(name: string, x: Vector): Vector {
    const weight = this.vector(`${name}.weight`, x.length, { mean: 1 });
    return rmsNormalize(x, EPSILON).map((value, i) => value * weight[i]);
  }

  /** LayerNorm (Ba et al. 2016). */
  layerNorm(name: string, x: Vector, { bias = true } = {}): Vector {
    const weight = this.vector(`${name}.weight`, x.length, { mean: 1 });
    const shift = bias ? this.vector(`${name}.bias`, x.length) : undefined;
    return normalize(x, EPSILON).map((value, i) => value * weight[i] + (shift?.[i] ?? 0));
  }

  /** What a GGUF file is written of. */
  writable(): WritableTensor[] {
    return [...this.tensors].map(([name, { shape, type, bytes }]) => {
      return { name, shape, type, data: () => [bytes] };
    });
  }

  #rounded(x: Vector, weight: Tensor): Vector {
    return this.#integer && weight.type !== "F32" ? roundActivation(x) : x;
  }

  #matrix(name: string, shape: readonly number[], { gain = 1, float }: ProductOptions): Tensor {
    const type = float || shape[0] % 32 !== 0 ? "F32" : this.type;
    const deviation = gain / Math.sqrt(shape[0]);
    return this.tensor(`${name}.weight`, shape, { deviation }, type);
  }
}

/** A tensor of a type, with the values that are left of those given. */
export function typed(
  shape: readonly number[],
  values: Float32Array<ArrayBuffer>,
  type: "F32" | QuantizedType,
): Tensor {
  if (type === "F32") return { shape, values, type, bytes: new Uint8Array(values.buffer) };
  return { shape, type, ...quantize(type, values) };
}

function product(
  { values }: Tensor,
  x: Vector,
  rows: number,
  first: number,
  bias?: Vector,
): Vector {
  return Array.from({ length: rows }, (_, row) => {
    const start = (first + row) * x.length;
    let total = bias?.[row] ?? 0;
    for (let i = 0; i < x.length; i++) total += values[start + i] * x[i];
    return total;
  });
}

/** A seed of a name: FNV-1a. */
function hash(name: string): number {
  let state = 0x811c9dc5;
  for (const character of name) {
    state = Math.imul(state ^ character.codePointAt(0)!, 0x01000193);
  }
  return state;
}
