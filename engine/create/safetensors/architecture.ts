// The architectures that can be converted: their names in GGUF, and how their files differ from
// GGUF. Names and layouts as in Hugging Face's Transformers.

import { UnsupportedModelError } from "../../errors.ts";
import type { Settings } from "./settings.ts";

/** How the files of an architecture are converted. */
export interface Architecture {
  /** Name in GGUF. */
  readonly name: string;
  /**
   * Whether the halves of heads are interleaved: GGUF rotates neighbours of a head's queries and
   * keys, Transformers elements half a head apart.
   */
  readonly interleavesHeads: boolean;
  /** Whether norms multiply by 1 + weight. GGUF has the sum. */
  readonly addsOneToNorms: boolean;
  /**
   * Whether there are norms after attention and feed-forward block, too, so that names of norms
   * differ.
   */
  readonly hasPostNorms: boolean;
  /** Names of the activation function that the engine uses. */
  readonly activations: readonly string[];
  /** Default of config.json for whether the embeddings are the output, too. */
  readonly isTied: boolean;
  /** All layers except every nth have a sliding window; 0: no layer has one. */
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
  // Gemma's first configurations say "gelu", but the models have always had the approximation.
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

/** The architecture in config.json. Errors: UnsupportedModelError, ConversionError. */
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
