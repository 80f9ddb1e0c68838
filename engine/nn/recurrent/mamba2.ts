// The mixer of Mamba 2 (Dao and Gu 2024): channels in heads that decay as a whole, with one projection
// for all that the scan reads, and a norm by groups before the output projection.

import type {
  ConvolutionOptions,
  FloatRows,
  Norm,
  ScanShape,
  ScanWeights,
} from "../../../kernels/mod.ts";
import type { Stack } from "../../weights.ts";
import type { LayerWeights } from "../layer_weights.ts";
import type { Input, Network } from "../network.ts";
import { convolve, loadConvolution, scan } from "./operations.ts";

/** What a layer does besides. */
export interface Mamba2Config {
  /** Multiplies the block's output. */
  gain?: number;
}

/** A layer with its weights: ssm_in, ssm_conv1d, ssm_dt, ssm_a, ssm_d, ssm_norm, ssm_out. */
export class Mamba2Block {
  readonly readers: Stack["readers"];

  constructor(
    readonly network: Network,
    readonly shape: ScanShape,
    readonly weights: {
      input: Stack;
      convolution: ConvolutionOptions;
      scan: ScanWeights;
      norm?: Norm | undefined;
      output: Stack;
    },
  ) {
    this.readers = weights.input.readers;
  }

  /** y += mixer(x). */
  add(x: Input, y: FloatRows): void {
    const { network, weights, shape } = this;
    const { channels, groups, states } = shape;
    const { norm, output } = weights;
    const vectors = groups * states; // columns of b, and of c
    const mixed = channels + 2 * vectors;
    const rows = network.linear(x, weights.input, "mamba"); // [rows, z, x, b, c and dt]
    const convolved = convolve(network, { rows, first: channels }, mixed, weights.convolution);
    const scanned = scan(
      network,
      {
        x: { rows: convolved, first: 0 },
        b: { rows: convolved, first: channels },
        c: { rows: convolved, first: channels + vectors },
        dt: { rows, first: channels + mixed },
        z: { rows, first: 0 },
      },
      weights.scan,
      shape,
    );
    if (norm) {
      const columns = channels / groups;
      network.normVectors(scanned, norm, { first: 0, count: groups, columns });
    }
    network.addLinear(network.input(scanned, output, "scanned"), output, y);
  }
}

/** Loads a layer. Errors: GgufError. */
export async function loadMamba2(
  layer: LayerWeights,
  { gain }: Mamba2Config,
): Promise<Mamba2Block> {
  const { config, network } = layer;
  const shape = {
    channels: config.count("ssm.inner_size"),
    heads: config.count("ssm.time_step_rank"),
    groups: config.count("ssm.group_count"),
    states: config.count("ssm.state_size"),
  };
  return new Mamba2Block(network, shape, {
    input: await layer.stack(["ssm_in.weight"], config.width),
    convolution: { ...loadConvolution(layer, "ssm_conv1d"), silu: true },
    scan: {
      a: layer.vector("ssm_a"),
      d: layer.vector("ssm_d"),
      bias: layer.vector("ssm_dt.bias"),
      scalarDecay: true,
    },
    norm: layer.has("ssm_norm.weight")
      ? { ...layer.norm("ssm_norm"), weightPerVector: true }
      : undefined,
    output: await layer.stack(["ssm_out.weight"], shape.channels, {
      ...(gain === undefined ? {} : { gain }),
    }),
  });
}
