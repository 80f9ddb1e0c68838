// The operations of recurrent layers on the rows of a step, each with the state that it keeps for
// every sequence. The blocks in this folder are made of them.

import {
  type ColumnRange,
  type ConvolutionOptions,
  convolutionStateBytes,
  type DeltaInputs,
  type DeltaShape,
  deltaStateBytes,
  type DeltaWeights,
  type FloatRows,
  type GatedNormOptions,
  type Operation,
  type ScanInputs,
  type ScanShape,
  scanStateBytes,
  type ScanWeights,
} from "../../../kernels/mod.ts";
import type { Stack } from "../../weights/mod.ts";
import type { LayerWeights } from "../layer_weights.ts";
import type { Input, Network } from "../network.ts";
import { type StepOperation, stepOperation } from "../step.ts";

/** Bytes of a float. */
const FLOAT = 4;

/** The causal convolution over the rows of each sequence: [rows, channels]. */
export function convolve(
  network: Network,
  x: ColumnRange,
  channels: number,
  options: ConvolutionOptions,
): FloatRows {
  const { memory, state } = network;
  const y = network.scratch("convolved", channels);
  const bytes = convolutionStateBytes(channels, options.width, 1);
  const history = memory.layerState("convolution state", bytes / FLOAT);
  const convolution = network.make.convolution(x, y, state, history, options);
  network.add(stepOperation(convolution, (pass, step) => {
    const longest = step.rows - step.sequences + 1; // longest segment: every other sequence has at least one row
    convolution.encode(pass, step.sequences, longest);
  }));
  return y;
}

/**
 * The weights of a convolution: `<tensor>.weight` [channels, width], and a bias if there is one.
 * Errors: GgufError.
 *
 * @param width rows that a result depends on, by the metadata; 0 if it does not tell
 */
export function loadConvolution(
  layer: LayerWeights,
  tensor: string,
  { channels, width: said, bias }: {
    channels: number;
    width: number;
    bias: "required" | "optional" | "none";
  },
): ConvolutionOptions {
  const width = layer.size(said, [[`${tensor}.weight`, 0]]);
  const hasBias = bias === "required" || (bias === "optional" && layer.has(`${tensor}.bias`));
  return {
    width,
    weight: layer.vector(`${tensor}.weight`, [width, channels]),
    ...(hasBias ? { bias: layer.vector(`${tensor}.bias`, [channels]) } : {}),
  };
}

/** The selective scan: [rows, channels]. */
export function scan(
  network: Network,
  inputs: ScanInputs,
  weights: ScanWeights,
  shape: ScanShape,
): FloatRows {
  const { memory, state } = network;
  const y = network.scratch("scanned", shape.channels);
  const carried = memory.layerState("scan state", scanStateBytes(shape, 1) / FLOAT);
  network.add(overSequences(network.make.scan(inputs, y, state, carried, weights, shape)));
  return y;
}

/** The gated delta rule: [rows, heads, dim]. */
export function deltaRule(
  network: Network,
  inputs: DeltaInputs,
  weights: DeltaWeights,
  shape: DeltaShape,
): FloatRows {
  const { memory, state } = network;
  const y = network.scratch("delta", shape.heads * shape.dim);
  const carried = memory.layerState("delta state", deltaStateBytes(shape, 1) / FLOAT);
  network.add(overSequences(network.make.deltaRule(inputs, y, state, carried, weights, shape)));
  return y;
}

/** The norm of each group of x with its gate, as new rows. */
export function gatedNorm(network: Network, x: FloatRows, options: GatedNormOptions): FloatRows {
  const y = network.scratch("gated norm", x.columns);
  network.addRows(network.make.gatedNorm({ rows: x, first: 0 }, y, options));
  return y;
}

function overSequences(operation: Operation): StepOperation {
  return stepOperation(operation, (pass, step) => operation.encode(pass, step.sequences));
}

// The gated short convolution of LFM2 (Liquid AI 2025): a causal convolution over a few rows, with a
// gate on its input and one on its output.

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
