// The operations of the native API by which models are kept: shown, made, named, fetched, removed.

import { progressSchema, showAnswerSchema } from "./answer_schema.ts";
import { copySchema, createSchema, deleteSchema, showSchema, transferSchema } from "./schema.ts";
import { native, streamed, whole } from "../ollama/operations.ts";
import { named, type Operation } from "../openapi/operation.ts";

/** The model of examples that fetch one, and another name for the one in the box. */
const model = "gemma3:1b";
const other = "helper";

const transfer = named("TransferRequest", transferSchema, { model, stream: false });
const progress = streamed(named("ProgressRecord", progressSchema, { status: "success" }));

/** Keeping models. */
export const modelOperations: Operation[] = [
  native({
    id: "showModel",
    method: "post",
    path: "/api/show",
    summary: "Show what is known of a model.",
    body: named("ShowRequest", showSchema, { model: "quern:tiny" }),
    answers: whole("ShowAnswer", showAnswerSchema, {
      modelfile: "FROM quern:tiny\n",
      template: "{% for message in messages %}…{% endfor %}",
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
      capabilities: ["completion", "tools", "thinking"],
      modified_at: "2026-11-23T09:00:00.123Z",
      model_info: { "general.architecture": "llama" },
    }),
    failures: ["model"],
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
    id: "uploadBlob",
    method: "post",
    path: "/api/blobs/{digest}",
    summary: "Upload a blob.",
    successes: { 200: "It was there already.", 201: "It is there now." },
    isUpload: true,
    answers: {},
    failures: ["disk"],
  }),
];
