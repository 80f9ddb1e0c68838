// The operations about the server itself.

import { native, nativeError as error } from "../ollama/operations.ts";
import { named, type Operation, whole } from "../openapi/operation.ts";
import {
  answeringSchema,
  cacheSchema,
  doctorSchema,
  healthSchema,
  pageLibrarySchema,
  requestsSchema,
  statusSchema,
  usageSchema,
  versionSchema,
} from "./answer_schema.ts";

function ofServer(operation: Omit<Operation, "tag" | "error" | "method">): Operation {
  return { tag: "Operations", error, method: "get", ...operation };
}

/** A text that is no JSON. */
function plain(name: string, example: string): Operation["answers"] {
  return { "text/plain": named(name, { type: "string" }, example) };
}

/** The operations about the server. */
export const serverOperations: Operation[] = [
  ofServer({
    id: "getRoot",
    path: "/",
    summary: "Say that the server runs; to a browser, a page to talk with models.",
    answers: {
      ...plain("Greeting", "Ollama is running"),
      "text/html": named("Page", { type: "string" }, "<!DOCTYPE html>"),
    },
    isOpen: true,
  }),
  ofServer({
    id: "getExplorer",
    path: "/docs",
    summary: "A page that shows this API and sends requests to it.",
    answers: { "text/html": named("Explorer", { type: "string" }, "<!DOCTYPE html>") },
    isOpen: true,
  }),
  ofServer({
    id: "getGuide",
    path: "/docs/guide",
    summary: "The documentation: a list of its pages.",
    answers: { "text/html": named("Guide", { type: "string" }, "<!DOCTYPE html>") },
    isOpen: true,
  }),
  ofServer({
    id: "getGuidePage",
    path: "/docs/guide/{name}",
    summary: "A page of the documentation, such as getting-started.",
    answers: { "text/html": named("GuidePage", { type: "string" }, "<!DOCTYPE html>") },
    failures: ["file"],
    isOpen: true,
  }),
  ofServer({
    id: "getPageLibrary",
    path: "/web/library",
    summary: "Tell whether the server has the library with which pages run models themselves.",
    answers: whole("PageLibrary", pageLibrarySchema, { built: true }),
    isOpen: true,
  }),
  ofServer({
    id: "getPageFile",
    path: "/web/{name}",
    summary: "A file of these pages.",
    answers: {
      "text/javascript": named("Script", { type: "string" }, ""),
      "text/css": named("Style", { type: "string" }, ""),
      "image/svg+xml": named("Icon", { type: "string" }, "<svg/>"),
    },
    failures: ["file"],
    isOpen: true,
  }),
  ofServer({
    id: "getLibraryFile",
    path: "/web/library/{name}",
    summary: "A file of the library that runs a model in the page, where it was built.",
    answers: { "text/javascript": named("LibraryScript", { type: "string" }, "") },
    failures: ["file"],
    isOpen: true,
  }),
  ofServer({
    id: "getHealth",
    path: "/health",
    summary: "Tell whether the server takes requests; 503 while it shuts down.",
    answers: whole("Health", healthSchema, { status: "ok", version: "0.1.0" }),
    failures: ["busy"],
    otherErrors: {
      503: named("Health", healthSchema, { status: "shutting down", version: "0.1.0" }),
    },
    isOpen: true,
  }),
  ofServer({
    id: "getReadiness",
    path: "/health/ready",
    summary: "Tell whether the server takes requests and has the models of QUERN_PRELOAD.",
    answers: whole("Health", healthSchema, { status: "ok", version: "0.1.0" }),
    failures: ["busy"],
    otherErrors: {
      503: named("Health", healthSchema, { status: "loading models", version: "0.1.0" }),
    },
    isOpen: true,
  }),
  ofServer({
    id: "getLiveness",
    path: "/health/live",
    summary: "Tell that the server answers at all, also while it shuts down: a probe of liveness.",
    answers: whole("Health", healthSchema, { status: "ok", version: "0.1.0" }),
    isOpen: true,
  }),
  ofServer({
    id: "getMetrics",
    path: "/metrics",
    summary: "What the server counts and measures, for Prometheus.",
    answers: {
      ...plain("Metrics", "quern_queue_length 0\n"),
      "application/openmetrics-text": named(
        "OpenMetrics",
        { type: "string" },
        "# TYPE quern_queue_length gauge\nquern_queue_length 0\n# EOF\n",
      ),
    },
  }),
  {
    ...ofServer({
      id: "answerNow",
      path: "/api/requests/{id}/answer",
      summary: "Have a running request end its thinking and answer now. Its id is the header " +
        "x-request-id of its response, which the request may choose by the same header.",
      answers: whole("Answering", answeringSchema, { id: "my-request-1" }),
      failures: ["request"],
    }),
    method: "post",
  },
  ofServer({
    id: "getRequests",
    path: "/api/requests",
    summary: "The last requests to models and what they took; never what was said.",
    answers: whole("Requests", requestsSchema, {
      requests: [{
        at: "2026-11-23T09:00:00.123Z",
        method: "POST",
        path: "/api/chat",
        status: 200,
        model: "quern:tiny",
        seconds: 0.22,
        completion_tokens: 12,
      }],
    }),
  }),
  ofServer({
    id: "getUsage",
    path: "/api/usage",
    summary:
      "What the keys have used since the server began: the key of the request, or all keys " +
      "where it is that of QUERN_API_KEY. Without keys the list is empty.",
    answers: whole("Usage", usageSchema, {
      since: "2026-11-23T09:00:00.123Z",
      keys: [{
        name: "alice",
        requests: 2,
        refused: 0,
        prompt_tokens: 40,
        cached_tokens: 12,
        completion_tokens: 64,
        limits: [{ kind: "tokens", per_minute: 10_000, remaining: 9908 }],
      }],
    }),
  }),
  ofServer({
    id: "getCache",
    path: "/api/cache",
    summary: "What the caches of the loaded models hold, by conversation, and which place of its " +
      "prompt cost each the rest. It has beginnings of what was said.",
    answers: whole("CacheContents", cacheSchema, {
      models: [{
        model: "quern:tiny",
        block_tokens: 32,
        conversations: [{
          title: "Which lamps are on?",
          requests: 2,
          last_used: "2026-11-23T09:00:00.123Z",
          tokens: 812,
          on_device: 800,
          in_memory: 0,
          on_disk: 0,
          reusable: 800,
          last_prompt: {
            prompt_tokens: 800,
            common_tokens: 790,
            cached_tokens: 768,
            from_memory: 0,
            from_disk: 0,
          },
        }],
      }],
    }),
  }),
  ofServer({
    id: "getDoctor",
    path: "/api/doctor",
    summary: "What `quern doctor` finds of the machine.",
    answers: whole("Findings", doctorSchema, {
      sections: [{
        title: "GPU",
        findings: [{ mark: "ok", subject: "Adapter", text: "there is one" }],
      }],
    }),
  }),
  ofServer({
    id: "getOpenApi",
    path: "/openapi.json",
    summary: "This document.",
    answers: whole("Document", {
      type: "object",
      required: ["openapi", "info", "paths"],
      properties: {
        openapi: { type: "string" },
        info: { type: "object" },
        paths: { type: "object" },
      },
    }, { openapi: "3.1.1", info: {}, paths: {} }),
  }),
  native({
    id: "getVersion",
    method: "get",
    path: "/api/version",
    summary: "Tell the version of Ollama's API, and the server's own.",
    answers: whole("Version", versionSchema, { version: "0.34.0", quern_version: "0.1.0" }),
  }),
  native({
    id: "getStatus",
    method: "get",
    path: "/api/status",
    summary: "Tell whether models run elsewhere.",
    answers: whole("Status", statusSchema, { cloud: { disabled: true, source: "config" } }),
  }),
];
