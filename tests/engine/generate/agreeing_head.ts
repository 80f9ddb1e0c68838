// Models with random weights and a head for multi-token prediction that is often right. Layers change the
// residual stream little, so what comes next depends mostly on the last token, and the head sees that
// token's embedding as the model does.

import { randomTokens, writeReference } from "../reference/file.ts";
import { type ReferenceModel, WIDTH } from "../reference/model.ts";
import { finalStates, layersOf, runHead, withHead } from "../reference/mtp_head.ts";
import { RandomWeights, typed } from "../reference/weights.ts";

/** By how much the outputs of layers are scaled: small, but not too small to change what comes. */
const SHARE_OF_LAYERS = 0.2;

/** What a layer adds to the residual stream. */
const OUTPUTS = /\.(attn_output|ssm_out|ffn_down\w*)\.weight$/;

/** Writes such a model and returns its path. Of several heads, the first one is as a single one is. */
export async function writeAgreeing(reference: ReferenceModel, heads = 1): Promise<URL> {
  const model = withHead(reference, heads);
  const weights = new RandomWeights();
  const tokens = randomTokens(3);
  reference.run(weights, tokens);
  runHead(model, weights, tokens, finalStates(model, weights, tokens));
  for (let more = 1; more < heads; more++) {
    const layer = weights.layer(layersOf(model) + more);
    layer.vector("nextn.eh_proj.weight", [2 * WIDTH, WIDTH]);
    layer.vector("attn_norm.weight", WIDTH);
  }
  const { tensors } = weights;
  const set = (name: string, valueOf: (value: number, at: number) => number) => {
    const { shape, values, type } = tensors.get(name)!;
    tensors.set(name, typed(shape, values.map(valueOf), type as "F32"));
  };
  for (const name of tensors.keys()) {
    if (OUTPUTS.test(name)) set(name, (value) => value * SHARE_OF_LAYERS);
  }
  const head = `blk.${layersOf(model)}.nextn`;
  // The embedding passes; of the state before, a little is added.
  set(`${head}.eh_proj.weight`, (value, at) => {
    const [row, column] = [Math.floor(at / (2 * WIDTH)), at % (2 * WIDTH)];
    return row === column ? 1 : column < WIDTH ? 0 : value * 0.1;
  });
  set(`${head}.enorm.weight`, () => 1);
  const norm = tensors.get("output_norm.weight")!;
  tensors.set(`${head}.shared_head_norm.weight`, norm);
  return await writeReference(model, weights);
}
