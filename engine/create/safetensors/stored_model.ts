// The tensors of a model folder in all its safetensors files, and reads of parts of them.

import { fileSystem, type FsFile, isSystemError, join, SEEK_START } from "../../../host/mod.ts";
import { ConversionError } from "../../errors.ts";
import { type Architecture, isCount, Settings } from "./settings.ts";

const INDEX = "model.safetensors.index.json";
const MODEL_FILE = /^model.*\.safetensors$/;

/** The open files of a model. Disposing of it closes them. */
export class StoredModel implements Disposable {
  /** All tensors by name. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly #files: ReadonlyMap<string, FsFile>;

  private constructor(
    tensors: ReadonlyMap<string, StoredTensor>,
    files: ReadonlyMap<string, FsFile>,
  ) {
    this.tensors = tensors;
    this.#files = files;
  }

  /** Opens the files in the index of a folder, or else those named after the model. */
  static async open(folder: string): Promise<StoredModel> {
    const index = await Settings.readIfThere(join(folder, INDEX));
    const names = index ? filesOf(index) : await listFiles(folder);
    const tensors = new Map<string, StoredTensor>();
    const files = new Map<string, FsFile>();
    const model = new StoredModel(tensors, files);
    try {
      for (const path of names.map((name) => join(folder, name))) {
        for (const tensor of await readSafetensors(path)) {
          if (tensors.has(tensor.name)) {
            const state = `it is in "${tensors.get(tensor.name)!.file}" too`;
            throw new ConversionError(path, `tensor "${tensor.name}"`, state);
          }
          tensors.set(tensor.name, tensor);
        }
        files.set(path, await openFile(path));
      }
      if (index) checkIndex(index, tensors);
      return model;
    } catch (error) {
      model[Symbol.dispose]();
      throw error;
    }
  }

  /** Fills `target` with the bytes of a tensor from `start` on. */
  read(tensor: StoredTensor, start: number, target: Uint8Array): void {
    const file = this.#files.get(tensor.file)!;
    file.seekSync(tensor.offset + start, SEEK_START);
    for (let filled = 0; filled < target.length;) {
      const count = file.readSync(target.subarray(filled));
      if (count === null) {
        const state = "the file has become shorter";
        throw new ConversionError(tensor.file, `tensor "${tensor.name}"`, state);
      }
      filled += count;
    }
  }

