// Multi-head latent attention (DeepSeek-V2, 2024), as the paper has it: keys and values are unfolded
// from the low-rank vector of each token. The matrices are those of newer files, a head's key matrix
// transposed; `unabsorb` makes an older file's of them.

import { attend } from "./attention.ts";
import { split, type Vector } from "./numbers.ts";
import { rotate, type Rotation } from "./rope.ts";
import { type RandomWeights, type Tensor, typed } from "./weights.ts";

/** Sizes in elements. */
export interface LatentShape {
  heads: number;
  /** Of the low-rank vector of keys and values, and of that of queries. */
  rank: number;
  queryRank?: number | undefined;
  /** Of a head's key that turns, and that does not. */
  rotary: number;
  plain: number;
  value: number;
}

/** attention(x) of all tokens. */
export function latentAttention(
  layer: RandomWeights,
  rows: readonly Vector[],
  shape: LatentShape,
  { rotation, factor }: { rotation: Rotation; factor: number },
): Vector[] {
  const { heads, rank, queryRank, rotary, plain, value } = shape;
  const queries = rows.map((x, position) => {
    const size = heads * (plain + rotary);
    const all = queryRank
      ? layer.linear("attn_q_b", lowRankQuery(layer, x, queryRank), size, { gain: 2 })
      : layer.linear("attn_q", x, size, { gain: 2 });
    return split(all, heads).map((query) => [
      ...query.slice(0, plain),
      ...rotate(query.slice(plain), position, rotation),
    ]);
  });
  const compressed = rows.map((x) => layer.linear("attn_kv_a_mqa", x, rank + rotary));
  const latent = compressed.map((x) => layer.rmsNorm("attn_kv_a_norm", x.slice(0, rank)));
  const keyUp = layer.tensor("attn_k_b.weight", [plain, rank, heads], {
    deviation: 1 / Math.sqrt(rank),
  }, layer.type);
  const keys = latent.map((x, position) => {
    const turned = rotate(compressed[position].slice(rank), position, rotation);
    return Array.from({ length: heads }, (_, head) => [
      ...transposedProduct(keyUp, head, x),
      ...turned,
    ]);
  });
  const values = latent.map((x) =>
    Array.from({ length: heads }, (_, index) => {
      return layer.expert("attn_v_b", { index, experts: heads }, x, value);
    })
  );
  const attended = attend(queries, keys, values, { factor });
  return attended.map((x, i) => layer.linear("attn_output", x, rows[i].length));
}

function lowRankQuery(layer: RandomWeights, x: Vector, rank: number): Vector {
  return layer.rmsNorm("attn_q_a_norm", layer.linear("attn_q_a", x, rank));
}

/** W^T x of one matrix of a tensor. */
function transposedProduct({ shape, values }: Tensor, index: number, x: Vector): Vector {
  const [columns, rows] = shape;
  return Array.from({ length: columns }, (_, column) => {
    return x.reduce((sum, factor, row) => {
      return sum + factor * values[(index * rows + row) * columns + column];
    }, 0);
  });
}

/** Replaces attn_k_b and attn_v_b of a layer by attn_kv_b: each head's keys and then its values. */
export function unabsorb(weights: RandomWeights, index: number): void {
  const name = (part: string) => `blk.${index}.attn_${part}.weight`;
  const [keys, values] = ["k_b", "v_b"].map((part) => weights.tensors.get(name(part))!);
  const [plain, rank, heads] = keys.shape;
  const [, value] = values.shape;
  const rows = Array.from({ length: heads }, (_, head) => [
    ...Array.from({ length: plain }, (_, column) => {
      const at = (row: number) => (head * rank + row) * plain + column;
      return Array.from({ length: rank }, (_, row) => keys.values[at(row)]);
    }).flat(),
    ...values.values.subarray(head * value * rank, (head + 1) * value * rank),
  ]);
  weights.tensors.delete(name("k_b"));
  weights.tensors.delete(name("v_b"));
  const shape = [rank, heads * (plain + value)];
  weights.tensors.set(name("kv_b"), typed(shape, Float32Array.from(rows.flat()), weights.type));
}
