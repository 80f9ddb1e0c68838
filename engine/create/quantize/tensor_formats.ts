// The mixes of formats to which models can be quantized, by the names of llama.cpp and Ollama.
// tensor_formats.ts chooses the format of each tensor.

import { RequestError } from "../../errors.ts";
import {
  type GgufFile,
  MetadataReader,
  type TensorInfo,
  tensorTypeByName,
} from "../../gguf/mod.ts";
import { isFloatType } from "./floats.ts";

/** For each mix, the format of most of its tensors. */
export const BASE_FORMATS = {
  F32: "F32",
  F16: "F16",
  BF16: "BF16",
  Q8_0: "Q8_0",
  Q4_0: "Q4_0",
  Q4_K_S: "Q4_K",
  Q4_K_M: "Q4_K",
} as const;

/** Name of a mix. */
export type QuantizationName = keyof typeof BASE_FORMATS;

/** For names without a size, the mix that is meant. */
const ALIASES: Readonly<Record<string, QuantizationName>> = { Q4_K: "Q4_K_M" };

/** The mix of that name, in any case. Errors: RequestError listing the names. */
export function parseQuantization(text: string): QuantizationName {
  const name = text.trim().toUpperCase();
  if (Object.hasOwn(BASE_FORMATS, name)) return name as QuantizationName;
  if (Object.hasOwn(ALIASES, name)) return ALIASES[name];
  const supported = Object.keys(BASE_FORMATS).join(", ");
  throw new RequestError(
    `unsupported quantization type ${text} - supported types are ${supported}`,
  );
}

// Chooses the format of each tensor in a mix, as llama.cpp's quantizer does, so that files are like
// those that people know. Most matrices get the format of the mix; those that suffer most from
// errors get more bits; small tensors and those that are not matrices are not quantized.

/** Tensors that are not quantized, because they are small or control others. */
const KEPT = new RegExp([
  "_norm\\.weight$",
  "ffn_gate_inp\\.weight$",
  "^(position_embd|token_types)\\.weight$",
  "altup|laurel|per_layer_model_proj",
  "ssm_conv1d|shortconv\\.conv\\.weight",
  "indexer\\.[kq]_proj\\.weight",
  "time_mix_(first|w[012]|v[012]|a[012]|g[12]|decay_w[12]|lerp_fused)\\.weight",
  "attn_rel_b\\.weight",
  "\\.position_embd|sam\\.(pos_embd|neck\\.|net_)|\\.rel_pos|\\.patch_(embd|merger)",
  "a\\.rvq\\.codebook|mm\\.a\\.code_embd",
].join("|"));

/** Properties of the model on which the choice depends. */
interface Model {
  readonly mix: QuantizationName;
  readonly isFalcon: boolean;
  readonly layers: number;
  readonly experts: number;
  /**
   * Whether it has 80 layers with several queries per key. Then each value affects many results.
   */
  readonly isLlama70b: boolean;
  /** Whether the embeddings are also the output matrix. */
  readonly isTied: boolean;
  /** Tensors that compute values, and tensors of feed-forward outputs, in the order of layers. */
  readonly values: readonly string[];
  readonly downs: readonly string[];
}

const VALUES = /attn_(v|qkv|kv_b)\.weight$/;
const DOWN = /ffn_down/;
const EMBEDDING = /^(per_layer_)?token_embd\.weight$/;

/**
 * For formats whose blocks do not fit the rows: a format with blocks of 32 that is at least as
 * good.
 */
const FALLBACKS: Readonly<Record<string, string>> = { Q4_K: "Q5_0", Q5_K: "Q5_1", Q6_K: "Q8_0" };

/** The name of the format that each tensor of a file gets. Errors: GgufError. */
export function chooseFormats(file: GgufFile, mix: QuantizationName): Map<string, string> {
  const model = describe(file, mix);
  return new Map(Array.from(file.tensors.values(), (tensor) => {
    if (!isQuantizable(tensor)) return [tensor.name, tensor.typeName];
    const wanted = isFloatType(BASE_FORMATS[mix]) ? BASE_FORMATS[mix] : choose(tensor, model);
    return [tensor.name, fitting(wanted, tensor)];
  }));
}

