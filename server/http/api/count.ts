// Counting the tokens of what a request would show the model, without an answer. What differs between
// the APIs is how a body is translated, as in handler.ts.

import type { Context } from "../../dependencies.ts";
import {
  type ChatModel,
  type ChatRequest,
  ContextLengthError,
  type ModelInfo,
} from "../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../app_types.ts";
import type { CheckedBody } from "../body/validate.ts";
import { withModel } from "../generation/lease.ts";
import { withConversation } from "./defaults.ts";
import { type RequestBody, translateRequest, type Translation } from "./handler.ts";

/** A body, translated into a request for one chat. */
export interface ChatTranslation extends Omit<Translation, "tasks"> {
  request: ChatRequest;
}

/** How a body becomes the request whose tokens are counted. */
export interface Counting<Body> {
  translate: (body: Body, info: ModelInfo) => ChatTranslation;
  /** Changes the request to suit the loaded model. */
  adapt?: (model: ChatModel, request: ChatRequest) => Promise<ChatRequest>;
}

/**
 * The tokens of the prompt of a request, also of one that is too long for the window.
 *
 * @throws {HttpError} 400 for what cannot be done; what the store and the model throw
 */
export async function countTokens<Body extends RequestBody>(
  context: Context<AppEnvironment>,
  dependencies: AppDependencies,
  checked: CheckedBody<Body>,
  { translate, adapt }: Counting<Body>,
): Promise<number> {
  const found = await translateRequest(context, dependencies, checked, translate);
  const { model, entry, translation } = found;
  const { signal } = context.req.raw;
  const request = { ...withConversation(translation.request, entry), signal };
  const tokens = await withModel(
    dependencies,
    model,
    { ...translation, signal },
    async (loaded) => {
      try {
        const counted = await loaded.countTokens(await adapt?.(loaded, request) ?? request);
        signal.throwIfAborted();
        return counted;
      } catch (error) {
        // A prompt that does not fit the window has been counted nevertheless.
        if (error instanceof ContextLengthError) return error.promptTokens;
        throw error;
      }
    },
  );
  context.set("promptTokens", tokens);
  return tokens;
}
