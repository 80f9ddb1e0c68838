// JSON Schemas of the bodies of embedding requests, native and OpenAI's. As in ollama.ts they fix
// types only; `input` has messages of its own, so it is checked where it is read.

import { options } from "../options.ts";

const text = { type: ["string", "null"] };
const texts = { description: "A text, or an array of texts." };
const inputs = { description: "A text, an array of texts, token ids, or an array of those." };
const dimensions = { type: ["integer", "null"], minimum: 0 };

/** Members that all of them share, those of Ollama on OpenAI's path included. */
const common = {
  model: text,
  options,
  keep_alive: { type: ["string", "number", "null"] },
  truncate: { type: ["boolean", "null"] },
};

/** Body of POST /api/embed. */
export const embedSchema = {
  type: "object",
  properties: { ...common, input: texts, dimensions },
};

/** Body of POST /api/embeddings. */
export const legacyEmbedSchema = { type: "object", properties: { ...common, prompt: text } };

/** Body of POST /v1/embeddings. */
export const openAiEmbedSchema = {
  type: "object",
  properties: { ...common, input: inputs, dimensions, encoding_format: text },
};
