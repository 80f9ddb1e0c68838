// Files with one fault each: a tensor that is missing, has another name, shape or values; a key of the
// metadata with another value; an end that comes too early; bytes that are wrong.

import {
  type RawValue,
  readGguf,
  readRawMetadata,
  TensorReader,
  type WritableMetadata,
  type WritableTensor,
  type WritableValue,
  writeGguf,
} from "../../../engine/gguf/mod.ts";
import type { Draws } from "../../engine/grammar/fuzz/draws.ts";

/** A valid model in parts. */
export interface SoundFile {
  architecture: string;
  bytes: Uint8Array<ArrayBuffer>;
  metadata: ReadonlyMap<string, RawValue>;
  /** Numbers of the metadata, by key. */
  numbers: ReadonlyMap<string, number>;
  tensors: readonly SoundTensor[];
  /** Offset of the tensors, and the end of the last one. */
  dataStart: number;
  dataEnd: number;
}

interface SoundTensor {
  name: string;
  shape: readonly number[];
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** A file with one fault. */
export interface FaultyFile {
  name: string;
  /**
   * What is due: that the load fails, that it fails or changes nothing, or that it fails or gives
   * numbers, as the value may be meant.
   */
  due: "refused" | "refused or equal" | "refused or finite";
  write(path: string): Promise<void>;
}

/** Takes a file apart. */
export async function readSound(path: string): Promise<SoundFile> {
  const gguf = await readGguf(path);
  using reader = await TensorReader.open(gguf);
  const tensors = Array.from(gguf.tensors.values(), (tensor): SoundTensor => {
    const bytes = new Uint8Array(tensor.byteLength);
    reader.read(tensor, 0, bytes);
    return { name: tensor.name, shape: tensor.shape, type: tensor.typeName, bytes };
  });
  const places = [...gguf.tensors.values()];
  return {
    architecture: String(gguf.metadata["general.architecture"]),
    bytes: await Deno.readFile(path),
    metadata: await readRawMetadata(path),
    numbers: new Map(
      Object.entries(gguf.metadata).flatMap(([key, value]) =>
        typeof value === "number" ? [[key, value]] : []
      ),
    ),
    tensors,
    dataStart: Math.min(...places.map(({ offset }) => offset)),
    dataEnd: Math.max(...places.map(({ offset, byteLength }) => offset + byteLength)),
  };
}

/** Tensors that a sound file may lack: then the model is another one. */
const OPTIONAL = /^output\.weight$|^rope_freqs|\.bias$/;

/** All faults of single tensors. */
export function tensorFaults(sound: SoundFile): FaultyFile[] {
  const { tensors } = sound;
  const change = (index: number, changed: SoundTensor | undefined) =>
    tensors.flatMap((tensor, at) => at !== index ? [tensor] : changed ? [changed] : []);
  return tensors.flatMap((tensor, index): FaultyFile[] => {
    const { name, shape, bytes } = tensor;
    const rows = shape.at(-1)!;
    const faulty = (what: string, changed: SoundTensor | undefined): FaultyFile => ({
      name: `${sound.architecture}: ${name} ${what}`,
      due: OPTIONAL.test(name) && /missing|another name/.test(what)
        ? "refused or finite"
        : "refused or equal",
      write: (path) => writeParts(path, sound, change(index, changed)),
    });
    const half = bytes.slice(0, bytes.length / rows * Math.floor(rows / 2));
    const nothing = new Uint8Array(bytes.length).fill(0xff); // NaN in every float format
    const files = [
      faulty("is missing", undefined),
      faulty("has another name", { ...tensor, name: `${name}.x` }),
      faulty("is there twice as long", {
        ...tensor,
        shape: [...shape.slice(0, -1), 2 * rows],
        bytes: new Uint8Array([...bytes, ...bytes]),
      }),
      faulty("has one more dimension", { ...tensor, shape: [...shape, 1] }),
      // If the model bounds the result of the tensor, its logits may still be numbers.
      { ...faulty("is NaN", { ...tensor, bytes: nothing }), due: "refused or finite" as const },
    ];
    if (rows > 1) {
      files.push(faulty("has half its rows", {
        ...tensor,
        shape: [...shape.slice(0, -1), Math.floor(rows / 2)],
        bytes: half,
      }));
    }
    if (shape.length === 2 && shape[0] !== shape[1]) {
      files.push(faulty("lies the other way", { ...tensor, shape: [shape[1]!, shape[0]!] }));
    }
    return files;
  });
}

const VALUES: [string, WritableValue | undefined][] = [
  ["missing", undefined],
  ["0", { uint32: 0 }],
  ["1", { uint32: 1 }],
  ["3", { uint32: 3 }],
  ["1000003", { uint32: 1_000_003 }],
  ["2^31", { uint32: 2 ** 31 }],
  ["2^32-1", { uint32: 2 ** 32 - 1 }],
  ["-1", { int32: -1 }],
  ["2^63", { uint64: 2n ** 63n }],
  ["NaN", { float32: NaN }],
  ["infinite", { float32: Infinity }],
  ["1e-30", { float32: 1e-30 }],
  ["a text", "x"],
  ["texts", ["x", "y"]],
  ["numbers", Int32Array.of(1, -1, 2 ** 30)],
  ["no numbers", new Int32Array()],
];

/** All faults of single values of the metadata. */
export function metadataFaults(sound: SoundFile): FaultyFile[] {
  const fault = (key: string, what: string, value: WritableValue | undefined): FaultyFile => ({
    name: `${sound.architecture}: ${key} is ${what}`,
    due: "refused or finite",
    write(path) {
      const metadata = new Map<string, WritableValue>(sound.metadata);
      if (value === undefined) metadata.delete(key);
      else metadata.set(key, value);
      return writeParts(path, { ...sound, metadata }, sound.tensors);
    },
  });
  const numbers = [...sound.numbers.keys(), `${sound.architecture}.expert_count`];
  const tokens = "tokenizer.ggml.tokens";
  const few = Array.from({ length: 100 }, (_, i) => `t${i}`);
  return [
    ...numbers.flatMap((key) => VALUES.map(([what, value]) => fault(key, what, value))),
    fault(tokens, "missing", undefined),
    { ...fault(tokens, "a vocabulary of 100", few), due: "refused" },
    fault(tokens, "a vocabulary of one token", Array(sound.tensors[0]!.shape[1]!).fill("a")),
    fault("tokenizer.ggml.token_type", "too short", Int32Array.of(1, 1)),
    fault("tokenizer.ggml.merges", "nonsense", ["a", "b c d", " ", "", "x y"]),
    fault("tokenizer.ggml.model", "another", "nothing"),
    fault("tokenizer.ggml.pre", "another", "nothing"),
    fault("general.architecture", "another", "constructor"),
    fault("general.architecture", "a path", "../llama"),
  ];
}

async function writeParts(
  path: string,
  { metadata }: { metadata: ReadonlyMap<string, WritableValue> },
  tensors: readonly SoundTensor[],
): Promise<void> {
  const all = tensors.map(({ bytes, ...tensor }): WritableTensor => ({
    ...tensor,
    data: () => [bytes],
  }));
  await writeGguf(path, Object.fromEntries(metadata) as WritableMetadata, all);
}

/** The file, cut off somewhere. */
export function truncation({ architecture, bytes, dataEnd }: SoundFile, draws: Draws): FaultyFile {
  const length = draws.oneIn(2) ? draws.below(dataEnd) : draws.below(Math.min(6000, dataEnd));
  return {
    name: `${architecture}: cut off after ${length} bytes`,
    due: "refused",
    write: (path) => Deno.writeFile(path, bytes.subarray(0, length)),
  };
}

/** Values of bytes, and of numbers of four and eight bytes, at which lengths and counts break. */
const EDGES = [0x00, 0x01, 0x7f, 0x80, 0xff];

/** The file with one to four wrong places, most of them before the tensors. */
export function mutation(sound: SoundFile, draws: Draws, name: string): FaultyFile {
  const bytes = sound.bytes.slice();
  for (let damage = draws.between(1, 4); damage > 0; damage--) {
    // The vocabulary is most of the header; what counts is before and after it.
    const end = draws.one([200, 1500, sound.dataStart, sound.dataStart, sound.dataEnd]);
    const start = end === sound.dataStart ? Math.max(0, end - draws.one([1500, end])) : 0;
    const at = start + draws.below(end - start);
    const width = draws.one([1, 1, 1, 4, 8]);
    const value = draws.one(EDGES);
    for (let i = 0; i < width && at + i < bytes.length; i++) {
      bytes[at + i] = draws.oneIn(3) ? bytes[at + i]! ^ (1 << draws.below(8)) : value;
    }
  }
  return { name, due: "refused or finite", write: (path) => Deno.writeFile(path, bytes) };
}
