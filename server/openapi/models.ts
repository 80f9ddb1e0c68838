// The operations of the native API by which models are kept: shown, made, named, fetched, removed.

import { progressSchema, showAnswerSchema } from "../schemas/answers/models.ts";
import {
  copySchema,
  createSchema,
  deleteSchema,
  showSchema,
  transferSchema,
} from "../schemas/models.ts";
import { native, streamed, whole } from "./ollama.ts";
import { named, type Operation } from "./operation.ts";

const transfer = named("TransferRequest", transferSchema);
const progress = streamed(named("ProgressRecord", progressSchema));

/** Keeping models. */
export const modelOperations: Operation[] = [
  native({
    method: "post",
    path: "/api/show",
    summary: "Show what is known of a model.",
    body: named("ShowRequest", showSchema),
    answers: whole("ShowAnswer", showAnswerSchema),
  }),
  native({
    method: "post",
    path: "/api/create",
    summary: "Make a model from another one, or from uploaded files.",
    body: named("CreateRequest", createSchema),
    answers: progress,
  }),
  native({
    method: "post",
    path: "/api/copy",
    summary: "Give a model another name as well.",
    body: named("CopyRequest", copySchema),
    answers: {},
  }),
  native({
    method: "delete",
    path: "/api/delete",
    summary: "Remove a model.",
    body: named("DeleteRequest", deleteSchema),
    answers: {},
  }),
  native({
    method: "post",
    path: "/api/pull",
    summary: "Fetch a model from a registry.",
    body: transfer,
    answers: progress,
  }),
  native({
    method: "post",
    path: "/api/push",
    summary: "Send a model to a registry.",
    body: transfer,
    answers: progress,
  }),
  native({
    method: "head",
    path: "/api/blobs/{digest}",
    summary: "Tell whether a blob is there; 404 if it is not.",
    answers: {},
  }),
  native({
    method: "post",
    path: "/api/blobs/{digest}",
    summary: "Upload a blob; 201 if it is new.",
    isUpload: true,
    answers: {},
  }),
];
