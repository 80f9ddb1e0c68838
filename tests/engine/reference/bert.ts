// BERT (Devlin et al. 2018) in small: every token sees all others, positions are learned, norms come
// after the blocks. Its GELU is the tanh form, as llama.cpp has it.

import { addRows, attend, project } from "./attention.ts";
import { ungated } from "./feed_forward.ts";
import { embed, HIDDEN, type ReferenceModel, sizes, throughLayers, WIDTH } from "./model.ts";
import { add, gelu } from "./numbers.ts";

const LAYERS = 3;
const HEADS = { heads: 4, kvHeads: 4, headDim: 32 };
const POSITIONS = 512;

/** Embeddings are the mean of all tokens. */
export const bert: ReferenceModel = {
  architecture: "bert",
  metadata: { ...sizes(LAYERS, HEADS), "attention.causal": false, "pooling_type": 1 },
  run(weights, tokens) {
    const types = weights.tensor("token_types.weight", [WIDTH, 2]).values;
    const embedded = embed(weights, tokens).map((x, position) => {
      const learned = weights.embedding("position_embd", position, WIDTH, POSITIONS);
      const sum = add(x, add(learned, Array.from(types.subarray(0, WIDTH))));
      return weights.layerNorm("token_embd_norm", sum);
    });
    return throughLayers(weights, embedded, LAYERS, (layer, rows) => {
      const { queries, keys, values } = project(layer, rows, HEADS, { bias: true });
      const results = attend(queries, keys, values, { causal: false });
      const attended = results.map((x) => layer.linear("attn_output", x, WIDTH, { bias: true }));
      return addRows(rows, attended).map((sum) => {
        const x = layer.layerNorm("attn_output_norm", sum);
        return layer.layerNorm("layer_output_norm", add(x, ungated(layer, x, HIDDEN, gelu)));
      });
    });
  },
};
