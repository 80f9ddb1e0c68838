// Rotary embedding as a model's metadata describes it: base, scaling, frequency factors and sections.
// The tables that follow from it are made by kernels/rope_tables.ts.

import type { RopeOptions } from "../../kernels/mod.ts";
import type { WeightLoader } from "../weights.ts";
import type { Config } from "./config.ts";

/** A rotary embedding, shared by the layers that have the same. */
export interface Rope extends RopeOptions {
  /** Pairs (i, i + rotary/2), the NeoX way, instead of (2i, 2i + 1), the Llama way. */
  halfPairs: boolean;
}

/** What the architecture knows and the file does not say. */
export interface RopeChoice extends Partial<RopeOptions> {
  /** How elements are paired. */
  pairs: "half" | "adjacent";
  /** Of M-RoPE; read from the file where this is given. */
  sections?: never;
  /** M-RoPE: "contiguous" sections or "interleaved" ones. */
  multiSection?: "contiguous" | "interleaved";
  /** Leaves rope_freqs to other layers. */
  withoutFactors?: boolean;
}

/** The rotary embedding of a file; what `choice` names takes precedence. */
export function readRope(config: Config, weights: WeightLoader, choice: RopeChoice): Rope {
  const { pairs, multiSection, withoutFactors = false, ...chosen } = choice;
  const type = config.stringOr("rope.scaling.type", "linear");
  const yarn = type === "yarn";
  const extension = config.metadata.optionalNumber(
    `${config.architecture}.rope.scaling.yarn_ext_factor`,
    -1,
  );
  const sections = multiSection ? config.numbers("rope.dimension_sections") : [];
  return {
    rotary: config.countOr("rope.dimension_count", 0) || config.heads().headDim,
    base: config.numberOr("rope.freq_base", 10000),
    scaling: yarn || type === "linear" ? type : "none",
    factor: config.numberOr("rope.scaling.factor", 1),
    ...(weights.has("rope_freqs.weight") && !withoutFactors
      ? { frequencyFactors: weights.values("rope_freqs.weight") }
      : {}),
    originalContext: config.countOr(
      "rope.scaling.original_context_length",
      config.countOr("context_length", 2048),
    ),
    extensionFactor: extension < 0 ? (yarn ? 1 : 0) : extension,
    attentionFactor: config.numberOr("rope.scaling.attn_factor", 1),
    betaFast: config.numberOr("rope.scaling.yarn_beta_fast", 32),
    betaSlow: config.numberOr("rope.scaling.yarn_beta_slow", 1),
    scoreMultiplier: config.numberOr("rope.scaling.yarn_log_multiplier", 0),
    ...(sections.some((size) => size > 0)
      ? { sections, interleaved: multiSection === "interleaved" }
      : {}),
    ...chosen,
    halfPairs: pairs === "half",
  };
}

/** LongRoPE: the short factors serve contexts up to the original one, the long factors all others. */
export function longRopeFactors(
  config: Config,
  weights: WeightLoader,
  context: number,
): Pick<RopeOptions, "frequencyFactors"> {
  const original = config.countOr("rope.scaling.original_context_length", context);
  const name = `rope_factors_${context > original ? "long" : "short"}.weight`;
  return weights.has(name) ? { frequencyFactors: weights.values(name) } : {};
}
