// Converts a folder of Hugging Face's layout (config.json, safetensors, tokenizer) to one GGUF file
// with the same weights, as F32, F16 or BF16 like there. Quantizing is a step of its own.

import { basename, join } from "node:path";
import type { Cancellation } from "../../cancellation.ts";
import {
  fileTypeByName,
  type WritableMetadata,
  type WritableTensor,
  writeGguf,
} from "../../gguf/mod.ts";
import { type Architecture, architectureOf } from "./architecture.ts";
import { ConversionError } from "../../errors.ts";
import { headSizes, modelMetadata } from "./hyperparameters.ts";
import { frequencyFactors } from "./rope.ts";
import type { StoredTensor } from "./safetensors_file.ts";
import { Settings } from "./settings.ts";
import { StoredModel } from "./stored_model.ts";
import { convertTensor, type TensorContext } from "./tensor_data.ts";
import { ggufName, isSuperfluous } from "./tensor_names.ts";
import { tokenizerMetadata } from "./tokenizer.ts";

/** How {@linkcode convertSafetensors} converts. */
export interface ConvertOptions {
  /** Has config.json, the safetensors files with their index if there are several, and a tokenizer. */
  readonly folder: string;
  /** The GGUF file to write; what is there is lost. */
  readonly to: string;
  /** Told how many bytes of the tensors are done, of how many. */
  onProgress?(done: number, total: number): void;
  /** Ends the work. */
  readonly signal?: Cancellation;
}

const EMBEDDING = "model.embed_tokens.weight";
const NORM = "model.norm.weight";
const OUTPUT = "lm_head.weight";
const LAYER = /^model\.layers\.\d+\.(.+)$/;
const QUANTIZATION_VERSION = 2;

/**
 * Converts a model. A failed or aborted attempt leaves no file.
 * @throws ConversionError if a file is missing or not sound
 * @throws UnsupportedModelError if the engine could not run the model; the signal's reason
 */
export async function convertSafetensors(options: ConvertOptions): Promise<void> {
  const { folder, to, signal, onProgress } = options;
  const config = await Settings.read(join(folder, "config.json"));
  const architecture = architectureOf(config);
  const metadata = modelMetadata(config, architecture);
  const sizes = headSizes(config);
  using model = await StoredModel.open(folder);
  const stored = neededTensors(model, config, architecture);
  const size = checkComplete(folder, stored, config);
  const total = stored.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let done = 0;

  const context: TensorContext = {
    model,
    architecture,
    sizes,
    onSlice(bytes) {
      signal?.throwIfAborted();
      onProgress?.(done += bytes, total);
    },
  };
  const tensors = stored.map((tensor) =>
    convertTensor(context, tensor, nameOf(tensor, architecture))
  );
  const factors = frequencyFactors(config, sizes.headLength);
  if (factors) tensors.push(vector("rope_freqs.weight", factors));

  // Not the folder's: that would make other files of the same model wherever it lies.
  const name = basename(config.string("_name_or_path", ""));
  const all = {
    "general.architecture": architecture.name,
    "general.type": "model",
    ...(name === "" ? {} : { "general.name": name }),
    "general.file_type": { uint32: fileTypeByName(commonType(stored))! },
    "general.quantization_version": { uint32: QUANTIZATION_VERSION },
    ...metadata,
    [`${architecture.name}.vocab_size`]: { uint32: size },
    ...await tokenizerMetadata(folder, config, size),
  } satisfies WritableMetadata;
  try {
    await writeGguf(to, all, tensors);
  } catch (error) {
    await Deno.remove(to).catch(() => {});
    throw error;
  }
}

/** The tensors of a model that GGUF has too; an output that is the embedding is not written twice. */
function neededTensors(
  { tensors }: StoredModel,
  config: Settings,
  { isTied }: Architecture,
): StoredTensor[] {
  const hasOutput = tensors.has(OUTPUT);
  const tied = config.boolean("tie_word_embeddings", isTied || !hasOutput);
  if (!tied && !hasOutput) {
    throw config.error("tie_word_embeddings", `it is false, but there is no ${OUTPUT}`);
  }
  return [...tensors.values()].filter(({ name }) =>
    !isSuperfluous(name) && !(tied && name === OUTPUT)
  );
}

/** Refuses a model without some of its tensors. @returns the rows of its embedding */
function checkComplete(folder: string, tensors: readonly StoredTensor[], config: Settings): number {
  const names = new Set(tensors.map(({ name }) => name));
  const parts = new Set(tensors.map(({ name }) => LAYER.exec(name)?.[1]));
  const layers = Array.from({ length: config.count("num_hidden_layers") }, (_, i) => i);
  const needed = layers.flatMap((layer) =>
    Array.from(parts, (part) => part === undefined ? EMBEDDING : `model.layers.${layer}.${part}`)
  );
  const missing = [EMBEDDING, NORM, ...needed].find((name) => !names.has(name));
  if (missing !== undefined) {
    throw new ConversionError(folder, `tensor "${missing}"`, "it is in none of the files");
  }
  return tensors.find(({ name }) => name === EMBEDDING)!.shape[0];
}

function nameOf(tensor: StoredTensor, architecture: Architecture): string {
  const name = ggufName(tensor.name, architecture);
  if (name !== undefined) return name;
  const state = `no model of the architecture ${architecture.name} has it`;
  throw new ConversionError(tensor.file, `tensor "${tensor.name}"`, state);
}

/** The type of most bytes in matrices. */
function commonType(tensors: readonly StoredTensor[]): string {
  const bytes = new Map<string, number>();
  for (const { type, shape, byteLength } of tensors) {
    if (shape.length > 1) bytes.set(type, (bytes.get(type) ?? 0) + byteLength);
  }
  return [...bytes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "F32";
}

function vector(name: string, values: Float32Array): WritableTensor {
  const bytes = new Uint8Array(values.buffer);
  return { name, shape: [values.length], type: "F32", data: () => [bytes] };
}
