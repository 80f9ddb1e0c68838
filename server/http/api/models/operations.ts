// The operations by which models are listed, shown, created, copied, pulled, pushed and removed:
// those of the native API, and the lists that clients of OpenAI and Anthropic request on the same
// paths.

import { native, streamed } from "../ollama/operations.ts";
import { openAiError } from "../openai/errors.ts";
import { openAiErrors } from "../openai/operations.ts";
import {
  type ErrorSchema,
  named,
  type Operation,
  type Parameter,
  whole,
} from "../openapi/operation.ts";
import {
  type OpenAiModel,
  planAnswerSchema,
  progressSchema,
  psSchema,
  showAnswerSchema,
  tagsSchema,
  tokenizeAnswerSchema,
  vendorErrorSchema,
  vendorModelSchema,
  vendorModelsSchema,
} from "./answer_schema.ts";
import {
  copySchema,
  createSchema,
  deleteSchema,
  planSchema,
  showSchema,
  tokenizeSchema,
  transferSchema,
} from "./schema.ts";

/** The model in the box, and what an example tells of it. */
const tiny = "quern:tiny";
const at = "2026-11-23T09:00:00.123Z";
const facts = {
  name: tiny,
  model: tiny,
  size: 5_640_032,
  digest: "0".repeat(64),
  details: {
    parent_model: "",
    format: "gguf" as const,
    family: "llama",
    families: ["llama"],
    parameter_size: "5.18M",
    quantization_level: "Q8_0",
    context_length: 2048,
    embedding_length: 256,
  },
};
const openAiModel: OpenAiModel = {
  id: tiny,
  object: "model",
  created: 1_795_413_005,
  owned_by: "library",
  display_name: tiny,
  description: "llama, 5.18M weights in Q8_0: completion, tools, thinking",
  capabilities: ["completion", "tools", "thinking"],
  meta: {
    n_ctx: 2048,
    n_ctx_train: 2048,
    n_embd: 256,
    n_vocab: 3072,
    n_params: 5_180_000,
    size: 5_640_032,
  },
  status: { value: "unloaded" },
};

/** The model that examples pull, and another name for the model in the box. */
const model = "gemma3:1b";
const other = "helper";

const transfer = named("TransferRequest", transferSchema, { model, stream: false });
const progress = streamed(named("ProgressRecord", progressSchema, { status: "success" }));

const vendorError: ErrorSchema = {
  ...openAiErrors,
  ...named("VendorError", vendorErrorSchema, openAiError(400, "model is required")),
};

const VERSION_HEADER: Parameter = {
  name: "anthropic-version",
  in: "header",
  description: "Asks for Anthropic's form.",
  schema: { type: "string" },
};

function list(operation: Pick<Operation, "id" | "path" | "summary" | "failures" | "answers">) {
  return {
    tag: "OpenAI and Anthropic",
    error: vendorError,
    method: "get",
    parameters: [VERSION_HEADER],
    ...operation,
  } satisfies Operation;
}

