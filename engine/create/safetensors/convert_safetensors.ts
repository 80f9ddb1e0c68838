// Converts a model folder of Hugging Face (config.json, safetensors, tokenizer) to one GGUF file
// with the same weights in F32, F16 or BF16. Quantizing is a separate step.

import { basename, fileSystem, join } from "../../../host/mod.ts";
import { nextTask } from "../../async.ts";
import type { Cancellation } from "../../cancellation.ts";
import { ConversionError } from "../../errors.ts";
import {
  fileTypeByName,
  type WritableMetadata,
  type WritableTensor,
  writeGguf,
} from "../../gguf/mod.ts";
import { FLOAT_BYTES, isFloatType, readFloats } from "../quantize/floats.ts";
import { type Architecture, architectureOf, Settings } from "./settings.ts";
import { frequencyFactors, type HeadSizes, headSizes, modelMetadata } from "./hyperparameters.ts";
import { ggufName, isSuperfluous, StoredModel, type StoredTensor } from "./stored_model.ts";
import { tokenizerMetadata } from "./tokenizer.ts";
import { isWhisper, whisperMetadata, whisperName, whisperTensors, zeroBiases } from "./whisper.ts";

/** The options of {@linkcode convertSafetensors}. */
export interface ConvertOptions {
  /**
   * Path of the folder with config.json, the safetensors files (and their index if there are
   * several), and a tokenizer.
   */
  readonly folder: string;
  /** Path of the GGUF file to write. An existing file is overwritten. */
  readonly to: string;
  /** Receives the number of bytes of tensors that are done, and of all. */
  onProgress?(done: number, total: number): void;
  /** Cancels the work. */
  readonly signal?: Cancellation;
}

const EMBEDDING = "model.embed_tokens.weight";
const NORM = "model.norm.weight";
const OUTPUT = "lm_head.weight";
const LAYER = /^model\.layers\.\d+\.(.+)$/;
const QUANTIZATION_VERSION = 2;

/**
 * Converts a model. A failed or aborted attempt leaves no file.
 * @throws ConversionError if a file is missing or invalid
 * @throws UnsupportedModelError if the engine could not run the model; the signal's reason
 */
export async function convertSafetensors(options: ConvertOptions): Promise<void> {
  const { folder, to, signal, onProgress } = options;
  const config = await Settings.read(join(folder, "config.json"));
  const describe = isWhisper(config) ? describeWhisper : describeDecoder;
  // Before the weights are opened: what the engine cannot run is refused by its numbers.
  const complete = await describe(folder, config);
  using model = await StoredModel.open(folder);
  const { architecture, metadata, stored, size, nameOf, layoutOf, dimensions, more } = complete(
    model,
  );
  const total = stored.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let done = 0;

  const context: TensorContext = {
    model,
    layoutOf,
    dimensions,
    onSlice(bytes) {
      signal?.throwIfAborted();
      onProgress?.(done += bytes, total);
    },
  };
  const tensors = stored.map((tensor) => {
    const name = nameOf(tensor.name);
    if (name !== undefined) return convertTensor(context, tensor, name);
    const state = `no model of the architecture ${architecture} has it`;
    throw new ConversionError(tensor.file, `tensor "${tensor.name}"`, state);
  });
  tensors.push(...more);

  // Not the folder's name, because the same model in another folder has to give the same file.
  const name = basename(config.string("_name_or_path", ""));
  const all = {
    "general.architecture": architecture,
    "general.type": "model",
    ...(name === "" ? {} : { "general.name": name }),
    "general.file_type": { uint32: fileTypeByName(commonType(stored))! },
    "general.quantization_version": { uint32: QUANTIZATION_VERSION },
    ...metadata,
    [`${architecture}.vocab_size`]: { uint32: size },
    ...await tokenizerMetadata(folder, config, size),
  } satisfies WritableMetadata;
  try {
    await writeGguf(to, all, tensors);
  } catch (error) {
    await fileSystem().remove(to).catch(() => {});
    throw error;
  }
}

/** What a model becomes, except for its vocabulary. */
interface Description {
  /** Name in GGUF. */
  readonly architecture: string;
  readonly metadata: WritableMetadata;
  /** The tensors that GGUF has, too. */
  readonly stored: readonly StoredTensor[];
  /** Rows of the table of tokens. */
  readonly size: number;
  /** The name in GGUF; undefined if the architecture has no such tensor. */
  nameOf(name: string): string | undefined;
  /** How a tensor's values differ in GGUF. Errors: ConversionError. */
  layoutOf(tensor: StoredTensor, name: string): TensorLayout;
  /** Most dimensions of a tensor: 3 where there are convolutions. */
  readonly dimensions: 2 | 3;
  /** Tensors that only GGUF has. */
  readonly more: readonly WritableTensor[];
}

/** What is known of a model before its weights are opened, as a function of these. */
type Describe = (
  folder: string,
  config: Settings,
) => Promise<(model: StoredModel) => Description>;

const describeDecoder: Describe = (folder, config) => {
  const architecture = architectureOf(config);
  const metadata = modelMetadata(config, architecture);
  const sizes = headSizes(config);
  const factors = frequencyFactors(config, sizes.headLength);
  return Promise.resolve((model) => {
    const stored = neededTensors(model, config, architecture);
    return {
      architecture: architecture.name,
      metadata,
      stored,
      size: checkComplete(folder, stored, config),
      nameOf: (name) => ggufName(name, architecture),
      layoutOf: (tensor, name) => ({
        headLength: headLengthOf(architecture, sizes, tensor, name),
        addend: architecture.addsOneToNorms && name.endsWith("norm.weight") ? 1 : 0,
      }),
      dimensions: 2,
      more: factors ? [vector("rope_freqs.weight", factors)] : [],
    };
  });
};

