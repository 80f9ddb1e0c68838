// A mixture of experts (Shazeer et al. 2017): a router gives each row its experts and their
// weights. The block's output is the weighted sum of these experts' outputs, plus the output of a
// shared expert for every row (Dai et al. 2024) if the layer has one.

import {
  type ActivationFunction,
  allocateRouting,
  type Device,
  type ExpertPairs,
  type FloatRows,
  type Gating,
  type Matrix,
  type Norm,
  type RouteOptions,
} from "../../kernels/mod.ts";
import { rowsOfEach, type Stack } from "../weights/mod.ts";
import { type FeedForwardBlock, loadFeedForward } from "./feed_forward.ts";
import type { Config } from "./config.ts";
import type { LayerWeights } from "./layer_weights.ts";
import type { Input, Network } from "./network.ts";
import { countsOf, stepOperation } from "./step.ts";

/**
 * The options of a block. Weights: ffn_gate_inp (router), exp_probs_b, ffn_gate_exps and
 * ffn_up_exps or ffn_gate_up_exps, ffn_down_exps; ffn_*_shexp, ffn_gate_inp_shexp. Numbers that are
 * not set are read from the file.
 */
export interface ExpertsConfig {
  /** Default: `expert_gating_func`, else "softmax". */
  gating?: Gating;
  /** Whether the weights of a row are normalized to sum to one. Default: `expert_weights_norm`. */
  normalize?: boolean;
  /** Factor of the weights. Default: `expert_weights_scale`. */
  scale?: number;
  /** Default "silu". */
  activation?: ActivationFunction;
  /** Whether an expert's weight multiplies its input instead of its output (Llama 4). */
  weightInput?: boolean;
  /**
   * Whether the experts have gates: in ffn_gate_exps or ffn_gate_up_exps ("apart", the default), or
   * none.
   */
  gate?: "apart" | "none";
  /**
   * Whether the architecture always has exp_probs_b, a bias that is added only for the choice of
   * experts. Default "optional".
   */
  choiceBias?: "required" | "optional";
  /** Whether router and experts always have biases. Default "optional". */
  bias?: "required" | "optional";
  /** Whether there is always a shared expert, without or with a gate. Default "optional". */
  shared?: "required" | "gated" | "optional";
  /** Multiplies the block's output. */
  gain?: number;
}

/** The gating functions by their number in GGUF. Zero means that the file does not say. */
const GATINGS: readonly Gating[] = ["softmax", "softmax", "sigmoid", "softmax of selected"];

/** A mixture of experts with its weights. */
export class ExpertsBlock {
  readonly readers: readonly Matrix[];

  constructor(
    readonly network: Network,
    readonly config: {
      experts: number;
      /** Number of experts per row. */
      topK: number;
      route: RouteOptions;
      activation: ActivationFunction;
      weightInput: boolean;
    },
    readonly weights: {
      router: Stack;
      /** The matrix of gates and up-projections as pairs of rows, or of up-projections alone. */
      up: Matrix;
      down: Matrix;
      shared?: FeedForwardBlock | undefined;
      /** The gate of the shared expert, whose output is multiplied by its sigmoid: [1, columns]. */
      sharedGate?: Stack | undefined;
    },
  ) {
    const { router, up, shared, sharedGate } = weights;
    this.readers = [router, shared, sharedGate].flatMap((part) => part?.readers ?? [])
      .concat(this.#areAway ? [] : up);
  }

  /**
   * Whether f32 rows are needed besides: because inputs are weighted before the product, or because
   * another device reads them.
   */
  get readsFloats(): boolean {
    return this.config.weightInput || this.#areAway;
  }

  /**
   * The device of the experts, which take the most memory and may be on another device than their
   * layer.
   */
  get #device(): Device {
    return this.network.placement.deviceOf(this.weights.up.label);
  }

