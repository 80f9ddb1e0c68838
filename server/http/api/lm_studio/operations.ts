// The operations of LM Studio's API about models.

import { openAiErrors } from "../openai/operations.ts";
import { named, type Operation, whole } from "../openapi/operation.ts";
import {
  lmDownloadingSchema,
  lmDownloadSchema,
  lmLoadedSchema,
  lmLoadSchema,
  lmModelsSchema,
  lmUnloadedSchema,
  lmUnloadSchema,
} from "./schema.ts";

const model = "quern:tiny";

const downloading = whole("LmDownloading", lmDownloadingSchema, {
  job_id: "job_0123456789ab",
  status: "downloading",
  total_size_bytes: 5_640_032,
  downloaded_bytes: 1_000_000,
  started_at: "2026-11-23T09:00:00.123Z",
});

function ofLmStudio(operation: Omit<Operation, "tag" | "error">): Operation {
  return { tag: "LM Studio", error: openAiErrors, ...operation };
}

/** LM Studio's routes about models. */
export const lmStudioOperations: Operation[] = [
  ofLmStudio({
    id: "lmListModels",
    method: "get",
    path: "/api/v1/models",
    summary: "List the models of this machine, and which of them are in memory.",
    answers: whole("LmModels", lmModelsSchema, {
      models: [{
        type: "llm",
        publisher: "quern",
        key: model,
        display_name: model,
        architecture: "llama",
        quantization: { name: "Q8_0", bits_per_weight: 8.7 },
        size_bytes: 5_640_032,
        params_string: "5.18M",
        loaded_instances: [{ id: model, config: { context_length: 2048 } }],
        max_context_length: 2048,
        format: "gguf",
        capabilities: { vision: false, trained_for_tool_use: true },
        description: null,
      }],
    }),
  }),
  ofLmStudio({
    id: "lmLoadModel",
    method: "post",
    path: "/api/v1/models/load",
    summary: "Load a model, which then stays in memory until it is unloaded.",
    body: named("LmLoadRequest", lmLoadSchema, { model, context_length: 2048 }),
    answers: whole("LmLoaded", lmLoadedSchema, {
      type: "llm",
      instance_id: model,
      load_time_seconds: 0.4,
      status: "loaded",
    }),
    failures: ["model", "busy"],
  }),
  ofLmStudio({
    id: "lmUnloadModel",
    method: "post",
    path: "/api/v1/models/unload",
    summary: "Take a model out of memory as soon as nobody uses it.",
    body: named("LmUnloadRequest", lmUnloadSchema, { instance_id: model }),
    answers: whole("LmUnloaded", lmUnloadedSchema, { instance_id: model }),
    failures: ["model"],
  }),
  ofLmStudio({
    id: "lmDownloadModel",
    method: "post",
    path: "/api/v1/models/download",
    summary: "Begin to fetch a model from a registry.",
    body: named("LmDownloadRequest", lmDownloadSchema, { model }),
    answers: downloading,
  }),
  ofLmStudio({
    id: "lmDownloadStatus",
    method: "get",
    path: "/api/v1/models/download/status/{job_id}",
    summary: "Tell how far such a download is.",
    answers: downloading,
    failures: ["job"],
  }),
];
