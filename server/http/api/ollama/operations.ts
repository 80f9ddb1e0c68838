// The operations of the native API (https://github.com/ollama/ollama/blob/main/docs/api.md) and of
// those who run the server.

import {
  chatRecordSchema,
  embedAnswerSchema,
  errorSchema,
  generateRecordSchema,
  healthSchema,
  legacyEmbedAnswerSchema,
  psSchema,
  statusSchema,
  tagsSchema,
  versionSchema,
} from "./answer_schema.ts";
import { embedSchema, legacyEmbedSchema } from "../embed/schema.ts";
import { chatSchema, generateSchema } from "./schema.ts";
import { type ErrorSchema, named, type NamedSchema, type Operation } from "../openapi/operation.ts";

const error: ErrorSchema = {
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
};

/** What an example tells of the model. */
const facts = {
  name: model,
  model,
  size: 5_640_032,
  digest: "0".repeat(64),
  details: {
    parent_model: "",
    format: "gguf",
    family: "llama",
    families: ["llama"],
    parameter_size: "5.18M",
    quantization_level: "Q8_0",
    context_length: 2048,
    embedding_length: 256,
  },
};

/** An operation of the native API. */
export function native(operation: Omit<Operation, "tag" | "error">): Operation {
  return { tag: "Ollama", error, ...operation };
}

function ofServer(operation: Omit<Operation, "tag" | "error" | "method">): Operation {
  return { tag: "Operations", error, method: "get", ...operation };
}

/** One record, or lines of them; a stream that fails says so in its last line. */
export function streamed(record: NamedSchema): Operation["answers"] {
  const schema = { anyOf: [record.schema, errorSchema] };
  return {
    "application/json": record,
    "application/x-ndjson": named(record.name.replace(/Record$/, "Line"), schema, record.example),
  };
}

/** One JSON value. */
export function whole(name: string, schema: object, example: unknown): Operation["answers"] {
  return { "application/json": named(name, schema, example) };
}

/** A text that is no JSON. */
function plain(name: string, example: string): Operation["answers"] {
  return { "text/plain": named(name, { type: "string" }, example) };
}

/** The native API. */
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
  native({
    id: "embed",
    method: "post",
    path: "/api/embed",
    summary: "Turn texts into vectors.",
    body: named("EmbedRequest", embedSchema, { model, input: ["one text", "another"] }),
    answers: whole("EmbedAnswer", embedAnswerSchema, {
      model,
      embeddings: [[0.6, -0.8], [0.8, 0.6]],
      total_duration: 14_143_917,
      load_duration: 1_019_500,
      prompt_eval_count: 4,
    }),
    failures: ["model", "busy", "remote"],
  }),
  native({
    id: "embedOne",
    method: "post",
    path: "/api/embeddings",
    summary: "Turn one text into a vector; the older form of /api/embed.",
    body: named("LegacyEmbedRequest", legacyEmbedSchema, { model, prompt: "one text" }),
    answers: whole("LegacyEmbedAnswer", legacyEmbedAnswerSchema, { embedding: [0.6, -0.8] }),
    failures: ["model", "busy", "remote"],
  }),
  native({
    id: "listModels",
    method: "get",
    path: "/api/tags",
    summary: "List the models of this machine.",
    answers: whole("Tags", tagsSchema, {
      models: [{
        ...facts,
        modified_at: created_at,
        capabilities: ["completion", "tools", "thinking"],
      }],
    }),
  }),
  native({
    id: "listRunningModels",
    method: "get",
    path: "/api/ps",
    summary: "List the models in memory.",
    answers: whole("Processes", psSchema, {
      models: [{ ...facts, expires_at: created_at, size_vram: 13_908_464, context_length: 2048 }],
    }),
  }),
  native({
    id: "getVersion",
    method: "get",
    path: "/api/version",
    summary: "Tell the version of Ollama's API, and the server's own.",
    answers: whole("Version", versionSchema, { version: "0.34.0", quern_version: "0.1.0" }),
  }),
  native({
    id: "getStatus",
    method: "get",
    path: "/api/status",
    summary: "Tell whether models run elsewhere.",
    answers: whole("Status", statusSchema, { cloud: { disabled: true, source: "config" } }),
  }),
];

/** What those use who run the server. */
export const serverOperations: Operation[] = [
  ofServer({
    id: "getRoot",
    path: "/",
    summary: "Say that the server runs; to a browser, what it is and where to go.",
    answers: {
      ...plain("Greeting", "Ollama is running"),
      "text/html": named("Page", { type: "string" }, "<!DOCTYPE html>"),
    },
    isOpen: true,
  }),
  ofServer({
    id: "getHealth",
    path: "/health",
    summary: "Tell whether the server takes requests; 503 while it shuts down.",
    answers: whole("Health", healthSchema, { status: "ok", version: "0.1.0" }),
    failures: ["busy"],
    otherErrors: {
      503: named("Health", healthSchema, { status: "shutting down", version: "0.1.0" }),
    },
    isOpen: true,
  }),
  ofServer({
    id: "getMetrics",
    path: "/metrics",
    summary: "What the server counts and measures, for Prometheus.",
    answers: plain("Metrics", "quern_queue_length 0\n"),
  }),
  ofServer({
    id: "getOpenApi",
    path: "/openapi.json",
    summary: "This document.",
    answers: whole("Document", {
      type: "object",
      required: ["openapi", "info", "paths"],
      properties: {
        openapi: { type: "string" },
        info: { type: "object" },
        paths: { type: "object" },
      },
    }, { openapi: "3.1.1", info: {}, paths: {} }),
  }),
];
