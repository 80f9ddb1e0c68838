// POST /v1/responses: the body -> the engine's request. Nothing is stored between requests. Pure.
// Format: https://platform.openai.com/docs/api-reference/responses/create

import type { ModelInfo } from "../../../engine/mod.ts";
import { refusal } from "./error.ts";
import { type Plan, readCommon, readEffort, readFormat } from "./plan.ts";
import { readInput } from "./responses_input.ts";
import type { ResponsesBody } from "./responses_types.ts";
import { functionsOf } from "./responses_tools.ts";
import { readTools } from "./tools.ts";

/** What would need answers, prompts or conversations to be kept here, and what to do instead. */
const STORED = {
  previous_response_id: "responses are not stored; send the whole conversation as input",
  conversation: "conversations are not stored; send the whole conversation as input",
  prompt: "prompts are not stored; send their text as instructions",
} as const;

/**
 * Translates the body.
 *
 * @throws {HttpError} 400 for what cannot be done
 */
export function planResponse(body: ResponsesBody, info: ModelInfo): Plan {
  refuse(body, info);
  const { loading, engine } = readCommon(body, body.max_output_tokens);
  const format = body.text?.format;
  const request = {
    messages: readInput(body, info),
    ...engine,
    ...readFormat(format?.type, format?.schema, "text.format"),
    ...readEffort(body.reasoning?.effort, body, info, "reasoning.effort"),
    ...readTools(functionsOf(body), body, info),
    truncate: body.truncation === "auto",
  };
  return { ...loading, tasks: [{ kind: "chat", request }] };
}

function refuse(body: ResponsesBody, { isEmbeddingModel }: ModelInfo): void {
  if (isEmbeddingModel) throw refusal(`"${body.model}" does not support chat`, "model");
  for (const [name, text] of Object.entries(STORED)) {
    if (body[name as keyof typeof STORED] != null) throw refusal(`${name}: ${text}`, name);
  }
  if (body.background) throw refusal("background: responses are not stored", "background");
  if (body.top_logprobs) throw refusal("top_logprobs: not available yet", "top_logprobs");
}
