// The mixer of Mamba (Gu and Dao 2023): every channel is a state space model of its own, whose time
// step, input and output vectors are projected from what a convolution makes of the input. Jamba and
// FalconMamba norm these three.

import type { ConvolutionOptions, FloatRows, Norm, ScanWeights } from "../../../kernels/mod.ts";
import type { Stack } from "../../weights.ts";
import type { LayerWeights } from "../layer_weights.ts";
import type { Input, Network } from "../network.ts";
import { convolve, loadConvolution, scan } from "./operations.ts";

/**
 * A layer with its weights: ssm_in, ssm_conv1d, ssm_x, ssm_dt, ssm_a, ssm_d, ssm_out; ssm_dt_norm,
 * ssm_b_norm, ssm_c_norm.
 */
export class MambaBlock {
  readonly readers: Stack["readers"];

  constructor(
    readonly network: Network,
    /** Channels, and states of each. */
    readonly shape: { channels: number; states: number },
    readonly weights: {
      input: Stack;
      convolution: ConvolutionOptions;
      /** The two factors of the time steps' projection; the second has their bias. */
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

/** Loads a layer. Errors: GgufError. */
export async function loadMamba(layer: LayerWeights): Promise<MambaBlock> {
  const { config, network } = layer;
  const channels = config.count("ssm.inner_size");
  const states = config.count("ssm.state_size");
  const rank = config.count("ssm.time_step_rank");
  return new MambaBlock(network, { channels, states }, {
    input: await layer.stack(["ssm_in.weight"], config.width),
    convolution: { ...loadConvolution(layer, "ssm_conv1d"), silu: true },
    stepDown: await layer.stack([layer.rows("ssm_x.weight", 0, rank)], channels),
    stepUp: await layer.stack(["ssm_dt.weight"], rank),
    vectors: await layer.stack([layer.rows("ssm_x.weight", rank, 2 * states)], channels),
    norms: loadNorms(layer),
    scan: {
      a: layer.vector("ssm_a"),
      d: layer.vector("ssm_d"),
      bias: network.memory.constant(`zeros ${channels}`, new Float32Array(channels)),
      scalarDecay: false,
    },
    output: await layer.stack(["ssm_out.weight"], channels),
  });
}

/** Jamba's norms, or FalconMamba's, which have no weights. */
function loadNorms(layer: LayerWeights): { step: Norm; input: Norm; output: Norm } | undefined {
  const plain: Norm = { kind: "rms", epsilon: layer.config.epsilon("rms") };
  if (layer.has("ssm_dt_norm.weight")) {
    const [step, input, output] = ["dt", "b", "c"].map((name) => layer.norm(`ssm_${name}_norm`));
    return { step, input, output };
  }
  if (layer.config.booleanOr("ssm.dt_b_c_rms", false)) {
    return { step: plain, input: plain, output: plain };
  }
  return undefined;
}
