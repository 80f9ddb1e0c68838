// JSON Schemas of what is answered about models, by the native API and by those of OpenAI and
// Anthropic, and the types that follow from them.

import type { BodyOf } from "../../body/schema.ts";
import { anthropicErrorSchema } from "../anthropic/answer_schema.ts";
import { openAiErrorSchema } from "../openai/answer_schema.ts";
import {
  anyOf,
  count,
  countOrNull,
  list,
  object,
  record,
  text,
  textOrNull,
  time,
} from "../openapi/answer_parts.ts";

const details = record({
  parent_model: text,
  format: { const: "gguf" },
  family: text,
  families: list(text),
  parameter_size: { ...text, description: 'Number of weights, such as "999.89M".' },
  quantization_level: text,
  context_length: count,
  embedding_length: count,
});

/** Facts of a model. */
export type OllamaDetails = BodyOf<typeof details>;

const model = { name: text, model: text, size: count, digest: text, details } as const;

/** Members of a model on another server. */
const remote = {
  remote_model: { ...text, description: "Its name on the server that has it." },
  remote_host: { ...text, description: "The address of that server." },
} as const;

/** How a model is told of tools. */
const tools = {
  enum: ["native", "generic"],
  description:
    "How it calls tools: as its template says, or, where that has none, after a system " +
    "prompt that explains them. Missing where it calls none.",
} as const;

export type ToolKind = BodyOf<typeof tools>;

const tag = record(
  { ...model, modified_at: time, capabilities: list(text) },
  { ...remote, tools },
);

/** A model of the machine. */
export type OllamaTag = BodyOf<typeof tag>;

/** Answer of GET /api/tags. */
export const tagsSchema = record({ models: list(tag) });

export type OllamaTags = BodyOf<typeof tagsSchema>;

/** Answer of POST /api/tokenize. */
export const tokenizeAnswerSchema = record({
  model: text,
  tokens: list(record({
    id: count,
    text,
    bytes: {
      ...list({ type: "integer", minimum: 0, maximum: 255 }),
      description: "Of the token: tokens may begin and end within a character.",
    },
  })),
});

export type OllamaTokens = BodyOf<typeof tokenizeAnswerSchema>;

const bytes = { ...count, description: "Bytes." } as const;

/** Answer of POST /api/plan. */
export const planAnswerSchema = record({
  model: text,
  weights: bytes,
  kv_cache: bytes,
  scratch: bytes,
  context_length: { ...count, description: "The window that the model would have." },
  is_shrunk: {
    type: "boolean",
    description: "Whether the window would be larger if there were more memory.",
  },
}, {
  total: { ...bytes, description: "Bytes that there are for all models; missing where unlimited." },
  on_cpu: { ...bytes, description: "Bytes of it beside a GPU, in the system's memory." },
  system_total: { ...bytes, description: "Bytes that the system has beside a GPU." },
});

export type OllamaPlan = BodyOf<typeof planAnswerSchema>;

const process = record({ ...model, expires_at: time, size_vram: count, context_length: count }, {
  loading: {
    ...record({ completed: count, total: count }),
    description: "Bytes of the weights that are on the GPU, while it is being loaded.",
  },
  refused_device: {
    ...record({ name: text, faults: list(text) }),
    description: "A device that is not used for it, and what it computes otherwise than the CPU.",
  },
});

/** A model in memory. */
export type OllamaProcess = BodyOf<typeof process>;

/** Answer of GET /api/ps. */
export const psSchema = record({ models: list(process) }, {
  busy_workers: {
    ...list(record({ model: text, since: time })),
    description: "Workers that do not answer; missing where all do.",
  },
});

export type OllamaProcesses = BodyOf<typeof psSchema>;

const header = { ...object, description: "Metadata of the GGUF file." } as const;

