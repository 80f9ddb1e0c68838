// The decoders of vision models in files of Ollama's converter: keys and tensors that llama.cpp's
// converter names differently, or that are missing, are added. Each family tells what that is for
// its architectures.

import {
  type GgufFile,
  MetadataReader,
  type MetadataValue,
  type TensorInfo,
} from "../../gguf/mod.ts";
import { familyOfDecoder } from "../families/mod.ts";
import type { Renaming } from "../network/family.ts";

/** A file with its decoder's keys and tensors under the names that architectures expect. */
export function viewAsDecoder(gguf: GgufFile): GgufFile {
  const reader = new MetadataReader(gguf);
  const name = reader.optionalString("general.architecture", "");
  const decoder = familyOfDecoder(name)?.file.decoder;
  if (!decoder) return gguf;
  const { keys = {}, more, tokenizer, tensors = [] } = decoder;
  const found = Object.entries(keys).flatMap(([key, others]) => {
    const value = others.map((other) => gguf.metadata[`${name}.${other}`])
      .find((value) => value !== undefined);
    return value === undefined ? [] : [[key, key.endsWith("_sections") ? four(value) : value]];
  });
  const missing = Object.entries({ ...more?.(reader, name), ...Object.fromEntries(found) })
    .map(([key, value]) => [`${name}.${key}`, value]);
  return {
    ...gguf,
    metadata: { ...Object.fromEntries(missing), ...gguf.metadata, ...tokenizer?.(gguf) },
    tensors: new Map(gguf.tensors.values().map((tensor) => named(tensor, tensors))),
  };
}

/** The sections of M-RoPE. Some files have only those of time, height and width. */
function four(sections: MetadataValue): MetadataValue {
  return typeof sections === "object"
    ? Int32Array.from({ length: 4 }, (_, i) => Number(sections[i] ?? 0))
    : sections;
}

function named(tensor: TensorInfo, names: readonly Renaming[]): [string, TensorInfo] {
  const name = names.reduce((name, [pattern, other]) => name.replace(pattern, other), tensor.name);
  return [name, { ...tensor, name }];
}