  /** Closes the files. */
  [Symbol.dispose](): void {
    for (const file of this.#files.values()) file.close();
  }
}

function filesOf(index: Settings): string[] {
  const map = index.object("weight_map");
  if (!map) throw index.error("weight_map", "it is missing");
  const names = new Set(Object.keys(map.members).map((tensor) => map.string(tensor)));
  for (const name of names) {
    // The index comes from others, so its paths must not leave the folder.
    if (/[\/\\]/.test(name)) throw map.error(name, "it is not the name of a file of the folder");
  }
  return [...names].sort();
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(fileSystem().readDir(folder), ({ name }) => name);
  const names = entries.filter((name) => MODEL_FILE.test(name)).sort();
  if (names.length > 0) return names;
  throw new ConversionError(folder, "model.safetensors", "it is not there, nor is its index");
}

function checkIndex(index: Settings, tensors: ReadonlyMap<string, StoredTensor>): void {
  for (const [name, file] of Object.entries(index.object("weight_map")!.members)) {
    if (!tensors.has(name)) throw index.error(`tensor "${name}"`, `it is not in "${file}"`);
  }
}

// The names of Transformers' tensors in GGUF, and the reverse. convert_safetensors.ts converts their data.

const TOP: Readonly<Record<string, string>> = {
  "model.embed_tokens": "token_embd",
  "model.norm": "output_norm",
  "lm_head": "output",
};

const LAYER: Readonly<Record<string, string>> = {
  "input_layernorm": "attn_norm",
  "self_attn.q_proj": "attn_q",
  "self_attn.k_proj": "attn_k",
  "self_attn.v_proj": "attn_v",
  "self_attn.o_proj": "attn_output",
  "self_attn.q_norm": "attn_q_norm",
  "self_attn.k_norm": "attn_k_norm",
  "post_attention_layernorm": "ffn_norm",
  "mlp.gate_proj": "ffn_gate",
  "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down",
};

/** The names of norms in architectures that have norms after blocks. */
const LAYER_WITH_POST_NORMS: Readonly<Record<string, string>> = {
  ...LAYER,
  "post_attention_layernorm": "post_attention_norm",
  "pre_feedforward_layernorm": "ffn_norm",
  "post_feedforward_layernorm": "post_ffw_norm",
};

/** Tables in old files that follow from config.json. */
const SUPERFLUOUS = /\.(rotary_emb\.inv_freq|attention\.(masked_)?bias)$/;

/** Whether GGUF lacks a tensor because it follows from others. */
export function isSuperfluous(name: string): boolean {
  return SUPERFLUOUS.test(name);
}

/** The name in GGUF; undefined if the architecture has no such tensor. */
export function ggufName(name: string, architecture: Architecture): string | undefined {
  const [, path, kind] = /^(.+)\.(weight|bias)$/.exec(name) ?? [];
  if (path === undefined) return undefined;
  if (Object.hasOwn(TOP, path)) return `${TOP[path]}.${kind}`;
  const [, layer, part] = /^model\.layers\.(\d+)\.(.+)$/.exec(path) ?? [];
  const table = architecture.hasPostNorms ? LAYER_WITH_POST_NORMS : LAYER;
  return part !== undefined && Object.hasOwn(table, part)
    ? `blk.${Number(layer)}.${table[part]}.${kind}`
    : undefined;
}

/**
 * The name in Transformers of a GGUF tensor, for architectures without norms after blocks;
 * undefined if there is none.
 */
export function storedName(name: string): string | undefined {
  const [, layer, part, kind] = /^(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)$/.exec(name) ?? [];
  const table = Object.entries(layer === undefined ? TOP : LAYER);
  const path = table.find(([, own]) => own === part)?.[0];
  if (path === undefined) return undefined;
  return layer === undefined ? `${path}.${kind}` : `model.layers.${layer}.${path}.${kind}`;
}

// Reads the header of a safetensors file: eight bytes with its length, then a JSON object with
// type, shape and place of each tensor, followed by the data. Tensors have to be completely within
// the file and must not overlap. The format: the README of huggingface/safetensors.

/** The place, shape and type of a tensor. */
export interface StoredTensor {
  /** Unique in the model. */
  readonly name: string;
  /** Path of its file. */
  readonly file: string;
  /** Type, such as "BF16". */
  readonly type: string;
  /** Shape. The length of a row comes last. */
  readonly shape: readonly number[];
  /** Offset of its first byte in the file. */
  readonly offset: number;
  /** Bytes in the file. */
  readonly byteLength: number;
}

const LENGTH_BYTES = 8;
/** Largest header, as in the format's own reader. */
const MAX_HEADER_BYTES = 100_000_000;
/** Bits of a value. Types that are not listed are not supported. */
const VALUE_BITS: Readonly<Record<string, number | undefined>> = {
  F64: 64,
  F32: 32,
  F16: 16,
  BF16: 16,
  I64: 64,
  I32: 32,
  I16: 16,
  I8: 8,
  U8: 8,
  BOOL: 8,
};

/**
 * Reads the tensors of a file, in the order of their data.
 * @throws ConversionError naming the file and the tensor if anything in the header is invalid
 */
export async function readSafetensors(path: string): Promise<StoredTensor[]> {
  const { header, dataOffset, fileSize } = await readHeader(path);
  const tensors = Object.keys(header.members)
    .filter((name) => name !== "__metadata__")
    .map((name) => readTensor(header.object(name) ?? header, name, dataOffset))
    .sort((a, b) => a.offset - b.offset);
  let end = dataOffset;
  for (const tensor of tensors) {
    const fault = (state: string) => new ConversionError(path, `tensor "${tensor.name}"`, state);
    if (tensor.offset < end) throw fault("it overlaps another");
    end = tensor.offset + tensor.byteLength;
    if (end > fileSize) throw fault(`it ends at byte ${end}, the file at ${fileSize}`);
  }
  return tensors;
}

async function readHeader(
  path: string,
): Promise<{ header: Settings; dataOffset: number; fileSize: number }> {
  using file = await openFile(path);
  const { size } = await file.stat();
  const fault = (state: string) => new ConversionError(path, "header", state);
  const lengthBytes = new Uint8Array(LENGTH_BYTES);
  if (size < LENGTH_BYTES) throw fault(`the file has ${size} bytes only`);
  await readExactly(file, lengthBytes);
  const length = Number(new DataView(lengthBytes.buffer).getBigUint64(0, true));
  if (length > Math.min(MAX_HEADER_BYTES, size - LENGTH_BYTES)) {
    throw fault(`a length of ${length} bytes is too much for a file of ${size}`);
  }
  const text = new Uint8Array(length);
  await readExactly(file, text);
  const header = Settings.parse(path, new TextDecoder().decode(text));
  return { header, dataOffset: LENGTH_BYTES + length, fileSize: size };
}

function readTensor(entry: Settings, name: string, dataOffset: number): StoredTensor {
  const fault = (state: string) => new ConversionError(entry.file, `tensor "${name}"`, state);
  const type = entry.string("dtype");
  const shape = entry.list("shape");
  const offsets = entry.list("data_offsets");
  if (!shape.every(isCount)) throw fault("its shape is not a list of whole numbers");
  if (offsets.length !== 2 || !offsets.every(isCount) || offsets[0] > offsets[1]) {
    throw fault("its data_offsets are not a start and an end");
  }
  const [start, end] = offsets;
  const bits = VALUE_BITS[type];
  const expected = shape.reduce((product, length) => product * length, 1) * (bits ?? 0) / 8;
  if (bits !== undefined && expected !== end - start) {
    throw fault(
      `it has ${end - start} bytes, its shape [${shape.join(", ")}] of ${type} ${expected}`,
    );
  }
  return {
    name,
    file: entry.file,
    type,
    shape,
    offset: dataOffset + start,
    byteLength: end - start,
  };
}

/** Opens a file of the model. Errors: ConversionError if it does not exist. */
export async function openFile(path: string): Promise<FsFile> {
  try {
    return await fileSystem().open(path);
  } catch (error) {
    if (!isSystemError(error, "NotFound")) throw error;
    throw new ConversionError(path, "file", "it is not there");
  }
}

async function readExactly(file: FsFile, target: Uint8Array): Promise<void> {
  for (let filled = 0; filled < target.length;) {
    const count = await file.read(target.subarray(filled));
    if (count === null) throw new Error("The file has become shorter while it was read");
    filled += count;
  }
}
