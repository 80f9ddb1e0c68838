// Rotary embedding as a model's metadata describes it: base, scaling, frequency factors and
// sections. kernels/rope_tables.ts makes the tables of cosines and sines.

import type { RopeOptions } from "../../kernels/mod.ts";
import type { WeightLoader } from "../weights/mod.ts";
import type { Config } from "./config.ts";

/** A rotary embedding. Layers with the same embedding share the object. */
export interface Rope extends RopeOptions {
  /** Whether pairs are (i, i + rotary/2), as in NeoX, instead of (2i, 2i + 1), as in Llama. */
  halfPairs: boolean;
}

/** The properties that the architecture defines, because the file does not contain them. */
export interface RopeChoice extends Partial<RopeOptions> {
  /** The elements of a head that form pairs. */
  pairs: "half" | "adjacent";
  /** The sections of M-RoPE come from the file. */
  sections?: never;
  /** M-RoPE: "contiguous" sections or "interleaved" ones. */
  multiSection?: "contiguous" | "interleaved";
  /**
   * Whether the file has rope_freqs for these layers: always, never, or possibly. Default
   * "optional".
   */
  factors?: "required" | "optional" | "none";
}

/**
 * Types of scaling, by their names in files. The types for sections and factors have no scaling of
 * their own.
 */
const SCALINGS: Readonly<Record<string, "none" | "linear" | "yarn">> = {
  none: "none",
  default: "none",
  mrope: "none",
  llama3: "none",
  proportional: "none",
  // Dynamic scaling changes nothing within the context that a model was trained for.
  dynamic: "none",
  longrope: "none",
  su: "none",
  linear: "linear",
  yarn: "yarn",
};

/**
 * The rotary embedding of a file; `choice` takes precedence. Errors: GgufError for impossible
 * values.
 */
export function readRope(config: Config, weights: WeightLoader, choice: RopeChoice): Rope {
  const { pairs, multiSection, factors = "optional", ...chosen } = choice;
  const type = config.stringOr("rope.scaling.type", "linear");
  if (!Object.hasOwn(SCALINGS, type)) {
    throw config.error("rope.scaling.type", `"${type}" is no scaling that is known here`);
  }
  const scaling = SCALINGS[type];
  const extension = config.metadata.optionalNumber(
    `${config.architecture}.rope.scaling.yarn_ext_factor`,
    -1,
  );
  const rotary = chosen.rotary ?? readRotary(config);
  const sections = multiSection ? readSections(config, rotary) : [];
  const hasFactors = factors === "required" ||
    (factors === "optional" && !chosen.frequencyFactors && weights.has("rope_freqs.weight"));
  return {
    rotary,
    base: config.positiveOr("rope.freq_base", 10000),
    scaling,
    factor: config.positiveOr("rope.scaling.factor", 1),
    ...(hasFactors ? { frequencyFactors: weights.values("rope_freqs.weight", [rotary / 2]) } : {}),
    originalContext: config.countOr(
      "rope.scaling.original_context_length",
      config.countOr("context_length", 2048),
    ),
    extensionFactor: extension < 0 ? (scaling === "yarn" ? 1 : 0) : extension,
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

/** Number of elements of a head that are rotated. */
function readRotary(config: Config): number {
  const rotary = config.countOr("rope.dimension_count", 0) || config.heads().headDim;
  const most = config.longestHead;
  if (rotary % 2 === 0 && rotary <= most) return rotary;
  throw config.error(
    "rope.dimension_count",
    `${rotary} of the ${most} elements of a head cannot be rotated`,
  );
}

/** Numbers of pairs that rotate by the time, the height and the width of a position. */
function readSections(config: Config, rotary: number): readonly number[] {
  const sections = config.numbers("rope.dimension_sections");
  const isPart = (size: number) => Number.isInteger(size) && size >= 0 && size <= rotary / 2;
  if (sections.length <= 4 && sections.every(isPart)) return sections;
  const state = `[${sections.join(", ")}] are not parts of the ${rotary / 2} rotated pairs`;
  throw config.error("rope.dimension_sections", state);
}

/**
 * LongRoPE: the short factors are for contexts up to the original one, the long factors for longer
 * ones. Errors: GgufError if a file has only one of the two.
 */
export function longRopeFactors(
  config: Config,
  weights: WeightLoader,
  context: number,
): Pick<RopeOptions, "frequencyFactors"> {
  const names = ["short", "long"].map((kind) => `rope_factors_${kind}.weight`);
  if (!weights.inventory.hasAll(names)) return {};
  const shape = [readRotary(config) / 2];
  const [short, long] = names.map((name) => weights.values(name, shape));
  const original = config.countOr("rope.scaling.original_context_length", context);
  return { frequencyFactors: context > original ? long : short };
}
