// The architectures by their GGUF name. A new one is its own file and one line here.

import { UnsupportedModelError } from "../errors.ts";
import type { Architecture } from "./architecture.ts";
import { loadBert, loadNomicBert } from "./bert.ts";
import { loadCohere2, loadCommandR } from "./command_r.ts";
import { loadDeepSeek } from "./deepseek.ts";
import { loadDeepSeek2 } from "./deepseek2.ts";
import { loadDots1, loadGlm4Moe } from "./dots1.ts";
import { loadErnie } from "./ernie4_5.ts";
import { loadErnieMoe } from "./ernie4_5_moe.ts";
import { loadExaone4 } from "./exaone4.ts";
import { loadFalcon } from "./falcon.ts";
import { loadFalconH1 } from "./falcon_h1.ts";
import { loadGemma } from "./gemma.ts";
import { loadGemma2 } from "./gemma2.ts";
import { loadGemma3 } from "./gemma3.ts";
import { loadGemma4 } from "./gemma4.ts";
import { loadGemmaEmbedding } from "./gemma_embedding.ts";
import { loadGlm4 } from "./glm4.ts";
import { loadGpt2 } from "./gpt2.ts";
import { loadGptOss } from "./gpt_oss.ts";
import { loadGptNeox } from "./gptneox.ts";
import { loadGranite } from "./granite.ts";
import { loadHunyuan } from "./hunyuan.ts";
import { loadHunyuanMoe } from "./hunyuan_moe.ts";
import { loadInternLm2 } from "./internlm2.ts";
import { loadJamba } from "./jamba.ts";
import { loadKimiLinear } from "./kimi_linear.ts";
import { loadLfm2 } from "./lfm2.ts";
import { loadLlama } from "./llama.ts";
import { loadLlama4 } from "./llama4.ts";
import { loadMamba } from "./mamba.ts";
import { loadMiniCpm } from "./minicpm.ts";
import { loadMiniMaxM2 } from "./minimax_m2.ts";
import { loadMistral3 } from "./mistral3.ts";
import { loadModernBert } from "./modern_bert.ts";
import { loadNemotron } from "./nemotron.ts";
import { loadNemotronH } from "./nemotron_h.ts";
import { loadOlmo2, loadOlmoe } from "./olmo.ts";
import { loadPhi2 } from "./phi2.ts";
import { loadPhi3 } from "./phi3.ts";
import { loadQwen2, loadQwen2Vl } from "./qwen2.ts";
import { loadQwen3, loadQwen3Vl } from "./qwen3.ts";
import { loadQwen3Next, loadQwen35 } from "./qwen3_next.ts";
import { loadSeedOss } from "./seed_oss.ts";
import { loadSmallThinker } from "./smallthinker.ts";
import { loadSmolLm3 } from "./smollm3.ts";
import { loadStableLm } from "./stablelm.ts";
import { loadStarCoder2 } from "./starcoder2.ts";

/** Models whose tokens see only earlier ones: they generate. */
const DECODERS: Readonly<Record<string, Architecture>> = {
  "bailingmoe2": loadDots1,
  "cohere2": loadCohere2,
  "command-r": loadCommandR,
  "deepseek": loadDeepSeek,
  "deepseek2": loadDeepSeek2,
  "dots1": loadDots1,
  "ernie4_5": loadErnie,
  "ernie4_5-moe": loadErnieMoe,
  "exaone4": loadExaone4,
  "falcon": loadFalcon,
  "falcon-h1": loadFalconH1,
  "gemma": loadGemma,
  "gemma2": loadGemma2,
  "gemma3": loadGemma3,
  "gemma4": loadGemma4,
  "glm4": loadGlm4,
  "glm4moe": loadGlm4Moe,
  "gpt-oss": loadGptOss,
  "gpt2": loadGpt2,
  "gptneox": loadGptNeox,
  "granite": loadGranite,
  "granitehybrid": loadGranite,
  "granitemoe": loadGranite,
  "hunyuan-dense": loadHunyuan,
  "hunyuan-moe": loadHunyuanMoe,
  "internlm2": loadInternLm2,
  "jamba": loadJamba,
  "kimi-linear": loadKimiLinear,
  "lfm2": loadLfm2,
  "lfm2moe": loadLfm2,
  "llama": loadLlama,
  "llama4": loadLlama4,
  "mamba": loadMamba,
  "mamba2": loadMamba,
  "minicpm": loadMiniCpm,
  "minimax-m2": loadMiniMaxM2,
  "mistral3": loadMistral3,
  "mistral4": loadDeepSeek2,
  "nemotron": loadNemotron,
  "nemotron_h": loadNemotronH,
  "nemotron_h_moe": loadNemotronH,
  "olmo2": loadOlmo2,
  "olmoe": loadOlmoe,
  "phi2": loadPhi2,
  "phi3": loadPhi3,
  "phimoe": loadPhi3,
  "qwen2": loadQwen2,
  "qwen2moe": loadQwen2,
  "qwen2vl": loadQwen2Vl,
  "qwen3": loadQwen3,
  "qwen35": loadQwen35,
  "qwen35moe": loadQwen35,
  "qwen3moe": loadQwen3,
  "qwen3next": loadQwen3Next,
  "qwen3vl": loadQwen3Vl,
  "qwen3vlmoe": loadQwen3Vl,
  "seed_oss": loadSeedOss,
  "smallthinker": loadSmallThinker,
  "smollm3": loadSmolLm3,
  "stablelm": loadStableLm,
  "starcoder2": loadStarCoder2,
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
