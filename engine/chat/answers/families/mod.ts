// The families of answers, in the order in which they are tried: those whose marks other families'
// templates contain, too, come last. A family is one constant, in a file of its own or beside
// those that write calls alike, and one entry of this list.

import type { AnswerFamily } from "../types.ts";
import {
  APERTUS,
  APRIEL,
  COMMAND_R,
  COMMAND_R7B,
  FUNCTOOLS,
  GIGACHAT_3,
  GIGACHAT_3_1,
  GRANITE_3,
  HERMES,
  NEMOTRON_NANO,
  PHI_4,
} from "./json_calls.ts";
import {
  DEEPSEEK_V3,
  DEEPSEEK_V3_1,
  DEEPSEEK_V3_2,
  DEEPSEEK_V4,
  GLM,
  GLM_LINES,
  HUNYUAN,
  KIMI_K2,
  KIMI_K3,
  LING,
  MINICPM,
  MINIMAX_M1,
  MINIMAX_M2,
  MIRO_THINKER,
  SEED,
  SOLAR,
} from "./tagged_families.ts";
import { FUNCTIONARY_3_1, FUNCTIONARY_3_2, HARMONY, MUSE } from "./message_families.ts";
import { FUNCTION_GEMMA, GEMMA_4 } from "./gemma.ts";
import { LFM2, OLMO } from "./python_call.ts";
import { LLAMA3 } from "./llama3.ts";
import { MINIMAX_M3 } from "./minimax_m3.ts";
import { MISTRAL, MISTRAL_ARGUMENTS, MISTRAL_CALL_ID } from "./mistral.ts";
import { QWEN_CODER } from "./qwen_coder.ts";

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
