// The architectures by their GGUF name. A new one is its own file and one line here.

import { UnsupportedModelError } from "../errors.ts";
import type { Architecture } from "./architecture.ts";
import { loadBert, loadNomicBert } from "./bert.ts";
import { loadGemmaEmbedding } from "./gemma_embedding.ts";
import { loadLlama } from "./llama.ts";
import { loadModernBert } from "./modern_bert.ts";

/** Models whose tokens see only earlier ones: they generate. */
const DECODERS: Readonly<Record<string, Architecture>> = {
  llama: loadLlama,
};

/** Models whose tokens see the whole text: they embed. */
const ENCODERS: Readonly<Record<string, Architecture>> = {
  "bert": loadBert,
  "gemma-embedding": loadGemmaEmbedding,
  "modern-bert": loadModernBert,
  "nomic-bert": loadNomicBert,
};

/** How an architecture is loaded, and whether it is an encoder. */
export interface ArchitectureEntry {
  readonly load: Architecture;
  readonly encoder: boolean;
}

function entries(table: Readonly<Record<string, Architecture>>, encoder: boolean) {
  return Object.entries(table).map(([name, load]): [string, ArchitectureEntry] => [
    name,
    { load, encoder },
  ]);
}

/** All architectures by name. */
export const architectures: ReadonlyMap<string, ArchitectureEntry> = new Map([
  ...entries(DECODERS, false),
  ...entries(ENCODERS, true),
]);

/** The architecture of this name. Errors: UnsupportedModelError, listing those that are there. */
export function architectureOf(name: string): ArchitectureEntry {
  const architecture = architectures.get(name);
  if (architecture) return architecture;
  const supported = [...architectures.keys()].sort().join(", ");
  throw new UnsupportedModelError(
    `Cannot run architecture "${name}": supported are ${supported}`,
  );
}
