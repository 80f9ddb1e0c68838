// JSON Schemas of LM Studio's own API about models, bodies and answers, and the types that follow.
// Format: https://lmstudio.ai/docs/developer/rest

import { type BodyOf, closed, flag, harmless, integer, text } from "../../body/schema.ts";
import {
  count,
  flag as boolean,
  list,
  number,
  record,
  text as string,
  textOrNull,
  time,
} from "../openapi/answer_parts.ts";
import { streamOfOne } from "../unread_members.ts";

/** Body of POST /api/v1/models/load. */
export const lmLoadSchema = closed({
  stream: streamOfOne,
  model: text,
  context_length: { ...integer, description: "Tokens of the window. Default: the server's." },
  eval_batch_size: { ...integer, description: "Most prompt tokens per step." },
  flash_attention: harmless("attention is always computed in one piece"),
  num_experts: harmless("a model has the experts that its file says"),
  offload_kv_cache_to_gpu: harmless("keys and values are where their layers are"),
  echo_load_config: { ...flag, description: "Whether the answer tells how it was loaded." },
});

/** Body of POST /api/v1/models/unload. */
export const lmUnloadSchema = closed({
  stream: streamOfOne,
  instance_id: { ...text, description: "The name under which it was loaded." },
});

/** Body of POST /api/v1/models/download. */
export const lmDownloadSchema = closed({
  stream: streamOfOne,
  model: text,
  quantization: { ...text, description: "The tag, where the name has none." },
});

const loadConfig = record({
  context_length: { ...count, description: "Tokens of the window." },
});

const lmModel = record({
  type: { enum: ["llm", "embedding"], description: "Whether it answers, or gives vectors." },
  publisher: { ...string, description: "The namespace of its name." },
  key: { ...string, description: "Its name in requests." },
  display_name: { ...string, description: "Its name for people." },
  architecture: { ...string, description: "The architecture of its file." },
  quantization: {
    ...record({
      name: { ...string, description: "The main type of its weights." },
      bits_per_weight: { ...number, description: "Bits of the file for each weight." },
    }),
    description: "How its weights are kept.",
  },
  size_bytes: { ...count, description: "Bytes of its files." },
  params_string: { ...string, description: "Number of weights, such as 999.89M." },
  loaded_instances: {
    ...list(record({
      id: { ...string, description: "What unloads it." },
      config: { ...loadConfig, description: "How it was loaded." },
    })),
    description: "The model in memory: one at most.",
  },
  max_context_length: { ...count, description: "Tokens of the window that it was trained with." },
  format: { const: "gguf" },
  capabilities: {
    ...record({
      vision: { ...boolean, description: "Whether it reads images." },
      trained_for_tool_use: { ...boolean, description: "Whether its template has tools." },
    }),
    description: "What it can do.",
  },
  description: { ...textOrNull, description: "A line about it." },
});

export type LmModel = BodyOf<typeof lmModel>;

/** Answer of GET /api/v1/models. */
export const lmModelsSchema = record({
  models: { ...list(lmModel), description: "The models of this machine." },
});

export type LmModels = BodyOf<typeof lmModelsSchema>;

/** Answer of POST /api/v1/models/load. */
export const lmLoadedSchema = record({
  type: { enum: ["llm", "embedding"], description: "Whether it answers, or gives vectors." },
  instance_id: { ...string, description: "What unloads it." },
  load_time_seconds: { ...number, description: "How long the load took; near 0 if it was there." },
  status: { const: "loaded" },
}, { load_config: { ...loadConfig, description: "How it was loaded." } });

export type LmLoaded = BodyOf<typeof lmLoadedSchema>;

/** Answer of POST /api/v1/models/unload. */
export const lmUnloadedSchema = record({
  instance_id: { ...string, description: "What was unloaded." },
});

export type LmUnloaded = BodyOf<typeof lmUnloadedSchema>;

/** Answer of POST /api/v1/models/download, and of GET …/download/status/{job_id}. */
export const lmDownloadingSchema = record({
  status: {
    enum: ["downloading", "completed", "failed", "already_downloaded"],
    description: "How far it is.",
  },
}, {
  job_id: { ...string, description: "By which its progress is asked for." },
  total_size_bytes: { ...count, description: "Bytes of the files that are known so far." },
  downloaded_bytes: { ...count, description: "Bytes that have come." },
  started_at: { ...time, description: "When it began." },
  completed_at: { ...time, description: "When it ended well." },
  error: { ...string, description: "Why it failed." },
});

export type LmDownloading = BodyOf<typeof lmDownloadingSchema>;
