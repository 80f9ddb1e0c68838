// The rotary embedding of a model, from config.json to GGUF: its base, and its scaling for contexts
// longer than the original one. Transformers 5 has it in rope_parameters, by kind of layer if they
// differ; earlier versions have rope_theta and rope_scaling.

import { UnsupportedModelError } from "../../errors.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import type { Architecture } from "./architecture.ts";
import type { Settings } from "./settings.ts";

const DEFAULT_BASE = 10_000;
/** The bases of Gemma 3: for layers without a window, and for those with one. */
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
 * For scaling of type "llama3" (Grattafiori et al. 2024), the divisor of each pair's frequency: the
 * full factor for wavelengths that are long compared with the original context, 1 for short ones,
 * and interpolated between. Undefined for other types.
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
  // The engine expects the whole factor of rotated vectors, while GGUF has it relative to YaRN's
  // own.
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
