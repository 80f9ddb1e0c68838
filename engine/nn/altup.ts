// AltUp (Baykal et al. 2023), Alternating Updates: the residual has several streams, and a layer
// computes on only one of them. Before a layer, every stream is predicted from all streams. After
// it, all are corrected by the difference between the active stream's prediction and result. This
// is the variant of Gemma 3n, whose first stream is the active one.

import type { Columns, FloatRows, MixOptions, Norm } from "../../kernels/mod.ts";
import type { Stack } from "../weights/mod.ts";
import type { ModelBuilder } from "./builder.ts";
import type { Config } from "./config.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network, Reader } from "./network.ts";
import { rowsOfTable, tokenRows } from "./vocabulary.ts";

/** The weights of a layer. */
export interface AltUpWeights {
  norm: Norm;
  router: Stack;
  predict: Stack;
  correct: Stack;
  /** A factor for each column of the corrected stream, applied where it is read: [1, width]. */
  scale: FloatRows;
}

/** The streams of the residual. `x` is the stream that a layer computes on: [rows, width]. */
export class AltUp {
  /** The streams, side by side: [rows, count * width]. */
  readonly streams: FloatRows;
  readonly #network: Network;
  readonly #width: number;
  readonly #count: number;

  constructor(
    network: Network,
    width: number,
    /**
     * Projections from the active stream to the others, joined into one matrix, and from each of
     * those back.
     */
    readonly projections: { to: Stack; from: readonly Stack[] },
  ) {
    this.#network = network;
    this.#width = width;
    this.#count = 1 + projections.from.length;
    this.streams = network.scratch("streams", this.#count * width);
  }

  /** Streams = x and its projections, scaled to the magnitude of x. */
  begin(x: FloatRows): void {
    const network = this.#network;
    const { to } = this.projections;
    const count = this.#count - 1;
    const projected = { rows: network.linear(network.input(x, to), to, "projected") };
    network.elementwise("copy", this.#from(0), { x: { rows: x } });
    network.elementwise("copy", this.#from(1), { x: { ...projected, step: this.#width }, count });
    this.#matchMagnitude(this.#from(1), { rows: x }, count);
  }

  /** Streams += the predicted mix of them; x = the active stream. */
  predict(x: FloatRows, weights: AltUpWeights): void {
    const count = this.#count;
    this.#read(0, x);
    const mix = this.#route(x, weights, weights.predict);
    this.#mix(mix, this.#from(0), { inputs: count, outputs: count });
    this.#read(0, x);
  }

  /** Streams += coefficients * (x - active stream); x = the active stream, scaled. */
  correct(x: FloatRows, weights: AltUpWeights): void {
    const network = this.#network;
    const shares = this.#route(x, weights, weights.correct);
    network.elementwise("add", { rows: x }, { x: this.#from(0), factor: -1 });
    this.#mix(shares, { rows: x }, { inputs: 1, outputs: this.#count, bias: 1 });
    this.#read(0, x);
    network.elementwise("multiply", { rows: x }, { x: { rows: weights.scale }, broadcast: true });
  }

  /** Every stream except the active one += x. */
  addToOthers(x: FloatRows): void {
    const options = { count: this.#count - 1, x: { rows: x } };
    this.#network.elementwise("add", this.#from(1), options);
  }

  /**
   * x = the mean of the active stream and the projections of the others, scaled to its magnitude.
   */
  end(x: FloatRows): void {
    const network = this.#network;
    network.beginLayer(); // belongs to no layer, so it runs on the device of the head
    this.#read(0, x);
    this.projections.from.forEach((from, i) => {
      const other = network.scratch("stream", this.#width);
      this.#read(i + 1, other);
      const rows = network.linear(network.input(other, from), from, "projected");
      this.#matchMagnitude({ rows }, this.#from(0));
      network.elementwise("add", { rows: x }, { x: { rows } });
    });
    network.elementwise("scale", { rows: x }, { factor: 1 / this.#count });
  }

  /** The columns of one stream, and of those after it for operations that take several. */
  #from(index: number): Columns {
    const width = this.#width;
    return { rows: this.streams, first: index * width, columns: width, step: width };
  }

  #read(index: number, x: FloatRows): void {
    this.#network.elementwise("copy", { rows: x }, { x: this.#from(index) });
  }

  /** tanh(router(norm(x))) times a layer's coefficients: the weights of a mix. */
  #route(x: FloatRows, { norm, router }: AltUpWeights, coefficients: Stack): FloatRows {
    const network = this.#network;
    const rows = network.linear(network.norm(x, norm, router), router, "modalities");
    network.elementwise("softcap", { rows }); // to 1, which is tanh
    return network.linear(network.input(rows, coefficients), coefficients, "coefficients");
  }

  #mix(weights: FloatRows, x: Columns, options: MixOptions): void {
    this.#network.addRows(this.#network.make.mix(weights, x, this.#from(0), options));
  }

  #matchMagnitude(y: Columns, reference: Columns, count = 1): void {
    this.#network.addRows(this.#network.make.matchMagnitude(y, reference, { count }));
  }
}

/** Loads the weights that belong to no layer. Errors: GgufError. */
export async function loadAltUp({ network, top, config }: ModelBuilder): Promise<AltUp> {
  const { width } = config;
  const others = streamsOf(config) - 1;
  const weightOf = (tensor: string) => ({ ...top.all(tensor, others * width), matrices: others });
  const to = await top.stack([weightOf("altup_proj.weight")], width);
  const from: Stack[] = [];
  for (let first = 0; first < others * width; first += width) {
    const rows = { ...weightOf("altup_unembd_proj.weight"), ranges: [[first, width] as const] };
    from.push(await top.stack([rows], width));
  }
  return new AltUp(network, width, { to, from });
}

/** Loads the weights of a layer. Errors: GgufError. */
export async function loadAltUpWeights(layer: LayerWeights): Promise<AltUpWeights> {
  const { width } = layer.config;
  const streams = streamsOf(layer.config);
  return {
    norm: layer.norm("altup_router_norm", "rms", { gain: 1 / width }),
    router: await layer.matrix("altup_router.weight", streams, width),
    predict: await layer.matrix("altup_predict_coef.weight", streams ** 2, streams),
    correct: await layer.matrix("altup_correct_coef.weight", streams, streams),
    scale: {
      columns: width,
      stride: width,
      floats: layer.vector("altup_correct_scale.weight", [width]),
    },
  };
}

/** The number of streams. Published models have four, of which the first is the active one. */
function streamsOf(config: Config): number {
  if (config.countOr("altup.active_idx", 0) !== 0) {
    throw config.error("altup.active_idx", "streams after the first cannot be the active one");
  }
  return config.countOr("altup.num_inputs", 4);
}

// LAuReL (Menghani et al. 2024), a learned augmented residual layer: beside its block, a layer's
// input is added directly and through a low-rank product.

/** The low-rank residual of a layer, with its weights. */
class Laurel implements Reader {
  readonly readers: Stack["readers"];
  readonly readsFloats = true;

  constructor(
    readonly network: Network,
    readonly weights: { left: Stack; right: Stack; norm: Norm },
  ) {
    this.readers = weights.left.readers;
  }

  /** y += x + norm(right(left(x))). */
  add(x: Input, y: FloatRows): void {
    const { network } = this;
    const { left, right, norm } = this.weights;
    const low = network.linear(x, left, "laurel");
    network.addLinear(network.input(low, right), right, y, norm);
    network.elementwise("add", { rows: y }, { x: { rows: x.floats! } });
  }
}

/** Loads laurel_l, laurel_r and laurel_post_norm. Errors: GgufError. */
export async function loadLaurel(layer: LayerWeights): Promise<Laurel> {
  const { width } = layer.config;
  const rank = layer.size(0, [["laurel_l.weight", 1], ["laurel_r.weight", 0]]);
  const left = await layer.matrix("laurel_l.weight", rank, width);
  const right = await layer.matrix("laurel_r.weight", width, rank);
  return new Laurel(layer.network, { left, right, norm: layer.norm("laurel_post_norm") });
}

// Per-layer embeddings (Gemma 3n, Gemma 4): besides the residual stream, every layer has a small
// input of its own. It is the sum of a row that is looked up by token and a projection of the
// token's embedding. The inputs of all layers are computed at once; each layer adds its own through
// a gate.

/**
 * The inputs of all layers, side by side: [rows, layers * columns]. `x` is the scaled embeddings of
 * the step's tokens: [rows, width]. Errors: GgufError.
 */
export async function perLayerInputs(model: ModelBuilder, x: FloatRows): Promise<FloatRows> {
  const { network, top, config: { layers, width } } = model;
  const columns = inputColumns(top);
  const name = "per_layer_token_embd.weight";
  const ofTokens = tokenRows(name, model.vocabulary, rowsOfTable(top, name, model.vocabulary));
  const table = await model.weights.table(ofTokens, layers * columns);
  const gain = 1 / Math.sqrt(width);
  const projection = await top.matrix("per_layer_model_proj.weight", layers * columns, width, {
    gain,
  });
  // The sum of the two parts is multiplied by 1 / sqrt(2), so each part is scaled by it.
  const scaled = { shape: [columns], gain: Math.SQRT1_2 };
  const norm = top.norm("per_layer_proj_norm", "rms", scaled);
  const scale = Math.sqrt(columns) * Math.SQRT1_2;
  const inputs = network.linear(network.input(x, projection), projection, "per-layer inputs");
  network.normVectors(inputs, norm, { first: 0, count: layers, columns });
  network.embed(table, inputs, { by: "token", scale, accumulate: true, standIn: true });
  return inputs;
}

/** Columns of a layer's input. */
function inputColumns(top: LayerWeights): number {
  const said = top.config.countOr("embedding_length_per_layer_input", 0);
  const share = 1 / top.config.layers;
  return top.size(said, [
    ["per_layer_proj_norm.weight", 0],
    ["per_layer_token_embd.weight", 0, share],
    ["per_layer_model_proj.weight", 1, share],
  ]);
}

/**
 * norm(proj(gelu(gate(x)) * input)) as new rows: what a layer adds for its part of {@linkcode
 * perLayerInputs}. Errors: GgufError.
 */
export async function perLayerUpdate(
  layer: LayerWeights,
  x: FloatRows,
  inputs: FloatRows,
): Promise<FloatRows> {
  const { network } = layer;
  const columns = inputs.columns / layer.config.layers;
  const gate = await layer.matrix("inp_gate.weight", columns, x.columns);
  const projection = await layer.matrix("proj.weight", x.columns, columns);
  const rows = network.linear(network.input(x, gate), gate, "per-layer gate");
  const own = { rows: inputs, first: layer.index * gate.columns };
  network.elementwise("gelu_gate", { rows }, { x: own });
  const update = network.linear(network.input(rows, projection), projection, "per-layer update");
  network.normInto(update, update, layer.norm("post_norm"));
  return update;
}
