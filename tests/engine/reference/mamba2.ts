// Mamba 2 (Dao and Gu 2024) in small: layers are mixers alone.

import { addRows } from "./attention.ts";
import { embed, logits, type ReferenceModel, sizes, throughLayers } from "./model.ts";
import { CONVOLUTION, mamba2 as mixer } from "./recurrent.ts";

const LAYERS = 3;
const SHAPE = { channels: 192, heads: 6, groups: 2, states: 32 };

/** Six heads in two groups. */
export const mamba2: ReferenceModel = {
  architecture: "mamba2",
  metadata: {
    ...sizes(LAYERS),
    "ssm.conv_kernel": CONVOLUTION,
    "ssm.inner_size": SHAPE.channels,
    "ssm.state_size": SHAPE.states,
    "ssm.time_step_rank": SHAPE.heads,
    "ssm.group_count": SHAPE.groups,
  },
  run(weights, tokens) {
    const rows = throughLayers(weights, embed(weights, tokens), LAYERS, (layer, rows) => {
      return addRows(rows, mixer(layer, rows.map((x) => layer.rmsNorm("attn_norm", x)), SHAPE));
    });
    return logits(weights, rows.map((x) => weights.rmsNorm("output_norm", x)));
  },
};
