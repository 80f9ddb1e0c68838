// The operations of the native API that run models, and what all of that API's operations share
// (https://github.com/ollama/ollama/blob/main/docs/api.md).

import { type ErrorSchema, named, type NamedSchema, type Operation } from "../openapi/operation.ts";
import { chatRecordSchema, errorSchema, generateRecordSchema } from "./answer_schema.ts";
import { chatSchema, generateSchema } from "./schema.ts";

/** The errors of the native API. */
export const nativeError: ErrorSchema = {
  ...named("Error", errorSchema, { error: "model is required" }),
  tell: (_status, message) => ({ error: message }),
};

/** The model of examples: the one in the box. */
const model = "quern:tiny";
const question = "How do I pull a model?";
const created_at = "2026-11-23T09:00:00.123Z";

/** How an example of an answer ends. */
const ending = {
  done: true,
  done_reason: "stop",
  total_duration: 219_688_908,
  load_duration: 1_000_000,
  prompt_eval_count: 15,
  prompt_eval_duration: 56_686_283,
  eval_count: 12,
  eval_duration: 131_594_075,
} as const;

/** An operation of the native API. */
export function native(operation: Omit<Operation, "tag" | "error">): Operation {
  return { tag: "Ollama", error: nativeError, ...operation };
}

/** One record, or a stream of lines, the last of which can be an error. */
export function streamed(record: NamedSchema): Operation["answers"] {
  const schema = { anyOf: [record.schema, errorSchema] };
  return {
    "application/json": record,
    "application/x-ndjson": named(record.name.replace(/Record$/, "Line"), schema, record.example),
  };
}

/** Chats and generations. */
export const ollamaOperations: Operation[] = [
  native({
    id: "chat",
    method: "post",
    path: "/api/chat",
    summary: "Answer a conversation; without messages, load or unload the model.",
    body: named("ChatRequest", chatSchema, {
      model,
      messages: [{ role: "user", content: question }],
      stream: false,
    }),
    answers: streamed(named("ChatRecord", chatRecordSchema, {
      model,
      created_at,
      message: { role: "assistant", content: "Run `quern pull NAME`." },
      ...ending,
    })),
    failures: ["model", "busy", "remote"],
  }),
  native({
    id: "generate",
    method: "post",
    path: "/api/generate",
    summary: "Answer or continue a prompt; without one, load or unload the model.",
    body: named("GenerateRequest", generateSchema, { model, prompt: question, stream: false }),
    answers: streamed(named("GenerateRecord", generateRecordSchema, {
      model,
      created_at,
      response: "Run `quern pull NAME`.",
      ...ending,
    })),
    failures: ["model", "busy", "remote"],
  }),
];
