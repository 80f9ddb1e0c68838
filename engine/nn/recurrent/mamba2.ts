// The mixer of Mamba 2 (Dao and Gu 2024): the channels of a head share one decay, one projection
// makes everything that the scan reads, and a norm by groups precedes the output projection.

import type {
  ConvolutionOptions,
  FloatRows,
  Norm,
  ScanShape,
  ScanWeights,
} from "../../../kernels/mod.ts";
import type { Stack } from "../../weights/mod.ts";
import type { Config } from "../config.ts";
import type { LayerWeights } from "../layer_weights.ts";
import type { Input, Network } from "../network.ts";
import { convolve, loadConvolution, scan } from "./operations.ts";

/** Differences between models with this mixer. */
export interface Mamba2Config {
  /** Whether all models of the architecture have ssm_norm. Default "required". */
  norm?: "required" | "optional";
  /** Whether all models of the architecture have a bias of the convolution. Default "required". */
  convolutionBias?: "required" | "optional";
  /** Multiplies the block's output. */
  gain?: number;
}

/** A mixer with its weights: ssm_in, ssm_conv1d, ssm_dt, ssm_a, ssm_d, ssm_norm, ssm_out. */
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
    this.network.block("mixer", () => this.#add(x, y));
  }

  #add(x: Input, y: FloatRows): void {
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
  { norm = "required", convolutionBias = "required", gain }: Mamba2Config,
): Promise<Mamba2Block> {
  const { config, network } = layer;
  const shape = readShape(config);
  const { channels, heads, groups, states } = shape;
  const mixed = channels + 2 * groups * states; // x, b and c
  const hasNorm = norm === "required" || layer.has("ssm_norm.weight");
  const normShape = { shape: [channels / groups, groups] };
  return new Mamba2Block(network, shape, {
    input: await layer.matrix("ssm_in.weight", channels + mixed + heads, config.width),
    convolution: {
      ...loadConvolution(layer, "ssm_conv1d", {
        channels: mixed,
        width: config.countOr("ssm.conv_kernel", 0),
        bias: convolutionBias,
      }),
      silu: true,
    },
    scan: {
      a: layer.vector("ssm_a", [heads]),
      d: layer.vector("ssm_d", [heads]),
      bias: layer.vector("ssm_dt.bias", [heads]),
      scalarDecay: true,
    },
    norm: hasNorm
      ? { ...layer.norm("ssm_norm", "rms", normShape), weightPerVector: true }
      : undefined,
    output: await layer.matrix("ssm_out.weight", config.width, channels, {
      ...(gain === undefined ? {} : { gain }),
    }),
  });
}

/** Sizes of a layer, from the metadata. Errors: GgufError if they do not divide each other. */
function readShape(config: Config): ScanShape {
  const keys = { channels: "inner_size", heads: "time_step_rank", groups: "group_count" };
  const [channels, heads, groups] = Object.values(keys).map((key) => config.size(`ssm.${key}`));
  const states = config.size("ssm.state_size");
  for (const [key, count] of [["time_step_rank", heads], ["group_count", groups]] as const) {
    if (channels % count === 0) continue;
    throw config.error(`ssm.${key}`, `${count} does not divide ${channels} channels`);
  }
  return { channels, heads, groups, states };
}