const describeWhisper: Describe = async (folder, config) => {
  const generation = await Settings.readIfThere(join(folder, "generation_config.json"));
  const metadata = whisperMetadata(config, generation);
  return (model) => {
    const { stored, size } = whisperTensors(folder, model);
    return {
      architecture: "whisper",
      metadata,
      stored,
      size,
      nameOf: whisperName,
      layoutOf: () => ({ headLength: 0, addend: 0 }),
      dimensions: 3,
      more: zeroBiases(stored),
    };
  };
};

/**
 * The tensors that GGUF has, too. An output matrix that equals the embeddings is not written twice.
 */
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

/** Refuses a model with missing tensors. @returns rows of its embeddings */
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

/** The type with the most bytes in matrices. */
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

// The data of tensors from safetensors to GGUF: matrices keep their type, vectors become F32, and
// some matrices' rows are reordered. It is converted in slices, so that memory does not grow with
// the model.

/** The context that all tensors of a model share. */
interface TensorContext {
  readonly model: StoredModel;
  readonly layoutOf: Description["layoutOf"];
  readonly dimensions: Description["dimensions"];
  /** Called with the number of bytes of each slice. An error from it ends the work. */
  onSlice(bytes: number): void;
}

/** How the values of a tensor differ in GGUF. */
interface TensorLayout {
  /** Rows of a head whose halves are interleaved; 0 if rows keep their order. */
  readonly headLength: number;
  /** A number that is added to each value of a vector. */
  readonly addend: number;
}

const SLICE_BYTES = 1 << 22;

/** A tensor for GGUF. Errors: ConversionError if its type or shape is not possible. */
function convertTensor(
  context: TensorContext,
  tensor: StoredTensor,
  name: string,
): WritableTensor {
  const { type, shape } = tensor;
  const fault = (state: string) =>
    new ConversionError(tensor.file, `tensor "${tensor.name}"`, state);
  if (!isFloatType(type)) throw fault(`${type} is not supported, only F32, F16 and BF16`);
  if (shape.includes(0) || shape.length < 1 || shape.length > context.dimensions) {
    throw fault(`a shape of [${shape.join(", ")}] is neither a vector nor a matrix`);
  }
  const isVector = shape.length === 1;
  const { headLength, addend } = context.layoutOf(tensor, name);
  return {
    name,
    shape: shape.toReversed(),
    type: isVector ? "F32" : type,
    async *data() {
      for (const slice of slicesOf(context.model, tensor, headLength)) {
        context.onSlice(slice.length);
        yield isVector ? toF32(slice, tensor, addend) : slice;
        await nextTask();
      }
    },
  };
}

/** Rows of a head whose halves are interleaved; 0 if rows keep their order. */
function headLengthOf(
  architecture: Architecture,
  sizes: HeadSizes,
  { file, name, shape }: StoredTensor,
  ggufName: string,
): number {
  if (!architecture.interleavesHeads || !/attn_[qk]\.(weight|bias)$/.test(ggufName)) return 0;
  const heads = ggufName.includes("attn_q") ? sizes.heads : sizes.keyValueHeads;
  if (shape[0] === heads * sizes.headLength) return sizes.headLength;
  const state = `${shape[0]} rows are not ${heads} heads of ${sizes.headLength}`;
  throw new ConversionError(file, `tensor "${name}"`, state);
}

/** The bytes of a tensor in order. Each slice is overwritten by the next one. */
function* slicesOf(
  model: StoredModel,
  tensor: StoredTensor,
  headLength: number,
): Generator<Uint8Array> {
  const rowBytes = tensor.byteLength / tensor.shape[0];
  const sliceBytes = headLength > 0 ? headLength * rowBytes : SLICE_BYTES;
  const buffer = new Uint8Array(Math.min(sliceBytes, tensor.byteLength));
  const interleaved = new Uint8Array(headLength > 0 ? sliceBytes : 0);
  for (let start = 0; start < tensor.byteLength; start += sliceBytes) {
    const slice = buffer.subarray(0, Math.min(sliceBytes, tensor.byteLength - start));
    model.read(tensor, start, slice);
    if (headLength > 0) interleaveRows(slice, interleaved, rowBytes);
    yield headLength > 0 ? interleaved : slice;
  }
}

/** Interleaves the rows of the two halves of a head. */
function interleaveRows(source: Uint8Array, target: Uint8Array, rowBytes: number): void {
  const half = source.length / rowBytes / 2;
  for (let pair = 0; pair < half; pair++) {
    for (const part of [0, 1]) {
      const start = (part * half + pair) * rowBytes;
      target.set(source.subarray(start, start + rowBytes), (2 * pair + part) * rowBytes);
    }
  }
}

function toF32(slice: Uint8Array, { type }: StoredTensor, addend: number): Uint8Array {
  if (!isFloatType(type)) return slice;
  const values = new Float32Array(slice.length / FLOAT_BYTES[type]);
  readFloats(type, slice, values);
  if (addend !== 0) { for (let i = 0; i < values.length; i++) values[i] += addend; }
  return new Uint8Array(values.buffer);
}
