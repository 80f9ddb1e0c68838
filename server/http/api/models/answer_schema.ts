// JSON Schemas of what the native API answers about keeping models. Closed, as those in ollama.ts are.

import { details } from "../ollama/answer_schema.ts";
import { record } from "../openapi/answer_parts.ts";

const text = { type: "string" };
const texts = { type: "array", items: text };
const count = { type: "integer", minimum: 0 };
const header = { type: "object", description: "Metadata of the GGUF file." };

/** Answer of POST /api/show. */
export const showAnswerSchema = record({
  modelfile: text,
  details,
  capabilities: texts,
  modified_at: { type: "string", format: "date-time" },
}, {
  license: text,
  parameters: text,
  template: text,
  system: text,
  renderer: text,
  parser: text,
  messages: { type: "array", items: record({ role: text, content: text }) },
  remote_model: text,
  remote_host: text,
  model_info: header,
  projector_info: header,
  tensors: {
    type: "array",
    items: record({ name: text, type: text, shape: { type: "array", items: count } }),
  },
  requires: text,
});

/** How far a create, pull or push is; the last record's status is "success". */
export const progressSchema = record({ status: text }, {
  digest: text,
  total: { ...count, description: "Bytes." },
  completed: { ...count, description: "Bytes." },
});
