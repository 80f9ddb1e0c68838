// The architectures by their GGUF name. A new one is its own file and one line here.

import type { FloatRows } from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import type { MetadataReader } from "../gguf/mod.ts";
import type { Network } from "../nn/mod.ts";
import type { WeightLoader } from "../weights.ts";
import { loadLlama } from "./llama.ts";

/** What every architecture tells of itself before its weights are loaded. */
export interface Hyperparameters {
  readonly metadata: MetadataReader;
  /** File, for errors. */
  readonly path: string;
  /** Prefix of its keys, such as "llama". */
  readonly architecture: string;
  /** Tokens in the vocabulary. */
  readonly vocabulary: number;
}

/** Loads the weights and appends the forward step to `network`; gives the logits [outputs, vocabulary]. */
export type Architecture = (
  network: Network,
  weights: WeightLoader,
  hyperparameters: Hyperparameters,
) => Promise<FloatRows>;

const ARCHITECTURES: Record<string, Architecture> = {
  llama: loadLlama,
};

/** The architecture of this name. Errors: UnsupportedModelError, listing those that are there. */
export function architectureOf(name: string): Architecture {
  const architecture = Object.hasOwn(ARCHITECTURES, name) ? ARCHITECTURES[name] : undefined;
  if (architecture) return architecture;
  throw new UnsupportedModelError(
    `Cannot run architecture "${name}": supported are ${Object.keys(ARCHITECTURES).join(", ")}`,
  );
}
