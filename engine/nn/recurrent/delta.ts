// Linear attention by the gated delta rule: Gated DeltaNet (Yang et al. 2024), as in Qwen3-Next and
// Qwen3.5, and Kimi Delta Attention (Kimi Team 2025), in which every element of a key has its own
// decay. Queries, keys and values pass a convolution first; results are normed and gated.

import type {
  ColumnRange,
  ConvolutionOptions,
  DeltaShape,
  DeltaWeights,
  FloatRows,
  GatedNormOptions,
} from "../../../kernels/mod.ts";
import { UnsupportedModelError } from "../../errors.ts";
import { type Rows, rowsOfEach, type Stack } from "../../weights/mod.ts";
import type { LayerWeights } from "../layer_weights.ts";
import type { Input, Network } from "../network.ts";
import { convolve, deltaRule, gatedNorm, loadConvolution } from "./operations.ts";

/** A projection as the product of two low-rank factors. */
interface LowRank {
  readonly down: Stack;
  readonly up: Stack;
}

/** A linear attention layer with its weights. */
export class DeltaBlock {
  readonly readers: Stack["readers"];

  constructor(
    readonly network: Network,
    readonly shape: DeltaShape,
    readonly weights: {
      /**
       * Rows of queries, keys, values; of the gate and of alpha, unless these are low-rank; of
       * beta.
       */
      input: Stack;
      gate?: LowRank | undefined;
      alpha?: LowRank | undefined;
      convolution: ConvolutionOptions;
      delta: DeltaWeights;
      norm: Omit<GatedNormOptions, "gate">;
      gateActivation: "silu" | "sigmoid";
      output: Stack;
    },
  ) {
    const { input, gate, alpha } = weights;
    this.readers = [input, gate?.down, alpha?.down].flatMap((stack) => stack?.readers ?? []);
  }

  /** y += attention(x). */
  add(x: Input, y: FloatRows): void {
    this.network.block("mixer", () => this.#add(x, y));
  }

  #add(x: Input, y: FloatRows): void {
    const { network, weights, shape } = this;
    const { heads, keyHeads, dim } = shape;
    const { output } = weights;
    const keys = keyHeads * dim;
    const values = heads * dim;
    const channels = 2 * keys + values;
    const rows = network.linear(x, weights.input, "delta inputs");
    const gateAt = { rows, first: channels };
    const betaAt = { rows, first: channels + (weights.gate ? 0 : values) };
    const alphaAt = { rows, first: betaAt.first + heads };
    const convolved = convolve(network, { rows, first: 0 }, channels, weights.convolution);
    const result = deltaRule(
      network,
      {
        qkv: { rows: convolved, q: 0, k: keys, v: 2 * keys },
        alpha: weights.alpha ? this.#lowRank(x, weights.alpha, "alpha") : alphaAt,
        beta: betaAt,
      },
      weights.delta,
      shape,
    );
    const z = weights.gate ? this.#lowRank(x, weights.gate, "gate") : gateAt;
    const normed = gatedNorm(network, result, {
      ...weights.norm,
      gate: { z, activation: weights.gateActivation },
    });
    network.addLinear(network.input(normed, output, "gated norm"), output, y);
  }

  #lowRank(x: Input, { down, up }: LowRank, label: string): ColumnRange {
    const { network } = this;
    const low = network.linear(x, down, `low ${label}`);
    return { rows: network.linear(network.input(low, up, `low ${label}`), up, label), first: 0 };
  }
}

/** The layout of Qwen's files. */
export interface GatedDeltaConfig {
  /**
   * Whether value head h has key head h % keyHeads. Otherwise neighbouring value heads share a key
   * head.
   */
  tiledHeads?: boolean;
}

/**
 * Loads a Gated DeltaNet: attn_qkv and attn_gate, or ssm_in; ssm_beta and ssm_alpha, or ssm_ba;
 * ssm_conv1d, ssm_a, ssm_dt, ssm_norm, ssm_out. Errors: GgufError, UnsupportedModelError.
 */
export async function loadGatedDelta(
  layer: LayerWeights,
  { tiledHeads = false }: GatedDeltaConfig,
): Promise<DeltaBlock> {
  const { config, network } = layer;
  const heads = config.size("ssm.time_step_rank");
  const keyHeads = config.size("ssm.group_count");
  const dim = config.size("ssm.state_size");
  const shape = checked(layer, { heads, keyHeads, dim, tiledHeads });
  const [keys, values] = [keyHeads * dim, heads * dim];
  return new DeltaBlock(network, shape, {
    input: await layer.stack(inputRows(layer, shape), config.width),
    convolution: {
      ...loadConvolution(layer, "ssm_conv1d", {
        channels: 2 * keys + values,
        width: config.countOr("ssm.conv_kernel", 0),
        bias: "none",
      }),
      silu: true,
    },
    delta: loadDelta(layer, { heads, biases: heads, vectorGate: false }),
    norm: loadNorm(layer, shape),
    gateActivation: "silu",
    output: await layer.matrix("ssm_out.weight", config.width, values),
  });
}

