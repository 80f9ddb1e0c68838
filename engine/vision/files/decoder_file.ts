// The decoders of vision models as Ollama's converter made them: what is called otherwise than
// llama.cpp's converter does, or is left out, is put in where it is missing. What that is for an
// architecture stands in its family; the architecture keeps its own.

import {
  type GgufFile,
  MetadataReader,
  type MetadataValue,
  type TensorInfo,
} from "../../gguf/mod.ts";
import { familyOfDecoder } from "../families/mod.ts";
import type { Renaming } from "../network/family.ts";

/** A file with its decoder's keys and tensors under the names that are read here. */
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

/** Sections of M-RoPE, of which those of time, height and width may be all that is there. */
function four(sections: MetadataValue): MetadataValue {
  return typeof sections === "object"
    ? Int32Array.from({ length: 4 }, (_, i) => Number(sections[i] ?? 0))
    : sections;
}

function named(tensor: TensorInfo, names: readonly Renaming[]): [string, TensorInfo] {
  const name = names.reduce((name, [pattern, other]) => name.replace(pattern, other), tensor.name);
  return [name, { ...tensor, name }];
}
