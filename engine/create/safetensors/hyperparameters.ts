// The sizes and constants of a model, from config.json to GGUF's keys. What the engine cannot
// compute is refused here, before a file is written that would give wrong answers.

import { UnsupportedModelError } from "../../errors.ts";
import type { WritableMetadata } from "../../gguf/mod.ts";
import type { Architecture, Settings } from "./settings.ts";

/** The heads of a model's attention. */
export interface HeadSizes {
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headLength: number;
}

/**
 * Numbers of layers of the models of Gemma 2 and 3 that have another attention scale. The engine
 * recognizes them in the same way.
 */
const LAYERS_OF_27B: Readonly<Record<string, number>> = { gemma2: 46, gemma3: 62 };

/** The heads in config.json, with Llama's defaults. */
export function headSizes(config: Settings): HeadSizes {
  const heads = config.count("num_attention_heads");
  const keyValueHeads = config.count("num_key_value_heads", heads);
  const headLength = config.count("head_dim", config.count("hidden_size") / heads);
  if (heads > 0 && keyValueHeads > 0 && heads % keyValueHeads === 0 && headLength % 2 === 0) {
    return { heads, keyValueHeads, headLength };
  }
  const state =
    `${heads} heads of ${headLength} elements over ${keyValueHeads} do not come out even`;
  throw config.error("num_attention_heads", state);
}

/**
 * The keys of the architecture.
 * @throws ConversionError for a key that is missing or has another type
 * @throws UnsupportedModelError for what the engine does not support
 */
export function modelMetadata(config: Settings, architecture: Architecture): WritableMetadata {
  const { heads, keyValueHeads, headLength } = headSizes(config);
  checkSupported(config, architecture);
  const keys: WritableMetadata = {
    "block_count": { uint32: config.count("num_hidden_layers") },
    "context_length": { uint32: config.count("max_position_embeddings", 2048) },
    "embedding_length": { uint32: config.count("hidden_size") },
    "feed_forward_length": { uint32: config.count("intermediate_size") },
    "attention.head_count": { uint32: heads },
    "attention.head_count_kv": { uint32: keyValueHeads },
    "attention.key_length": { uint32: headLength },
    "attention.value_length": { uint32: headLength },
    "attention.layer_norm_rms_epsilon": { float32: config.number("rms_norm_eps", 1e-6) },
    "rope.dimension_count": { uint32: headLength },
    ...ropeMetadata(config, architecture),
    ...softcapMetadata(config, architecture),
    ...windowMetadata(config, architecture),
  };
  return Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [`${architecture.name}.${key}`, value]),
  );
}

function checkSupported(config: Settings, { name, activations }: Architecture): void {
  const refuse = (key: string, state: string) =>
    new UnsupportedModelError(`Cannot convert "${config.file}": ${key}: ${state}`);
  const key = config.has("hidden_activation") ? "hidden_activation" : "hidden_act";
  const activation = config.string(key, activations[0]);
  if (!activations.includes(activation)) {
    throw refuse(key, `${activation} is not supported, only ${activations.join(" and ")}`);
  }
  if (config.number("partial_rotary_factor", 1) !== 1) {
    throw refuse("partial_rotary_factor", "heads that rotate in part are not supported");
  }
  if (config.has("quantization_config")) {
    throw refuse(
      "quantization_config",
      "quantized weights are not supported: convert the original",
    );
  }
  if (LAYERS_OF_27B[name] === undefined) return;
  const { heads, headLength } = headSizes(config);
  const is27b = config.count("num_hidden_layers") === LAYERS_OF_27B[name];
  const expected = is27b ? config.count("hidden_size") / heads : headLength;
  const scalar = config.number("query_pre_attn_scalar", expected);
  if (scalar !== expected) {
    throw refuse("query_pre_attn_scalar", `${scalar} is not supported, only ${expected}`);
  }
}

/**
 * Soft caps. Those of Gemma 2 are required, because the engine would use the usual values instead.
 */
function softcapMetadata(config: Settings, { name }: Architecture): WritableMetadata {
  const keys = ["attn_logit_softcapping", "final_logit_softcapping"];
  if (name === "gemma2") {
    const usual = [50, 30];
    return Object.fromEntries(keys.map((key, i) => {
      if (config.members[key] === null) {
        throw new UnsupportedModelError(
          `Cannot convert "${config.file}": ${key}: Gemma 2 without it is not supported`,
        );
      }
      return [key, { float32: config.number(key, usual[i]) }];
    }));
  }
  if (name !== "gemma3") return {};
  if (config.has(keys[0])) {
    throw new UnsupportedModelError(
      `Cannot convert "${config.file}": ${keys[0]}: Gemma 3 with it is not supported`,
    );
  }
  return config.has(keys[1]) ? { [keys[1]]: { float32: config.number(keys[1]) } } : {};
}

/** The sliding window, and the layers that have it if they are not the usual ones. */
function windowMetadata(config: Settings, { windowPeriod }: Architecture): WritableMetadata {
  if (windowPeriod === 0) return {};
  const layers = config.count("num_hidden_layers");
  const period = config.count("sliding_window_pattern", windowPeriod);
  const types = config.list("layer_types");
  const isLocal = Array.from(
    { length: layers },
    (_, i) => types.length > 0 ? types[i] === "sliding_attention" : i % period !== period - 1,
  );
  if (!isLocal.includes(true)) return {};
  const isUsual = isLocal.every((local, i) => local === (i % windowPeriod !== windowPeriod - 1));
  return {
    "attention.sliding_window": { uint32: config.count("sliding_window", 4096) },
    ...(isUsual ? {} : { "attention.sliding_window_pattern": isLocal }),
  };
}

// The rotary embedding of a model, from config.json to GGUF: its base, and its scaling for contexts
// longer than the original one. Transformers 5 has it in rope_parameters, by kind of layer if they
// differ; earlier versions have rope_theta and rope_scaling.

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
