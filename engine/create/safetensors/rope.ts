// The rotary embedding of a model, from config.json to GGUF: its base, and how it is stretched for
// contexts longer than those of the first training. Transformers 5 has all of it in rope_parameters,
// by kind of layer if they differ; earlier ones have rope_theta and rope_scaling.

import { UnsupportedModelError } from "../../errors.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import type { Architecture } from "./architecture.ts";
import type { Settings } from "./settings.ts";

const DEFAULT_BASE = 10_000;
/** Of Gemma 3: of layers without a window, and of those with one. */
const GLOBAL_BASE = 1_000_000;

/** The keys of the rotary embedding. Errors: ConversionError, UnsupportedModelError. */
export function ropeMetadata(config: Settings, { name }: Architecture): WritableMetadata {
  const isGemma3 = name === "gemma3";
  const scaling = scalingOf(config);
  const base = baseOf(config, "full_attention") ??
    config.number("rope_theta", isGemma3 ? GLOBAL_BASE : DEFAULT_BASE);
  const localBase = baseOf(config, "sliding_attention") ??
    config.number("rope_local_base_freq", DEFAULT_BASE);
  return {
    "rope.freq_base": { float32: base },
    ...(isGemma3 ? { "rope.freq_base_swa": { float32: localBase } } : {}),
    ...(scaling ? scalingMetadata(config, scaling) : {}),
  };
}

/**
 * By how much each pair of a head turns slower, where that is "llama3": pairs whose wave is long for
 * the original context turn by the factor slower, those with a short wave as ever, and those between
 * in between (Grattafiori et al. 2024). Undefined for other kinds.
 */
export function frequencyFactors(config: Settings, headLength: number): Float32Array | undefined {
  const scaling = scalingOf(config);
  if (!scaling || typeOf(scaling) !== "llama3") return undefined;
  const base = baseOf(config, "full_attention") ?? config.number("rope_theta", DEFAULT_BASE);
  const factor = scaling.number("factor");
  const low = scaling.number("low_freq_factor", 1);
  const high = scaling.number("high_freq_factor", 4);
  const original = scaling.number("original_max_position_embeddings", 8192);
  return Float32Array.from({ length: headLength / 2 }, (_, pair) => {
    const wave = 2 * Math.PI * base ** (2 * pair / headLength);
    const turns = original / wave;
    if (turns > high) return 1;
    if (turns < low) return factor;
    const mix = (turns - low) / (high - low);
    return 1 / ((1 - mix) / factor + mix);
  });
}

function scalingOf(config: Settings): Settings | undefined {
  const parameters = config.object("rope_parameters");
  return parameters?.object("full_attention") ?? parameters ?? config.object("rope_scaling");
}

function baseOf(config: Settings, layers: string): number | undefined {
  const parameters = config.object("rope_parameters");
  const own = parameters?.object(layers);
  const ofAll = layers === "full_attention" ? parameters : undefined;
  const source = own ?? ofAll;
  return source?.has("rope_theta") ? source.number("rope_theta") : undefined;
}

function typeOf(scaling: Settings): string {
  return scaling.string("rope_type", scaling.string("type", "default"));
}

function scalingMetadata(config: Settings, scaling: Settings): WritableMetadata {
  const type = typeOf(scaling);
  switch (type) {
    case "default":
    case "llama3": // As factors in a tensor.
    case "dynamic": // Nothing until a text outgrows the context.
      return {};
    case "linear":
      return {
        "rope.scaling.type": "linear",
        "rope.scaling.factor": { float32: scaling.number("factor") },
      };
    case "yarn":
      return yarnMetadata(config, scaling);
    default:
      throw new UnsupportedModelError(
        `Cannot convert "${config.file}": ${scaling.path}rope_type: ${type} is not supported, ` +
          "only default, linear, dynamic, yarn and llama3",
      );
  }
}

/** YaRN (Peng et al. 2023). */
function yarnMetadata(config: Settings, scaling: Settings): WritableMetadata {
  const factor = scaling.number("factor");
  const context = scaling.count(
    "original_max_position_embeddings",
    config.count("max_position_embeddings"),
  );
  // Here the length of the rotated vectors is whole; GGUF has what it is beyond YaRN's own.
  const ownLength = 0.1 * Math.log(factor) + 1;
  const optional = (key: string, name: string, unit = 1): WritableMetadata =>
    scaling.has(key) ? { [name]: { float32: scaling.number(key) / unit } } : {};
  return {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": { float32: factor },
    "rope.scaling.original_context_length": { uint32: context },
    ...optional("attention_factor", "rope.scaling.attn_factor", ownLength),
    ...optional("beta_fast", "rope.scaling.yarn_beta_fast"),
    ...optional("beta_slow", "rope.scaling.yarn_beta_slow"),
  };
}