  get #areAway(): boolean {
    return this.#device !== this.network.device;
  }

  /** The reader of the router's input, for models in which that is not the experts' input. */
  get router(): Stack {
    return this.weights.router;
  }

  /**
   * Chooses each row's experts. {@linkcode ExpertsBlock.add} does so itself, unless it is given the
   * result.
   */
  route(x: Input): ExpertPairs {
    const { network, weights, config } = this;
    const { experts, topK } = config;
    const { rows } = network.options.limits;
    const device = this.#device;
    const chosen = network.on(
      device,
      () =>
        network.memory.shared(`pairs ${experts} ${topK}`, () => {
          const routing = allocateRouting(device, rows, { experts, topK });
          return device.expertPairs(routing, rows);
        }),
    );
    const logits = network.linear(x, weights.router, "router");
    network.addRows(network.make.route(logits, chosen.routing, config.route));
    network.on(device, () => network.addRows(chosen));
    return chosen;
  }

  /**
   * y += block(x), or y += norm(block(x)). `chosen` is the result of route() if the router has
   * another input.
   */
  add(x: Input, y: FloatRows, postNorm?: Norm, chosen?: ExpertPairs): void {
    this.network.block("mlp", () => this.#add(x, y, postNorm, chosen ?? this.route(x)));
  }

  #add(x: Input, y: FloatRows, postNorm: Norm | undefined, chosen: ExpertPairs): void {
    if (!postNorm && !this.#areAway) return this.#run(x, chosen, y, true);
    const sum = this.linear(x, "experts", chosen);
    if (postNorm) this.network.normInto(sum, y, postNorm, { accumulate: true });
    else this.network.elementwise("add", { rows: y }, { x: { rows: sum } });
  }

  /** block(x) as new rows. */
  linear(x: Input, label: string, chosen = this.route(x)): FloatRows {
    const sum = this.network.scratch(label, this.#columns);
    this.#run(x, chosen, sum, false);
    return sum;
  }

  /** y += shared(x), times the gate if there is one. */
  #addShared(x: Input, y: FloatRows): void {
    const { network } = this;
    const { shared, sharedGate } = this.weights;
    if (!shared) return;
    if (!sharedGate) return shared.add(x, y);
    const rows = shared.linear(x, "shared expert");
    const gate = network.linear(x, sharedGate, "shared gate"); // [rows, 1]
    const sum = { rows: y, columns: rows.columns };
    network.elementwise("add", sum, { x: { rows }, gate: { rows: gate } });
  }

  get #columns(): number {
    return this.weights.down.rows / this.config.experts;
  }

  #run(x: Input, chosen: ExpertPairs, y: FloatRows, accumulate: boolean): void {
    const { network, weights: { up } } = this;
    const isAway = this.#areAway;
    network.on(this.#device, () => {
      // int8 groups are in a layout of the device that makes them, which the other device cannot
      // read.
      const reader = { readers: [up] };
      const own = isAway ? network.input(x.floats!, reader, "input of experts") : x;
      this.#runExperts(own, chosen, y, accumulate);
    });
    this.#addShared(x, y);
  }

  #runExperts(x: Input, chosen: ExpertPairs, y: FloatRows, accumulate: boolean): void {
    const { network, config, weights } = this;
    const { topK, activation } = config;
    const { rows } = network.options.limits;
    const scaled = config.weightInput ? this.#weighted(x, chosen) : undefined;
    const paired = weights.up.sides === 2;
    const rowsOfPairs = (label: string, columns: number) =>
      network.scratch(label, columns, rows * topK); // [rows * topK, columns]
    const integer = network.multipliesInteger(weights.down);
    const hidden = integer
      ? network.quantizedScratch("expert hidden", weights.down.columns, rows * topK)
      : rowsOfPairs("expert hidden", weights.down.columns);
    const raised = paired ? hidden : rowsOfPairs("expert up", weights.down.columns);
    const input = scaled ?? network.formOf(x, weights.up);
    const share = scaled ? 1 : topK;
    network.addRows(
      network.make.expertLinear(weights.up, chosen, input, raised, { share, activation }),
    );
    if (!paired) {
      const activate = network.make.activate(raised as FloatRows, hidden, {
        activation,
        gated: false,
      });
      const overPairs = stepOperation(
        activate,
        (pass, step) => activate.encode(pass, step.rows * topK),
        (step) => countsOf({ ...step, rows: step.rows * topK }),
      );
      network.add({ ...overPairs, output: undefined }); // no output: its rows are pairs, not rows of the step
    }
    const results = rowsOfPairs("expert results", this.#columns);
    network.addRows(network.make.expertLinear(weights.down, chosen, hidden, results, { share: 1 }));
    const weighted = !config.weightInput;
    network.addRows(network.make.combine(chosen.routing, results, y, { accumulate, weighted }));
  }

  /** The input of each pair, times the weight of its expert: [rows * topK, columns]. */
  #weighted(x: Input, { routing }: ExpertPairs): FloatRows {
    const { network } = this;
    const { topK } = this.config;
    const { columns, stride } = x.floats!;
    const { rows } = network.options.limits;
    const pairs = network.scratch("weighted", columns, rows * topK);
    const all: FloatRows = { ...pairs, columns: topK * stride, stride: topK * stride };
    const vectors = { rows: all, columns, step: stride };
    const weights: FloatRows = { columns: topK, stride: topK, floats: routing.weights };
    network.elementwise("copy", vectors, { count: topK, x: { rows: x.floats!, step: 0 } });
    network.elementwise("multiply", vectors, {
      count: topK,
      x: { rows: weights, step: 1 },
      repeat: columns,
    });
    return pairs;
  }
}

/** The gating function of a file. Errors: GgufError for an unknown number. */
export function gatingOf(config: Config): Gating {
  const number = config.countOr("expert_gating_func", 1);
  const gating = GATINGS[number];
  if (gating) return gating;
  throw config.error("expert_gating_func", `${number} is no gating function that is known here`);
}