/** The models of this machine, and keeping them. */
export const modelOperations: Operation[] = [
  native({
    id: "listModels",
    method: "get",
    path: "/api/tags",
    summary: "List the models of this machine.",
    answers: whole("Tags", tagsSchema, {
      models: [{
        ...facts,
        modified_at: at,
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
      models: [{ ...facts, expires_at: at, size_vram: 13_908_464, context_length: 2048 }],
    }),
  }),
  native({
    id: "showModel",
    method: "post",
    path: "/api/show",
    summary: "Show what is known of a model.",
    body: named("ShowRequest", showSchema, { model: "quern:tiny" }),
    answers: whole("ShowAnswer", showAnswerSchema, {
      modelfile: "FROM quern:tiny\n",
      template: "{% for message in messages %}…{% endfor %}",
      details: facts.details,
      capabilities: ["completion", "tools", "thinking"],
      modified_at: at,
      model_info: { "general.architecture": "llama" },
    }),
    failures: ["model"],
  }),
  native({
    id: "planLoad",
    method: "post",
    path: "/api/plan",
    summary: "Tell what a model would take of memory if it were loaded, which it is not.",
    body: named("PlanRequest", planSchema, { model: tiny, options: { num_ctx: 2048 } }),
    answers: whole("PlanAnswer", planAnswerSchema, {
      model: tiny,
      weights: 5_800_000,
      kv_cache: 6_300_000,
      scratch: 1_700_000,
      context_length: 2048,
      is_shrunk: false,
      total: 8_000_000_000,
    }),
    failures: ["model", "busy"],
  }),
  native({
    id: "tokenize",
    method: "post",
    path: "/api/tokenize",
    summary: "Split a text into the tokens of a model, which is loaded for that.",
    body: named("TokenizeRequest", tokenizeSchema, { model: tiny, text: "Hi" }),
    answers: whole("TokenizeAnswer", tokenizeAnswerSchema, {
      model: tiny,
      tokens: [{ id: 72, text: "Hi", bytes: [72, 105] }],
    }),
    failures: ["model", "busy"],
  }),
  native({
    id: "createModel",
    method: "post",
    path: "/api/create",
    summary: "Make a model from another one, or from uploaded files.",
    body: named("CreateRequest", createSchema, {
      model: other,
      from: "quern:tiny",
      system: "Answer in one sentence.",
      stream: false,
    }),
    answers: progress,
    failures: ["model", "disk"],
  }),
  native({
    id: "copyModel",
    method: "post",
    path: "/api/copy",
    summary: "Give a model another name as well.",
    body: named("CopyRequest", copySchema, { source: "quern:tiny", destination: other }),
    answers: {},
    failures: ["model", "disk"],
  }),
  native({
    id: "deleteModel",
    method: "delete",
    path: "/api/delete",
    summary: "Remove a model.",
    body: named("DeleteRequest", deleteSchema, { model: other }),
    answers: {},
    failures: ["model"],
  }),
  native({
    id: "pullModel",
    method: "post",
    path: "/api/pull",
    summary: "Fetch a model from a registry.",
    body: transfer,
    answers: progress,
    failures: ["model", "registry", "disk"],
  }),
  native({
    id: "pushModel",
    method: "post",
    path: "/api/push",
    summary: "Send a model to a registry.",
    body: transfer,
    answers: progress,
    failures: ["model", "registry"],
  }),
  native({
    id: "hasBlob",
    method: "head",
    path: "/api/blobs/{digest}",
    summary: "Tell whether a blob is there.",
    answers: {},
    failures: ["blob"],
  }),
  native({
    id: "downloadBlob",
    path: "/api/blobs/{digest}",
    method: "get",
    summary:
      "Fetch a blob, or a range of its bytes: the files of a model, as /api/show names them.",
    successes: { 200: "All of it.", 206: "The bytes of the header `range`." },
    answers: {
      "application/octet-stream": named("Blob", { type: "string", format: "binary" }, ""),
    },
    failures: ["blob"],
  }),
  native({
    id: "uploadBlob",
    method: "post",
    path: "/api/blobs/{digest}",
    summary: "Upload a blob.",
    successes: { 200: "It was there already.", 201: "It is there now." },
    isUpload: true,
    answers: {},
    failures: ["disk"],
  }),
  list({
    id: "listModelsOfVendors",
    path: "/v1/models",
    summary: "List the models of this machine.",
    answers: {
      "application/json": named("VendorModels", vendorModelsSchema, {
        object: "list",
        data: [openAiModel],
      }),
    },
  }),
  list({
    id: "retrieveModel",
    path: "/v1/models/{model}",
    summary: "Tell of one model.",
    answers: { "application/json": named("VendorModel", vendorModelSchema, openAiModel) },
    failures: ["model"],
  }),
];