/** Rows of queries, keys, values, gates, betas and alphas. */
function inputRows(
  layer: LayerWeights,
  { heads, keyHeads, dim, tiledHeads }: DeltaShape,
): Rows[] {
  const share = heads / keyHeads;
  const [keys, values] = [keyHeads * dim, heads * dim];
  /** Some rows of each key head's part of a tensor. */
  const part = (tensor: string, first: number, size: number, step: number) =>
    rowsOfEach(layer.name(tensor), { count: keyHeads, step, first, size });
  const group = (2 + 2 * share) * dim;
  const [mixed, gate] = layer.choose([["attn_qkv.weight", "attn_gate.weight"], ["ssm_in.weight"]]);
  const [apart, together] = [["ssm_beta.weight", "ssm_alpha.weight"], ["ssm_ba.weight"]];
  // If the layer has neither layout, the error names the tensors of the layout that files of such
  // models usually have.
  const [beta, alpha] = layer.choose(tiledHeads ? [apart, together] : [together, apart]);
  return [
    ...gate ? [layer.all(mixed, 2 * keys + values), layer.all(gate, values)] : [
      part(mixed, 0, dim, group),
      part(mixed, dim, dim, group),
      part(mixed, 2 * dim, share * dim, group),
      part(mixed, (2 + share) * dim, share * dim, group),
    ],
    ...alpha
      ? [layer.all(beta, heads), layer.all(alpha, heads)]
      : [part(beta, 0, share, 2 * share), part(beta, share, share, 2 * share)],
  ];
}

/**
 * Loads Kimi Delta Attention: attn_q, attn_k and attn_v, each with its ssm_conv1d; ssm_f_a and
 * ssm_f_b; ssm_beta; attn_gate, or ssm_g_a and ssm_g_b; ssm_a, ssm_dt, ssm_norm, attn_output.
 * Errors: GgufError, UnsupportedModelError.
 */
export async function loadKimiDelta(layer: LayerWeights): Promise<DeltaBlock> {
  const { config, network } = layer;
  const dim = config.size("kda.head_dim");
  const said = config.countsPerLayer("attention.head_count")[layer.index];
  const heads = layer.size(
    said,
    ["q", "k", "v"].map((part) => [`attn_${part}.weight`, 1, 1 / dim]),
  );
  const shape = checked(layer, { heads, keyHeads: heads, dim });
  const channels = heads * dim;
  const lowRank = async (tensor: string): Promise<LowRank> => ({
    down: await layer.matrix(`${tensor}_a.weight`, dim, config.width),
    up: await layer.matrix(`${tensor}_b.weight`, channels, dim),
  });
  const wholeGate = layer.choose([["ssm_g_a.weight", "ssm_g_b.weight"], ["attn_gate.weight"]])
    .length === 1;
  const projections = ["attn_q", "attn_k", "attn_v", ...(wholeGate ? ["attn_gate"] : [])];
  const input = [
    ...projections.map((name) => layer.all(`${name}.weight`, channels)),
    layer.all("ssm_beta.weight", heads),
  ];
  return new DeltaBlock(network, shape, {
    input: await layer.stack(input, config.width),
    gate: wholeGate ? undefined : await lowRank("ssm_g"),
    alpha: await lowRank("ssm_f"),
    convolution: { ...joinConvolutions(layer, ["q", "k", "v"], channels), silu: true },
    delta: loadDelta(layer, { heads, biases: channels, vectorGate: true }),
    norm: loadNorm(layer, shape),
    gateActivation: "sigmoid",
    output: await layer.matrix("attn_output.weight", config.width, channels),
  });
}

/** Joins convolutions over separate channels into one. */
function joinConvolutions(
  layer: LayerWeights,
  parts: readonly string[],
  channels: number,
): ConvolutionOptions {
  const names = parts.map((part) => `ssm_conv1d_${part}.weight`);
  const said = layer.config.countOr("ssm.conv_kernel", 0);
  const width = layer.size(said, names.map((name) => [name, 0]));
  const values = names.flatMap((name) => [
    ...layer.weights.values(layer.name(name), [width, channels]),
  ]);
  const weight = layer.network.memory.constant(layer.name(names[0]), Float32Array.from(values));
  return { width, weight };
}

function loadDelta(
  layer: LayerWeights,
  { heads, biases, vectorGate }: { heads: number; biases: number; vectorGate: boolean },
): DeltaWeights {
  return {
    a: layer.vector("ssm_a", [heads]),
    bias: layer.vector("ssm_dt.bias", [biases]),
    vectorGate,
    epsilon: layer.config.epsilon("rms"),
  };
}

function loadNorm(
  layer: LayerWeights,
  { heads, dim }: DeltaShape,
): Omit<GatedNormOptions, "gate"> {
  const weight = layer.vector("ssm_norm.weight", [dim]);
  return { groups: heads, weight, sharedWeight: true, epsilon: layer.config.epsilon("rms") };
}

function checked(layer: LayerWeights, shape: DeltaShape): DeltaShape {
  const { heads, keyHeads, dim } = shape;
  if (dim % 32 === 0 && heads % keyHeads === 0) return shape;
  throw new UnsupportedModelError(
    `Cannot load "${layer.config.path}": a delta rule of ${heads} heads of ${dim} elements with ` +
      `${keyHeads} heads of keys is not supported`,
  );
}
