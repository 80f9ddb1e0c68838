// POST /v1/responses: the body, and what came before it, -> the engine's request. Pure.
// Format: https://platform.openai.com/docs/api-reference/responses/create

import type { ModelInfo } from "../../../../../engine/mod.ts";
import { refusal } from "../errors.ts";
import { readCommon } from "../translation.ts";
import type { ChatTranslation } from "../../count.ts";
import { readInput } from "./input.ts";
import type { InputItem, ResponsesBody } from "../schema.ts";
import { functionsOf } from "./tools.ts";
import { readTools } from "../../tool_choice.ts";

/** Members that need more than responses to be kept, and what to do instead. */
const NOT_KEPT = {
  conversation: "conversations are not stored; continue one by previous_response_id",
  prompt: "prompts are not stored; send their text as instructions",
} as const;

/**
 * Translates the body.
 *
 * @param earlier what was said before its input
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateResponse(
  body: ResponsesBody,
  earlier: readonly InputItem[],
  info: ModelInfo,
): ChatTranslation {
  refuse(body, info);
  const { engine, think, around } = readCommon(body, info, { "text.format": body.text?.format });
  const request = {
    messages: readInput(body, earlier, info),
    ...engine,
    ...think,
    ...readTools(functionsOf(body), body, info),
    truncate: body.truncation === "auto",
  };
  return { ...around, request };
}

function refuse(body: ResponsesBody, { isEmbeddingModel }: ModelInfo): void {
  if (isEmbeddingModel) throw refusal(`"${body.model}" does not support chat`, "model");
  for (const [name, text] of Object.entries(NOT_KEPT)) {
    if (body[name as keyof typeof NOT_KEPT] != null) throw refusal(`${name}: ${text}`, name);
  }
  if (body.background) {
    throw refusal(
      "background: answers are made while the client waits; leave it out",
      "background",
    );
  }
  if (body.top_logprobs) throw refusal("top_logprobs: not available yet", "top_logprobs");
}
