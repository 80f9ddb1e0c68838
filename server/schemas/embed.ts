// JSON Schemas of the bodies of embedding requests, native and OpenAI's. As in ollama.ts they fix
// types only; `input` has messages of its own, so it is checked where it is read.

const text = { type: ["string", "null"] };
const dimensions = { type: ["integer", "null"], minimum: 0 };

/** Members that all of them share, those of Ollama on OpenAI's path included. */
const common = {
  model: text,
  options: {
    type: ["object", "null"],
    properties: { num_ctx: { type: ["integer", "null"] } },
  },
  keep_alive: { type: ["string", "number", "null"] },
  truncate: { type: ["boolean", "null"] },
};

/** Body of POST /api/embed. */
export const embedSchema = { type: "object", properties: { ...common, dimensions } };

/** Body of POST /api/embeddings. */
export const legacyEmbedSchema = { type: "object", properties: { ...common, prompt: text } };

/** Body of POST /v1/embeddings. */
export const openAiEmbedSchema = {
  type: "object",
  properties: { ...common, dimensions, encoding_format: text },
};
