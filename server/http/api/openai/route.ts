// POST /v1/chat/completions and /v1/completions.

import { Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { given } from "../../../given.ts";
import { createValidator } from "../../body/validate.ts";
import { sseResponse } from "../../stream/stream.ts";
import { type Endpoint, generationRoute } from "../handler.ts";
import type { CompletionRecord } from "./answer.ts";
import type { ChatChunk, CompletionChunk } from "./answer_schema.ts";
import { translateChat } from "./chat/body.ts";
import { ChatEncoder } from "./chat/events.ts";
import { answersOf, echoedPrompts, translateCompletion } from "./completion/body.ts";
import { CompletionEncoder } from "./completion/events.ts";
import { withParam } from "./errors.ts";
import {
  type ChatBody,
  type CompletionBody,
  openAiChatSchema,
  openAiCompletionSchema,
} from "./schema.ts";

const chat: Endpoint<ChatBody, CompletionRecord<ChatChunk>> = {
  validate: createValidator(openAiChatSchema),
  translate: translateChat,
  encoder: (head, body, { tasks }) =>
    new ChatEncoder(head, {
      choices: tasks.length,
      tellsUsage: body.stream_options?.include_usage ?? false,
    }),
  stream: sseResponse,
  failure: withParam,
};

const completion: Endpoint<CompletionBody, CompletionRecord<CompletionChunk>> = {
  validate: createValidator(openAiCompletionSchema),
  translate: (body, info) => translateCompletion(body, info, false),
  encoder: (head, body, { tasks }) =>
    new CompletionEncoder(head, {
      choices: tasks.length,
      answers: answersOf(body),
      echo: echoedPrompts(body),
      ...given({ alternatives: body.logprobs, promptAlternatives: body.prompt_logprobs }),
      tellsUsage: body.stream_options?.include_usage ?? false,
    }),
  stream: sseResponse,
  failure: withParam,
};

/** Routes of both kinds of completions. */
export function openAiRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/v1/chat/completions", generationRoute(dependencies, chat));
  const { completesChats = false } = dependencies;
  app.post(
    "/v1/completions",
    generationRoute(dependencies, {
      ...completion,
      translate: (body, info) => translateCompletion(body, info, completesChats),
    }),
  );
  return app;
}
