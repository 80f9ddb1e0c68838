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
} from "../schemas/answers/ollama.ts";
import { embedSchema, legacyEmbedSchema } from "../schemas/embed.ts";
import { chatSchema, generateSchema } from "../schemas/ollama.ts";
import { named, type NamedSchema, type Operation } from "./operation.ts";

const error = named("Error", errorSchema);
const plainText = named("Text", { type: "string" });

/** An operation of the native API. */
export function native(operation: Omit<Operation, "tag" | "error">): Operation {
  return { tag: "Ollama", error, ...operation };
}

function ofServer(
  operation: Omit<Operation, "tag" | "error" | "method"> & { error?: NamedSchema },
): Operation {
  return { tag: "Operations", error, method: "get", ...operation };
}

/** One record, or lines of them; a stream that fails says so in its last line. */
export function streamed(record: NamedSchema): Operation["answers"] {
  const schema = { anyOf: [record.schema, errorSchema] };
  return {
    "application/json": record,
    "application/x-ndjson": named(record.name.replace(/Record$/, "Line"), schema),
  };
}

/** One JSON value. */
export function whole(name: string, schema: object): Operation["answers"] {
  return { "application/json": named(name, schema) };
}

/** The native API. */
export const ollamaOperations: Operation[] = [
  native({
    method: "post",
    path: "/api/chat",
    summary: "Answer a conversation; without messages, load or unload the model.",
    body: named("ChatRequest", chatSchema),
    answers: streamed(named("ChatRecord", chatRecordSchema)),
  }),
  native({
    method: "post",
    path: "/api/generate",
    summary: "Answer or continue a prompt; without one, load or unload the model.",
    body: named("GenerateRequest", generateSchema),
    answers: streamed(named("GenerateRecord", generateRecordSchema)),
  }),
  native({
    method: "post",
    path: "/api/embed",
    summary: "Turn texts into vectors.",
    body: named("EmbedRequest", embedSchema),
    answers: whole("EmbedAnswer", embedAnswerSchema),
  }),
  native({
    method: "post",
    path: "/api/embeddings",
    summary: "Turn one text into a vector; the older form of /api/embed.",
    body: named("LegacyEmbedRequest", legacyEmbedSchema),
    answers: whole("LegacyEmbedAnswer", legacyEmbedAnswerSchema),
  }),
  native({
    method: "get",
    path: "/api/tags",
    summary: "List the models of this machine.",
    answers: whole("Tags", tagsSchema),
  }),
  native({
    method: "get",
    path: "/api/ps",
    summary: "List the models in memory.",
    answers: whole("Processes", psSchema),
  }),
  native({
    method: "get",
    path: "/api/version",
    summary: "Tell the version of Ollama's API, and the server's own.",
    answers: whole("Version", versionSchema),
  }),
  native({
    method: "get",
    path: "/api/status",
    summary: "Tell whether models run elsewhere, which they never do here.",
    answers: whole("Status", statusSchema),
  }),
];

/** What those use who run the server. */
export const serverOperations: Operation[] = [
  ofServer({
    path: "/",
    summary: "Say that the server runs.",
    answers: { "text/plain": plainText },
    isOpen: true,
  }),
  ofServer({
    path: "/health",
    summary: "Tell whether the server takes requests; 503 while it shuts down.",
    answers: whole("Health", healthSchema),
    error: named("Health", healthSchema),
    isOpen: true,
  }),
  ofServer({
    path: "/metrics",
    summary: "What the server counts and measures, for Prometheus.",
    answers: { "text/plain": plainText },
  }),
  ofServer({
    path: "/openapi.json",
    summary: "This document.",
    answers: whole("Document", { type: "object", required: ["openapi", "info", "paths"] }),
  }),
];
