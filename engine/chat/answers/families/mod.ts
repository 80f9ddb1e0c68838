// The families of answers, in the order in which they are tried: those whose marks other families'
// templates contain, too, come last. A family is one constant in a file of its own, and one entry
// of this list.

import type { AnswerFamily } from "../types.ts";
import { APERTUS } from "./apertus.ts";
import { APRIEL } from "./apriel.ts";
import { COMMAND_R, COMMAND_R7B } from "./command_r.ts";
import { DEEPSEEK_V3, DEEPSEEK_V3_1, DEEPSEEK_V3_2, DEEPSEEK_V4 } from "./deepseek.ts";
import { FUNCTIONARY_3_1, FUNCTIONARY_3_2 } from "./functionary.ts";
import { FUNCTION_GEMMA, GEMMA_4 } from "./gemma.ts";
import { GIGACHAT_3, GIGACHAT_3_1 } from "./gigachat.ts";
import { GLM, GLM_LINES, HUNYUAN, LING } from "./glm.ts";
import { GRANITE_3 } from "./granite.ts";
import { HARMONY } from "./harmony.ts";
import { HERMES } from "./hermes.ts";
import { KIMI_K2, KIMI_K3 } from "./kimi.ts";
import { LFM2 } from "./lfm2.ts";
import { LLAMA3 } from "./llama3.ts";
import { MINICPM } from "./minicpm.ts";
import { MINIMAX_M1, MINIMAX_M2 } from "./minimax.ts";
import { MINIMAX_M3 } from "./minimax_m3.ts";
import { MIRO_THINKER } from "./miro_thinker.ts";
import { MISTRAL, MISTRAL_ARGUMENTS, MISTRAL_CALL_ID } from "./mistral.ts";
import { MUSE } from "./muse.ts";
import { NEMOTRON_NANO } from "./nemotron.ts";
import { OLMO } from "./olmo.ts";
import { FUNCTOOLS, PHI_4 } from "./phi.ts";
import { QWEN_CODER } from "./qwen_coder.ts";
import { SEED } from "./seed.ts";
import { SOLAR } from "./solar.ts";

/** The first family that recognises a template determines its calls. */
export const ANSWER_FAMILIES: readonly AnswerFamily[] = [
  // Families whose marks are in no other family's templates.
  APERTUS,
  COMMAND_R,
  COMMAND_R7B,
  DEEPSEEK_V3_2,
  DEEPSEEK_V4,
  FUNCTOOLS,
  FUNCTIONARY_3_2,
  FUNCTION_GEMMA,
  GEMMA_4,
  GIGACHAT_3_1,
  HARMONY,
  HUNYUAN,
  KIMI_K2,
  KIMI_K3,
  LFM2,
  MINICPM,
  MINIMAX_M2,
  MINIMAX_M3,
  MIRO_THINKER,
  MISTRAL_CALL_ID,
  MISTRAL_ARGUMENTS,
  MISTRAL,
  MUSE,
  NEMOTRON_NANO,
  OLMO,
  PHI_4,
  SEED,
  SOLAR,
  // More specific families come before more general ones.
  APRIEL,
  MINIMAX_M1,
  DEEPSEEK_V3,
  DEEPSEEK_V3_1,
  FUNCTIONARY_3_1,
  GIGACHAT_3,
  LING,
  GLM_LINES,
  GLM,
  GRANITE_3,
  LLAMA3,
  QWEN_CODER,
  HERMES,
];
