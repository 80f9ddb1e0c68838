// The head of multi-token prediction in a model's own file (DeepSeek-V3, DeepSeek-AI 2024, section 2.2):
// one more layer, `blk.N.nextn.*`, which reads a token together with the model's hidden state of the
// position before, and predicts the token after. The hidden state is that after the model's last norm.
// As drafts go on, the head reads its own, after its own norm.

import type { FloatRows, Norm } from "../../kernels/mod.ts";
import type { Layer, ModelBuilder } from "../nn/mod.ts";

/** Loads the weights of a layer and appends it to the network, with `x` as its residual stream. */
export type AddLayer = (layer: Layer, x: FloatRows) => Promise<void>;

/** The input of a head besides tokens, and its output. */
export interface MtpHead {
  /** The hidden states of the positions before, which it reads: [rows, width]. */
  readonly previous: FloatRows;
  /**
   * Its own hidden states after a step: [outputs, width]. They are copied to the first rows of
   * `previous`, for a next step with the same sequences in the same order.
   */
  readonly own: FloatRows;
}

/** The tensors that all heads have, without `blk.N.`. */
const PROJECTION = "nextn.eh_proj.weight";

/** The name of the tensor that tells that a file has a head, for the layer after `layers` others. */
export function mtpProjection(layers: number): string {
  return `blk.${layers}.${PROJECTION}`;
}

/**
 * Loads a head, with the network of a model of its own. It shares the embeddings and the output
 * matrix of the model, unless the file has others for it.
 *
 * @throws {GgufError} if a tensor is missing or has another shape
 */
export async function loadMtpHead(model: ModelBuilder, addLayer: AddLayer): Promise<MtpHead> {
  const { network, config } = model;
  const { width } = config;
  const previous = network.memory.floats("previous states", width);
  const layer = model.layer(config.layers);
  const own = { table: "nextn.embed_tokens.weight", head: "nextn.shared_head_head.weight" };
  const embedded = await model.embed({ label: "embedded", ...ownTable(layer, own.table) });
  // [rows, 2 * width]: the norms of the token's embedding and of the hidden state.
  const both = network.scratch("embedding and state", 2 * width);
  const halves: readonly [FloatRows, Norm][] = [
    [embedded, layer.norm("nextn.enorm")],
    [previous, layer.norm("nextn.hnorm")],
  ];
  for (const [i, [rows, norm]] of halves.entries()) {
    const half = { first: i * width, columns: width };
    network.elementwise("copy", { rows: both, ...half }, { x: { rows } });
    network.normVectors(both, norm, { ...half, count: 1 });
  }
  const projection = await layer.matrix(PROJECTION, width, 2 * width);
  const x = network.linear(network.input(both, projection), projection, "residual");
  await addLayer(layer, x);
  const norm = layer.hasAny(["nextn.shared_head_norm.weight"])
    ? layer.norm("nextn.shared_head_norm")
    : model.top.norm("output_norm");
  await model.output(x, norm, { feedBack: previous, ...ownTable(layer, own.head) });
  return { previous, own: network.outputRows("hidden")! };
}

/** The name of a table of tokens, if the layer has it. */
function ownTable(layer: Layer, table: string): { table?: string } {
  return layer.hasAny([table]) ? { table: layer.name(table) } : {};
}
