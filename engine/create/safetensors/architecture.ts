// The architectures that can be converted: what they are called in GGUF, and what their files do in
// another way than GGUF has it. Names and layouts as in Hugging Face's Transformers.

import { UnsupportedModelError } from "../../errors.ts";
import type { Settings } from "./settings.ts";

/** How the files of an architecture become GGUF. */
export interface Architecture {
  /** In GGUF. */
  readonly name: string;
  /**
   * GGUF rotates neighbours of a head's queries and keys, Transformers elements half a head apart:
   * the rows have to change places.
   */
  readonly interleavesHeads: boolean;
  /** Norms multiply by 1 + weight; GGUF has the sum. */
  readonly addsOneToNorms: boolean;
  /** Norms after attention and feed-forward too, so that names of norms mean something else. */
  readonly hasPostNorms: boolean;
  /** Names of the activation function that the engine takes for granted. */
  readonly activations: readonly string[];
  /** Whether the embedding is the output too, where config.json does not say. */
  readonly isTied: boolean;
  /** Layers with a sliding window: all but every one of that number; 0 if there are none. */
  readonly windowPeriod: number;
}

const LLAMA: Architecture = {
  name: "llama",
  interleavesHeads: true,
  addsOneToNorms: false,
  hasPostNorms: false,
  activations: ["silu", "swish"],
  isTied: false,
  windowPeriod: 0,
};

const GEMMA: Architecture = {
  name: "gemma",
  interleavesHeads: false,
  addsOneToNorms: true,
  hasPostNorms: false,
  // Gemma's first configurations say "gelu" for what has always been the approximation.
  activations: ["gelu", "gelu_pytorch_tanh"],
  isTied: true,
  windowPeriod: 0,
};

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  LlamaForCausalLM: LLAMA,
  MistralForCausalLM: LLAMA,
  Qwen2ForCausalLM: { ...LLAMA, name: "qwen2", interleavesHeads: false },
  Qwen3ForCausalLM: { ...LLAMA, name: "qwen3", interleavesHeads: false },
  GemmaForCausalLM: GEMMA,
  Gemma2ForCausalLM: { ...GEMMA, name: "gemma2", hasPostNorms: true, windowPeriod: 2 },
  Gemma3ForCausalLM: { ...GEMMA, name: "gemma3", hasPostNorms: true, windowPeriod: 6 },
};

/** The architecture that config.json names. Errors: UnsupportedModelError, ConversionError. */
export function architectureOf(config: Settings): Architecture {
  const [name] = config.list("architectures");
  if (typeof name !== "string") throw config.error("architectures", "it names none");
  if (Object.hasOwn(ARCHITECTURES, name)) return ARCHITECTURES[name];
  const supported = Object.keys(ARCHITECTURES).join(", ");
  throw new UnsupportedModelError(
    `Cannot convert "${config.file}": the architecture ${name} is not supported, only ${supported}; ` +
      `models of others have to come as GGUF files`,
  );
}
