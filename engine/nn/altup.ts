// AltUp (Baykal et al. 2023), Alternating Updates: a residual of several streams, of which a layer
// computes on one. Before the layer every stream is predicted from all of them; after it, all are
// corrected by what the active one turned out to be. As Gemma 3n has it, whose first is the active.

import { type Columns, type FloatRows, MatchMagnitude, Mix, type Norm } from "../../kernels/mod.ts";
import type { Stack } from "../weights.ts";
import type { ModelBuilder } from "./builder.ts";
import type { Layer } from "./layer.ts";
import type { Network } from "./network.ts";

/** A layer's weights: what the active stream says of the prediction and of the correction. */
export interface AltUpWeights {
  norm: Norm;
  router: Stack;
  predict: Stack;
  correct: Stack;
}

/** The streams of the residual, and how they begin and end. */
export class AltUp {
  /** Side by side: [rows, count * width]. */
  readonly streams: FloatRows;
  readonly #network: Network;
  readonly #width: number;
  readonly #count: number;

  constructor(
    network: Network,
    width: number,
    /** To the other streams, one matrix for all, and back from them. */
    readonly projections: { to: Stack; from: readonly Stack[] },
  ) {
    this.#network = network;
    this.#width = width;
    this.#count = 1 + projections.from.length;
    this.streams = network.memory.floats("streams", this.#count * width);
  }

  /** The streams become x and its projections, which are given its magnitude. */
  begin(x: FloatRows): void {
    const network = this.#network;
    const { to } = this.projections;
    const others = network.linear(network.input(x, to), to, "projected");
    network.elementwise("copy", this.#stream(0), { x: { rows: x } });
    network.elementwise("copy", this.#others, { x: { rows: others } });
    this.#matchMagnitude(this.#others, { rows: x }, this.#count - 1);
  }

  /** Streams += their mix, and x = the active one. */
  predict(x: FloatRows, weights: AltUpWeights): void {
    const [inputs, outputs] = [this.#count, this.#count];
    this.read(x);
    this.#mix(this.#route(x, weights, weights.predict), this.#every, { inputs, outputs });
    this.read(x);
  }

  /** Streams += what the active one lacks to be x, each by its share. x is lost. */
  correct(x: FloatRows, weights: AltUpWeights): void {
    const shares = this.#route(x, weights, weights.correct);
    this.#network.elementwise("add", { rows: x }, { x: this.#stream(0), factor: -1 });
    this.#mix(shares, { rows: x }, { inputs: 1, outputs: this.#count, bias: 1 });
  }

  /** x = the active stream. */
  read(x: FloatRows): void {
    this.#network.elementwise("copy", { rows: x }, { x: this.#stream(0) });
  }

  /** Every stream but the active one += x. */
  addToOthers(x: FloatRows): void {
    const options = { count: this.#count - 1, x: { rows: x } };
    this.#network.elementwise("add", { ...this.#stream(1), step: this.#width }, options);
  }

  /** x = the mean of the active stream and the projections of the others, given its magnitude. */
  end(x: FloatRows): void {
    const network = this.#network;
    this.read(x);
    this.projections.from.forEach((from, i) => {
      const other = network.memory.floats("stream", this.#width);
      network.elementwise("copy", { rows: other }, { x: this.#stream(i + 1) });
      const rows = network.linear(network.input(other, from), from, "projected");
      this.#matchMagnitude({ rows }, this.#stream(0));
      network.elementwise("add", { rows: x }, { x: { rows } });
    });
    network.elementwise("scale", { rows: x }, { factor: 1 / this.#count });
  }

  #stream(index: number): Columns {
    return { rows: this.streams, first: index * this.#width, columns: this.#width };
  }

  /** tanh(router(norm(x))) times a layer's coefficients: the weights of a mix. */
  #route(x: FloatRows, { norm, router }: AltUpWeights, coefficients: Stack): FloatRows {
    const network = this.#network;
    const rows = network.linear(network.norm(x, norm, router), router, "modalities");
    network.elementwise("softcap", { rows }); // at 1: tanh
    return network.linear(network.input(rows, coefficients), coefficients, "coefficients");
  }

  #mix(weights: FloatRows, x: Columns, options: MixOptions): void {
    const { device } = this.#network;
    const y = { ...this.#stream(0), step: this.#width };
    const mix = new Mix(device, weights, x, y, options);
    this.#network.add((pass, step) => mix.encode(pass, step.rows));
  }

  #matchMagnitude(y: Columns, reference: Columns, count = 1): void {
    const match = new MatchMagnitude(this.#network.device, y, reference, { count });
    this.#network.add((pass, step) => match.encode(pass, step.rows));
  }
}
