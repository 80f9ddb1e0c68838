// The mixer of Mamba (Gu and Dao 2023): every channel is a state space model of its own. Its time
// step, input and output vectors are projected from the convolved input. Jamba and FalconMamba norm
// these three.

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

/**
 * A mixer with its weights: ssm_in, ssm_conv1d, ssm_x, ssm_dt, ssm_a, ssm_d, ssm_out; ssm_dt_norm,
 * ssm_b_norm, ssm_c_norm.
 */
export class MambaBlock {
  readonly readers: Stack["readers"];

  constructor(
    readonly network: Network,
    /** Number of channels, and of states of each. */
    readonly shape: { channels: number; states: number },
    readonly weights: {
      input: Stack;
      convolution: ConvolutionOptions;
      /** The two low-rank factors of the time steps' projection. The second has the bias. */
      stepDown: Stack;
      stepUp: Stack;
      /** Input and output vectors, the paper's B and C. */
      vectors: Stack;
      norms?: { step: Norm; input: Norm; output: Norm } | undefined;
      scan: ScanWeights;
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
    const { network, weights } = this;
    const { channels, states } = this.shape;
    const { stepDown, stepUp, vectors, norms, output } = weights;
    const rows = network.linear(x, weights.input, "mamba"); // [rows, x and z]
    const convolved = convolve(network, { rows, first: 0 }, channels, weights.convolution);
    const input = network.input(convolved, [stepDown, vectors], "convolved");
    const lowSteps = network.linear(input, stepDown, "low time steps"); // [rows, rank]
    const bc = network.linear(input, vectors, "state vectors"); // [rows, b and c]
    if (norms) {
      network.normInto(lowSteps, lowSteps, norms.step);
      network.normVectors(bc, norms.input, { first: 0, count: 1, columns: states });
      network.normVectors(bc, norms.output, { first: states, count: 1, columns: states });
    }
    const steps = network.linear(
      network.input(lowSteps, stepUp, "low time steps"),
      stepUp,
      "time steps",
    );
    const scanned = scan(
      network,
      {
        x: { rows: convolved, first: 0 },
        dt: { rows: steps, first: 0 },
        b: { rows: bc, first: 0 },
        c: { rows: bc, first: states },
        z: { rows, first: channels },
      },
      weights.scan,
      { channels, heads: channels, groups: 1, states },
    );
    network.addLinear(network.input(scanned, output, "scanned"), output, y);
  }
}

/** The norms of time steps, input and output vectors. */
export interface MambaConfig {
  /**
   * "weighted": with ssm_dt_norm, ssm_b_norm and ssm_c_norm. "optional": the same, if the file has
   * them. Missing: no norms.
   */
  norms?: "weighted" | "optional";
}

/** Loads a layer. Errors: GgufError. */
export async function loadMamba(
  layer: LayerWeights,
  { norms = "optional" }: MambaConfig,
): Promise<MambaBlock> {
  const { config, network } = layer;
  const channels = config.size("ssm.inner_size");
  const states = config.size("ssm.state_size");
  const rank = config.size("ssm.time_step_rank");
  const project = (first: number, count: number) =>
    layer.stack([layer.some("ssm_x.weight", rank + 2 * states, first, count)], channels);
  return new MambaBlock(network, { channels, states }, {
    input: await layer.matrix("ssm_in.weight", 2 * channels, config.width),
    convolution: {
      ...loadConvolution(layer, "ssm_conv1d", {
        channels,
        width: config.countOr("ssm.conv_kernel", 0),
        bias: "required",
      }),
      silu: true,
    },
    stepDown: await project(0, rank),
    stepUp: await layer.matrix("ssm_dt.weight", channels, rank, { bias: "required" }),
    vectors: await project(rank, 2 * states),
    norms: loadNorms(layer, norms, { rank, states }),
    scan: {
      a: layer.vector("ssm_a", [states, channels]),
      d: layer.vector("ssm_d", [channels]),
      bias: network.memory.shared(
        `${channels} zeros`,
        () => network.memory.constant("zeros", new Float32Array(channels)),
      ),
      scalarDecay: false,
    },
    output: await layer.matrix("ssm_out.weight", config.width, channels),
  });
}

/** The norms: with weights as in Jamba, or without as in FalconMamba. */
function loadNorms(
  layer: LayerWeights,
  norms: "weighted" | "optional",
  { rank, states }: { rank: number; states: number },
): { step: Norm; input: Norm; output: Norm } | undefined {
  const names = ["ssm_dt_norm", "ssm_b_norm", "ssm_c_norm"];
  if (norms === "weighted" || layer.hasAll(names.map((name) => `${name}.weight`))) {
    const sizes = [rank, states, states];
    const [step, input, output] = names.map((name, i) =>
      layer.norm(name, "rms", { shape: [sizes[i]] })
    );
    return { step, input, output };
  }
  if (!layer.config.booleanOr("ssm.dt_b_c_rms", false)) return undefined;
  const plain: Norm = { kind: "rms", epsilon: layer.config.epsilon("rms") };
  return { step: plain, input: plain, output: plain };
}

// The mixer of Mamba 2 (Dao and Gu 2024): the channels of a head share one decay, one projection
// makes everything that the scan reads, and a norm by groups precedes the output projection.

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