function describe(file: GgufFile, mix: QuantizationName): Model {
  const metadata = new MetadataReader(file);
  const architecture = metadata.string("general.architecture");
  const layers = metadata.optionalCount(`${architecture}.block_count`, 0);
  const heads = (key: string) => {
    const count = `${architecture}.attention.${key}`;
    return metadata.isList(count) ? 0 : metadata.optionalCount(count, 0);
  };
  const names = Array.from(file.tensors.values()).filter(isQuantizable).map(({ name }) => name);
  const inOrder = (pattern: RegExp) =>
    names.filter((name) => pattern.test(name)).sort((a, b) => layerOf(a) - layerOf(b));
  return {
    mix,
    isFalcon: architecture === "falcon",
    layers,
    experts: metadata.optionalCount(`${architecture}.expert_count`, 0),
    isLlama70b: layers === 80 && heads("head_count") !== heads("head_count_kv"),
    isTied: !file.tensors.has("output.weight"),
    values: inOrder(VALUES),
    downs: inOrder(DOWN),
  };
}

/** Whether a tensor is a matrix, or matrices of experts. Vectors may have shapes of matrices. */
function isQuantizable({ name, shape, typeName }: TensorInfo): boolean {
  const isMatrix = shape.slice(1).some((length) => length > 1);
  return isMatrix && isFloatType(typeName) && name.endsWith("weight") && !KEPT.test(name);
}

function choose({ name, shape }: TensorInfo, model: Model): string {
  const base = BASE_FORMATS[model.mix];
  const isK = base === "Q4_K";
  if (name === "output.weight" || (model.isTied && EMBEDDING.test(name))) {
    const isWhole = shape[0] % blockSize(base) === 0;
    return base === "Q8_0" || model.isFalcon || !isWhole ? "Q8_0" : "Q6_K";
  }
  if (EMBEDDING.test(name)) return base;
  if (VALUES.test(name)) return chooseValue(model.values.indexOf(name), model);
  if (name.endsWith("attn_k.weight")) return model.experts === 8 ? "Q8_0" : base;
  if (isK && DOWN.test(name)) {
    const layer = model.experts > 1 ? layerOf(name) : model.downs.indexOf(name);
    return chooseDown(layer, model);
  }
  const isOutput = name.endsWith("attn_output.weight");
  return isK && isOutput && model.experts === 8 && !model.isFalcon ? "Q5_K" : base;
}

/** Values are few where queries share them, so their errors affect many results. */
function chooseValue(index: number, { mix, values, experts, isLlama70b }: Model): string {
  if (experts === 8) return "Q8_0";
  if (mix === "Q4_K_M" && getsMoreBits(index, values.length)) return "Q6_K";
  if (mix === "Q4_K_S" && index < 4) return "Q5_K";
  const base = BASE_FORMATS[mix];
  return base === "Q4_K" && isLlama70b ? "Q5_K" : base;
}

function chooseDown(layer: number, { mix, layers, isFalcon }: Model): string {
  if (mix === "Q4_K_S") return !isFalcon && layer < Math.floor(layers / 8) ? "Q5_K" : "Q4_K";
  if (isFalcon && layer < Math.floor(layers / 16)) return "Q6_K";
  if (!getsMoreBits(layer, layers)) return "Q4_K";
  return isFalcon ? "Q5_K" : "Q6_K";
}

/** Whether a layer's values and feed-forward output get more bits: the first and last eighth of the layers, and every third between. */
export function getsMoreBits(layer: number, layers: number): boolean {
  const first = Math.floor(layers / 8);
  return layer < first || layer >= Math.floor(7 * layers / 8) || (layer - first) % 3 === 2;
}

/** The format, or the one that fits rows that are not whole blocks of it. */
function fitting(format: string, { shape }: TensorInfo): string {
  const candidates = [format, FALLBACKS[format] ?? format];
  return candidates.find((name) => shape[0] % blockSize(name) === 0) ?? "F16";
}

function blockSize(format: string): number {
  return tensorTypeByName(format)!.blockSize;
}

function layerOf(name: string): number {
  return Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? -1);
}
