// The gated short convolution of LFM2 (Liquid AI 2025): a causal convolution over a few rows, with a
// gate on its input and one on its output.

import type { ConvolutionOptions, FloatRows } from "../../../kernels/mod.ts";
import type { Stack } from "../../weights/mod.ts";
import type { LayerWeights } from "../layer_weights.ts";
import type { Input, Network } from "../network.ts";
import { convolve, loadConvolution } from "./operations.ts";

/** A layer with its weights: shortconv.in_proj, shortconv.conv, shortconv.out_proj. */
export class ShortConvolutionBlock {
  readonly readers: Stack["readers"];

  constructor(
    readonly network: Network,
    readonly weights: { input: Stack; convolution: ConvolutionOptions; output: Stack },
  ) {
    this.readers = weights.input.readers;
  }

  /** y += block(x). */
  add(x: Input, y: FloatRows): void {
    this.network.block("mixer", () => this.#add(x, y));
  }

  #add(x: Input, y: FloatRows): void {
    const { network } = this;
    const { input, convolution, output } = this.weights;
    const channels = input.columns / 3;
    const rows = network.linear(x, input, "gates and values"); // [rows, two gates and the values]
    const mixed = convolve(network, { rows, first: 2 * channels }, channels, {
      ...convolution,
      gates: { input: 0, output: channels },
    });
    network.addLinear(network.input(mixed, output, "convolved"), output, y);
  }
}

/** Loads a layer. Errors: GgufError. */
export async function loadShortConvolution(layer: LayerWeights): Promise<ShortConvolutionBlock> {
  const { width } = layer.config;
  return new ShortConvolutionBlock(layer.network, {
    input: await layer.matrix("shortconv.in_proj.weight", 3 * width, width),
    convolution: loadConvolution(layer, "shortconv.conv", {
      channels: width,
      width: layer.config.countOr("shortconv.l_cache", 0),
      bias: "optional",
    }),
    output: await layer.matrix("shortconv.out_proj.weight", width, width),
  });
}