/** Answer of POST /api/show. */
export const showAnswerSchema = record({
  modelfile: text,
  details,
  capabilities: list(text),
  modified_at: time,
}, {
  license: text,
  kv_cache_type: {
    ...text,
    description: "What keys and values are in the KV cache, as in OLLAMA_KV_CACHE_TYPE.",
  },
  parameters: { ...text, description: "A line per value." },
  template: text,
  template_language: {
    enum: ["go"],
    description: "Quern's own: there if a template in Go's language is used, not that of the file.",
  },
  system: text,
  renderer: text,
  parser: text,
  messages: list(record({ role: text, content: text })),
  ...remote,
  model_info: header,
  projector_info: header,
  draft_info: { ...object, description: "Quern's own: metadata of the draft model's file." },
  tools,
  tensors: list(record({ name: text, type: text, shape: list(count) })),
  requires: text,
  files: {
    ...list(record({
      kind: {
        enum: ["model", "projector", "draft", "adapter", "control_vector"],
        description: "What the load takes it for.",
      },
      digest: { ...text, description: "By which GET /api/blobs/{digest} gives the file." },
      size: { ...count, description: "Bytes." },
    })),
    description: "Quern's own: the files from which the model is loaded.",
  },
});

export type OllamaShow = BodyOf<typeof showAnswerSchema>;

/** How far a create, pull or push is; the last record's status is "success". */
export const progressSchema = record({ status: text }, {
  digest: text,
  total: { ...count, description: "Bytes." },
  completed: { ...count, description: "Bytes." },
});

export type OllamaProgress = BodyOf<typeof progressSchema>;

/** What people are told of a model in a list. */
const described = {
  display_name: text,
  description: { ...text, description: "A line for people who choose a model." },
} as const;

const openAiModel = record({
  id: text,
  object: { const: "model" },
  created: { ...count, description: "Seconds since 1970." },
  owned_by: { ...text, description: "The namespace of its name." },
  ...described,
  capabilities: list(text),
  meta: {
    ...record({
      n_ctx_train: { ...count, description: "Tokens of the window that it was trained with." },
      n_embd: { ...count, description: "Width of the embeddings." },
      n_params: { ...count, description: "Number of weights." },
      size: { ...count, description: "Bytes of its files." },
    }, {
      n_ctx: {
        ...count,
        description:
          "Tokens of the window that a request gets: of the loaded model, or of what a " +
          "load would give. Missing where that is not known, and where it does not fit.",
      },
      n_vocab: { ...count, description: "Tokens of its vocabulary." },
    }),
    description: "As llama-server has it.",
  },
  status: {
    ...record({
      value: {
        enum: ["loaded", "loading", "unloaded"],
        description: "Whether the model is in memory.",
      },
    }),
    description: "As llama-server's router has it.",
  },
}, { tools });

/** A model for OpenAI's clients. */
export type OpenAiModel = BodyOf<typeof openAiModel>;

const anthropicModel = record({
  type: { const: "model" },
  id: text,
  ...described,
  created_at: time,
  max_input_tokens: {
    ...countOrNull,
    description: "The window that a request gets; null where that is not known.",
  },
});

/** A model for Anthropic's clients. */
export type AnthropicModel = BodyOf<typeof anthropicModel>;

/** Answer of GET /v1/models/{model}; the second to clients that send anthropic-version. */
export const vendorModelSchema = anyOf(openAiModel, anthropicModel);

const openAiModels = record({ object: { const: "list" }, data: list(openAiModel) });

export type OpenAiModels = BodyOf<typeof openAiModels>;

const anthropicModels = record({
  data: list(anthropicModel),
  has_more: { const: false },
  first_id: textOrNull,
  last_id: textOrNull,
});

export type AnthropicModels = BodyOf<typeof anthropicModels>;

/** Answer of GET /v1/models. */
export const vendorModelsSchema = anyOf(openAiModels, anthropicModels);

/** An error of those two paths. */
export const vendorErrorSchema = anyOf(openAiErrorSchema, anthropicErrorSchema);
