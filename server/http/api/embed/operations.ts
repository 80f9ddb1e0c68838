// The operations that turn texts into vectors.

import { native } from "../ollama/operations.ts";
import { openAiPost } from "../openai/operations.ts";
import { named, type Operation, whole } from "../openapi/operation.ts";
import {
  embedAnswerSchema,
  legacyEmbedAnswerSchema,
  openAiEmbedAnswerSchema,
  teiEmbedAnswerSchema,
} from "./answer_schema.ts";
import { embedSchema, legacyEmbedSchema, openAiEmbedSchema, teiEmbedSchema } from "./schema.ts";

/** The model of examples: the one in the box. */
const model = "quern:tiny";

/** Embeddings, of Ollama's API and of OpenAI's. */
export const embedOperations: Operation[] = [
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
  openAiPost({
    id: "teiEmbed",
    path: "/embed",
    summary: "Turn texts into vectors, as Text Embeddings Inference does.",
    parameters: [{
      name: "model",
      in: "query",
      description: "Name of the model. Default: the one that is loaded, or the only one.",
      schema: { type: "string" },
    }],
    body: named("TeiEmbedRequest", teiEmbedSchema, { model, inputs: ["one text", "another"] }),
    answers: whole("TeiEmbedAnswer", teiEmbedAnswerSchema, [[0.6, -0.8], [0.8, 0.6]]),
  }),
  openAiPost({
    id: "createEmbeddings",
    path: "/v1/embeddings",
    summary: "Turn texts or token ids into vectors.",
    body: named("EmbeddingsRequest", openAiEmbedSchema, { model, input: ["one text", "another"] }),
    answers: {
      "application/json": named("Embeddings", openAiEmbedAnswerSchema, {
        object: "list",
        data: [
          { object: "embedding", embedding: [0.6, -0.8], index: 0 },
          { object: "embedding", embedding: [0.8, 0.6], index: 1 },
        ],
        model,
        usage: { prompt_tokens: 4, total_tokens: 4 },
      }),
    },
  }),
];
