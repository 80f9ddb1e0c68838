// The architectures by their GGUF name. A new one is a file of its own and one line here.

import { UnsupportedModelError } from "../errors.ts";
import type { ModelBuilder } from "../nn/mod.ts";
import { loadBert, loadNomicBert } from "./bert.ts";
import { loadBloom, loadMpt } from "./bloom.ts";
import { loadCohere2, loadCommandR } from "./command_r.ts";
import { loadDeepSeek } from "./deepseek.ts";
import { loadDeepSeek2, loadDeepSeek2Mtp } from "./deepseek2.ts";
import { loadDots1, loadGlm4Moe, loadGlm4MoeMtp } from "./dots1.ts";
import { loadErnie } from "./ernie4_5.ts";
import { loadErnieMoe } from "./ernie4_5_moe.ts";
import { loadExaone4 } from "./exaone4.ts";
import { loadFalcon } from "./falcon.ts";
import { loadFalconH1 } from "./falcon_h1.ts";
import { loadGemma } from "./gemma.ts";
import { loadGemma2 } from "./gemma2.ts";
import { loadGemma3 } from "./gemma3.ts";
import { loadGemma3n } from "./gemma3n.ts";
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
import { loadMamba, loadMamba2 } from "./mamba.ts";
import { loadMiniCpm } from "./minicpm.ts";
import { loadMiniMaxM2 } from "./minimax_m2.ts";
import { loadMistral3 } from "./mistral3.ts";
import { loadModernBert } from "./modern_bert.ts";
import type { MtpHead } from "./mtp_head.ts";
import { loadNemotron } from "./nemotron.ts";
import { loadNemotronH } from "./nemotron_h.ts";
import { loadOlmo2, loadOlmoe } from "./olmo.ts";
import { loadPhi2 } from "./phi2.ts";
import { loadPhi3, loadPhiMoe } from "./phi3.ts";
import { loadQwen2, loadQwen2Vl } from "./qwen2.ts";
import { loadQwen3, loadQwen3Vl } from "./qwen3.ts";
import { loadQwen35, loadQwen3Next, loadQwen3NextMtp } from "./qwen3_next.ts";
import { loadSeedOss } from "./seed_oss.ts";
import { loadSmallThinker } from "./smallthinker.ts";
import { loadSmolLm3 } from "./smollm3.ts";
import { loadStableLm } from "./stablelm.ts";
import { loadStarCoder2 } from "./starcoder2.ts";

/** Loads the weights of a model, appends its forward step to the network, and names its output. */
export type Architecture = (model: ModelBuilder) => Promise<void>;

/** Loads the head for multi-token prediction of a model, with a network of its own. */
export type LoadMtpHead = (model: ModelBuilder) => Promise<MtpHead>;

/** For each name the function that builds the architecture, and its well-known models. */
type Table = Readonly<Record<string, readonly [load: Architecture, models: string]>>;

