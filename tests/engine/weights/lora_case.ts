// LoRA adapters of the reference models: random pairs, their files, and weights merged with them.

import { writeModelFile } from "../../model_file.ts";
import { HIDDEN, type ReferenceModel, VOCABULARY, WIDTH } from "../reference/model.ts";
import { RandomWeights, typed } from "../reference/weights.ts";

export const ALPHA = 12;

export const METADATA = {
  "general.type": "adapter",
  "general.architecture": "llama",
  "adapter.type": "lora",
  "adapter.lora.alpha": ALPHA,
};

/** Shapes of adapted weights, the length of a row first. */
export type Shapes = Record<string, readonly [columns: number, rows: number]>;

/** One of a pair of matrices, both of another, some of a stack, and the rest of the kinds. */
export const OF_LLAMA: Shapes = {
  "blk.0.ffn_gate": [WIDTH, HIDDEN],
  "blk.0.ffn_up": [WIDTH, HIDDEN],
  "blk.0.ffn_down": [HIDDEN, WIDTH],
  "blk.1.ffn_up": [WIDTH, HIDDEN],
  "blk.1.attn_q": [WIDTH, 128],
  "blk.1.attn_v": [WIDTH, 64],
  "blk.2.attn_k": [WIDTH, 64],
  "blk.2.attn_output": [128, WIDTH],
  "output": [WIDTH, VOCABULARY],
};

/** Pairs of a rank for weights of these shapes. */
export function pairsFor(shapes: Shapes, rank: number): RandomWeights {
  const pairs = new RandomWeights();
  for (const [name, [columns, rows]] of Object.entries(shapes)) {
    const deviation = 1 / Math.sqrt(columns);
    pairs.tensor(`${name}.weight.lora_a`, [columns, rank], { deviation });
    pairs.tensor(`${name}.weight.lora_b`, [rank, rows], { deviation: 0.1 });
  }
  return pairs;
}

/** W + scale B A for all pairs, as f32. */
export function merge(base: RandomWeights, pairs: RandomWeights, scale: number): RandomWeights {
  const tensors = new Map(base.tensors);
  const names = new Set([...pairs.tensors.keys()].map((name) => name.replace(/\.lora_.$/, "")));
  for (const name of names) {
    const { shape, values } = tensors.get(name)!;
    const [down, up] = ["a", "b"].map((part) => pairs.tensors.get(`${name}.lora_${part}`)!);
    const [columns, rank] = down.shape;
    const merged = values.map((value, i) => {
      const [row, column] = [Math.floor(i / columns), i % columns];
      for (let r = 0; r < rank; r++) {
        value += scale * up.values[row * rank + r] * down.values[r * columns + column];
      }
      return value;
    });
    tensors.set(name, typed(shape, merged, "F32"));
  }
  return new RandomWeights("F32", { tensors });
}

/** Writes an adapter of a reference model. */
export async function writeAdapter(
  { architecture }: ReferenceModel,
  pairs: RandomWeights,
): Promise<string> {
  return await writeModelFile(
    { ...METADATA, "general.architecture": architecture },
    pairs.writable(),
  );
}
