// What a native request may ask for and this version does not do. Each is refused with a message of its
// own, so that no client believes that something was done that was ignored.

import type { ModelInfo } from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import { isAlternatives, MOST_ALTERNATIVES } from "../logprobs.ts";
import type { OllamaChatRequest, OllamaGenerateRequest, OllamaRequest } from "./schema.ts";

/** @throws {HttpError} 400 for what is wrong or not to be had in a chat */
export function refuseInChat(body: OllamaChatRequest, info: ModelInfo): void {
  refuseInBoth(body);
  if (body.tools?.length && !info.callsTools) {
    throw refusal(`"${body.model}" does not support tools`);
  }
}

/** @throws {HttpError} 400 for what is wrong or not to be had in a generation */
export function refuseInGenerate(body: OllamaGenerateRequest, info: ModelInfo): void {
  refuseInBoth(body);
  if (body.raw && (body.template || body.system || body.context?.length)) {
    throw refusal("raw mode does not support template, system, or context");
  }
  if (!body.suffix) return;
  if (!info.fillsInMiddle) throw refusal(`"${body.model}" does not support insert`);
  if (body.template) throw refusal("template: a prompt with a suffix has no other template");
  if (body.system) throw refusal("system: a prompt with a suffix has no system prompt");
  if (body.images?.length) throw refusal("images: a prompt with a suffix takes none");
}

/** @throws {HttpError} 400 if the model gives vectors and no text */
export function refuseEmbeddingModel(
  { model }: OllamaRequest,
  { isEmbeddingModel }: ModelInfo,
  task: "chat" | "generate",
): void {
  if (isEmbeddingModel) throw refusal(`"${model}" does not support ${task}`);
}

function refuseInBoth({ logprobs, mask_info, top_logprobs }: OllamaRequest): void {
  if (!isAlternatives(top_logprobs ?? 0)) {
    throw refusal(`top_logprobs must be between 0 and ${MOST_ALTERNATIVES}`);
  }
  if (top_logprobs && !logprobs && !mask_info) {
    throw refusal("top_logprobs needs logprobs to be true");
  }
}

function refusal(message: string): HttpError {
  return new HttpError(400, message);
}