/** Models whose tokens attend only to earlier ones: they generate text. */
const DECODERS: Table = {
  "bailingmoe2": [loadDots1, "Ling 2.0 and Ring 2.0 (lite, flash)"],
  "bloom": [loadBloom, "BLOOM, BLOOMZ"],
  "cohere2": [loadCohere2, "Command R7B, Command A"],
  "command-r": [loadCommandR, "Command R and R+, Aya 23 and Expanse"],
  "deepseek": [loadDeepSeek, "DeepSeek-MoE 16B"],
  "deepseek2": [
    loadDeepSeek2,
    "DeepSeek-V2, V3, R1 and their Lite and Coder versions, Kimi K2, GLM-4.7-Flash, Mistral Large 3",
  ],
  "dots1": [loadDots1, "dots.llm1"],
  "ernie4_5": [loadErnie, "ERNIE 4.5 0.3B"],
  "ernie4_5-moe": [loadErnieMoe, "ERNIE 4.5 21B-A3B, 300B-A47B"],
  "exaone4": [loadExaone4, "EXAONE 4"],
  "falcon": [loadFalcon, "Falcon 7B, 40B"],
  "falcon-h1": [loadFalconH1, "Falcon-H1"],
  "gemma": [loadGemma, "Gemma 1, CodeGemma"],
  "gemma2": [loadGemma2, "Gemma 2"],
  "gemma3": [loadGemma3, "Gemma 3, MedGemma (images)"],
  "gemma3n": [loadGemma3n, "Gemma 3n (text)"],
  "gemma4": [loadGemma4, "Gemma 4 (images): dense, with experts, E2B and E4B"],
  "glm4": [loadGlm4, "GLM-4-0414, GLM-Z1"],
  "glm4moe": [loadGlm4Moe, "GLM-4.5, 4.6 and 4.7, GLM-4.5-Air"],
  "gpt-oss": [loadGptOss, "gpt-oss 20B, 120B"],
  "gpt2": [loadGpt2, "GPT-2"],
  "gptneox": [loadGptNeox, "GPT-NeoX, Pythia"],
  "granite": [loadGranite, "Granite 3.x, Granite 4 (dense)"],
  "granitehybrid": [loadGranite, "Granite 4 (hybrid: Micro, Tiny, Small)"],
  "granitemoe": [loadGranite, "Granite 3.x MoE"],
  "hunyuan-dense": [loadHunyuan, "Hunyuan 0.5B to 7B"],
  "hunyuan-moe": [loadHunyuanMoe, "Hunyuan-A13B"],
  "internlm2": [loadInternLm2, "InternLM 2 and 2.5"],
  "jamba": [loadJamba, "Jamba"],
  "kimi-linear": [loadKimiLinear, "Kimi Linear 48B-A3B"],
  "lfm2": [loadLfm2, "LFM2"],
  "lfm2moe": [loadLfm2, "LFM2-8B-A1B"],
  "llama": [
    loadLlama,
    "Llama 1 to 3.3, Mistral, Mixtral, SmolLM, TinyLlama, Yi and more; LLaVA, SmolVLM, Pixtral (images)",
  ],
  "llama4": [loadLlama4, "Llama 4 Scout, Maverick (images)"],
  "mamba": [loadMamba, "Mamba, FalconMamba"],
  "mamba2": [loadMamba2, "Mamba 2, Codestral Mamba"],
  "minicpm": [loadMiniCpm, "MiniCPM"],
  "minimax-m2": [loadMiniMaxM2, "MiniMax-M2"],
  "mistral3": [loadMistral3, "Ministral 3 (images)"],
  "mistral4": [loadDeepSeek2, "Mistral Small 4"],
  "mpt": [loadMpt, "MPT"],
  "nemotron": [loadNemotron, "Nemotron, Minitron"],
  "nemotron_h": [loadNemotronH, "Nemotron-H, Nemotron Nano 2"],
  "nemotron_h_moe": [loadNemotronH, "Nemotron 3 Nano"],
  "olmo2": [loadOlmo2, "OLMo 2, OLMo 3"],
  "olmoe": [loadOlmoe, "OLMoE"],
  "phi2": [loadPhi2, "Phi-1, Phi-1.5, Phi-2"],
  "phi3": [loadPhi3, "Phi-3, Phi-3.5, Phi-4, Phi-4-mini"],
  "phimoe": [loadPhiMoe, "Phi-3.5-MoE"],
  "qwen2": [loadQwen2, "Qwen 1.5, 2 and 2.5, QwQ, DeepSeek-R1-Distill-Qwen"],
  "qwen2moe": [loadQwen2, "Qwen1.5-MoE, Qwen2-57B-A14B"],
  "qwen25vl": [loadQwen2Vl, "Qwen2.5-VL (images), as Ollama converts it"],
  "qwen2vl": [loadQwen2Vl, "Qwen2-VL (text), Qwen2.5-VL (images)"],
  "qwen3": [loadQwen3, "Qwen3, Qwen3-Embedding"],
  "qwen35": [loadQwen35, "Qwen3.5 (dense)"],
  "qwen35moe": [loadQwen35, "Qwen3.5 MoE"],
  "qwen3moe": [loadQwen3, "Qwen3-30B-A3B, 235B-A22B, Qwen3-Coder"],
  "qwen3next": [loadQwen3Next, "Qwen3-Next, Qwen3-Coder-Next"],
  "qwen3vl": [loadQwen3Vl, "Qwen3-VL (images)"],
  "qwen3vlmoe": [loadQwen3Vl, "Qwen3-VL MoE (images)"],
  "seed_oss": [loadSeedOss, "Seed-OSS 36B"],
  "smallthinker": [loadSmallThinker, "SmallThinker"],
  "smollm3": [loadSmolLm3, "SmolLM3"],
  "stablelm": [loadStableLm, "StableLM 2, StableLM 3B"],
  "starcoder2": [loadStarCoder2, "StarCoder2"],
};

/** Models whose tokens attend to the whole text: they make embeddings. */
const ENCODERS: Table = {
  "bert": [loadBert, "BERT, MiniLM, BGE, E5, Snowflake Arctic Embed, mxbai-embed-large"],
  "gemma-embedding": [loadGemmaEmbedding, "EmbeddingGemma"],
  "modern-bert": [loadModernBert, "ModernBERT, gte-modernbert, Granite Embedding R2"],
  "nomic-bert": [loadNomicBert, "nomic-embed-text v1 and v1.5"],
};

/** Of those whose files may have a head for multi-token prediction: the function that builds it. */
const MTP_HEADS: Readonly<Record<string, LoadMtpHead>> = {
  "deepseek2": loadDeepSeek2Mtp,
  "glm4moe": loadGlm4MoeMtp,
  "qwen35": loadQwen3NextMtp,
  "qwen35moe": loadQwen3NextMtp,
  "qwen3next": loadQwen3NextMtp,
};

/** An architecture: its function, whether it is an encoder, and its well-known models. */
export interface ArchitectureEntry {
  readonly load: Architecture;
  readonly encoder: boolean;
  /** Names of well-known models, for people. */
  readonly models: string;
  /** Missing where files have no head for multi-token prediction, or what it computes is not known. */
  readonly loadMtpHead?: LoadMtpHead;
}

function entries(table: Table, encoder: boolean) {
  return Object.entries(table).map(([name, [load, models]]): [string, ArchitectureEntry] => [
    name,
    { load, encoder, models, ...(MTP_HEADS[name] && { loadMtpHead: MTP_HEADS[name] }) },
  ]);
}

/** All architectures by name. */
export const architectures: ReadonlyMap<string, ArchitectureEntry> = new Map([
  ...entries(DECODERS, false),
  ...entries(ENCODERS, true),
]);

/** The architecture of this name. Errors: UnsupportedModelError, which lists the supported ones. */
export function architectureOf(name: string): ArchitectureEntry {
  const architecture = architectures.get(name);
  if (architecture) return architecture;
  const supported = [...architectures.keys()].sort().join(", ");
  throw new UnsupportedModelError(
    `Cannot run architecture "${name}": supported are ${supported}`,
  );
}