/** Loads a block. Errors: GgufError, UnsupportedModelError. */
export async function loadExperts(
  layer: LayerWeights,
  config: ExpertsConfig,
): Promise<ExpertsBlock> {
  const { weights, network } = layer;
  const { width } = layer.config;
  const { bias = "optional", choiceBias = "optional" } = config;
  const { experts, topK, groups } = readCounts(layer.config);
  const router = await layer.matrix("ffn_gate_inp.weight", experts, width, { bias });
  const hidden = layer.size(layer.config.countOr("expert_feed_forward_length", 0), [
    ["ffn_down_exps.weight", 0],
    ["ffn_up_exps.weight", 1],
    ["ffn_gate_exps.weight", 1],
    ["ffn_gate_up_exps.weight", 1, 1 / 2],
  ]);
  const up = await loadUp(layer, { experts, hidden, bias, gate: config.gate ?? "apart" });
  const downRows = { ...layer.all("ffn_down_exps.weight", experts * width), matrices: experts };
  const down = await weights.experts(downRows, hidden, { bias });
  const { shared, sharedGate } = await loadShared(layer, config);
  const [choice] = layer.choose([["exp_probs_b.bias"], ["exp_probs_b"]]);
  const hasChoice = choiceBias === "required" || layer.has(choice);
  const scale = (config.scale ?? layer.config.numberOr("expert_weights_scale", 1)) *
    (config.gain ?? 1);
  return new ExpertsBlock(network, {
    experts,
    topK,
    route: {
      gating: config.gating ?? gatingOf(layer.config),
      normalize: config.normalize ?? layer.config.booleanOr("expert_weights_norm", false),
      scale,
      ...(hasChoice ? { bias: layer.vector(choice, [experts]) } : {}),
      ...(groups.count > 1 ? { groups } : {}),
    },
    activation: config.activation ?? "silu",
    weightInput: config.weightInput ?? false,
  }, { router, up, down, shared, sharedGate });
}

/**
 * The number of experts, and of experts per row. Errors: GgufError if they contradict each other.
 */
function readCounts(config: Config) {
  const experts = config.count("expert_count");
  const topK = config.count("expert_used_count");
  if (topK < 1 || topK > experts) {
    throw config.error("expert_used_count", `${topK} of ${experts} experts cannot be chosen`);
  }
  const groups = {
    count: config.countOr("expert_group_count", 1),
    used: config.countOr("expert_group_used_count", 1),
  };
  if (experts % groups.count !== 0 || groups.used > groups.count) {
    const state = `${groups.used} of ${groups.count} groups of ${experts} experts cannot be chosen`;
    throw config.error("expert_group_count", state);
  }
  return { experts, topK, groups };
}

/** The expert that every row gets, if the layer has one. */
async function loadShared(layer: LayerWeights, config: ExpertsConfig) {
  const { width } = layer.config;
  const { shared: kind = "optional", gate = "apart" } = config;
  const parts = gate === "none" ? ["up", "down"] : ["gate", "up", "down"];
  const names = parts.map((part) => `ffn_${part}_shexp.weight`);
  if (kind === "optional" && !layer.hasAny(names)) return {};
  const hidden = layer.config.countOr("expert_shared_feed_forward_length", 0) ||
    layer.config.countOr("expert_feed_forward_length", 0) *
      layer.config.countOr("expert_shared_count", 1);
  const { activation = "silu", gain } = config;
  const shared = await loadFeedForward(layer, {
    activation,
    gate,
    hidden,
    suffix: "_shexp",
    ...(gain === undefined ? {} : { gain }),
  });
  const sharedGate = kind === "gated"
    ? await layer.matrix("ffn_gate_inp_shexp.weight", 1, width)
    : undefined;
  return { shared, sharedGate };
}

interface UpConfig {
  readonly experts: number;
  readonly hidden: number;
  readonly bias: "required" | "optional";
  readonly gate: "apart" | "none";
}

function loadUp(
  layer: LayerWeights,
  { experts, hidden, bias, gate: gateKind }: UpConfig,
): Promise<Matrix> {
  const { weights, config: { width } } = layer;
  const [gate, up, both] = ["gate", "up", "gate_up"].map((part) => `ffn_${part}_exps.weight`);
  const matricesOf = (tensor: string) => ({
    ...layer.all(tensor, experts * hidden),
    matrices: experts,
  });
  if (gateKind === "none") return weights.experts(matricesOf(up), width, { bias });
  if (layer.choose([[both], [gate, up]])[0] !== both) {
    return weights.gatedExperts(matricesOf(gate), matricesOf(up), width, { bias });
  }
  // The rows of each expert are its gate, followed by its up projection.
  const half = (first: number) =>
    rowsOfEach(layer.name(both), {
      count: experts,
      step: 2 * hidden,
      first,
      size: hidden,
      matrices: experts,
    });
  return weights.gatedExperts(half(0), half(hidden), width, { bias });
}
