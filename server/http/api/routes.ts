// All routes of the server, each group beside the operations that describe it in /openapi.json. A new
// route is a file with both, and a line in the list here.

import { Hono } from "../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../app_types.ts";
import { json } from "../stream/json.ts";
import { anthropicOperations } from "./anthropic/operations.ts";
import { anthropicRoutes } from "./anthropic/route.ts";
import { audioOperations } from "./audio/operations.ts";
import { realtimeRoutes } from "./audio/realtime_route.ts";
import { audioRoutes } from "./audio/route.ts";
import { controlVectorOperations, controlVectorRoutes } from "./capture/control_vectors.ts";
import { captureOperations } from "./capture/operations.ts";
import { captureRoutes } from "./capture/route.ts";
import { decideOperations } from "./decide/operations.ts";
import { decideRoutes } from "./decide/route.ts";
import { embedOperations } from "./embed/operations.ts";
import { embedRoutes } from "./embed/route.ts";
import { llamaServerOperations } from "./llama_server/operations.ts";
import { llamaServerRoutes } from "./llama_server/route.ts";
import { lmStudioOperations } from "./lm_studio/operations.ts";
import { lmStudioRoutes } from "./lm_studio/route.ts";
import { blobRoutes } from "./models/blobs.ts";
import { copyDeleteRoutes, createRoutes, transferRoutes } from "./models/changes.ts";
import { modelListRoutes, modelRoutes } from "./models/lists.ts";
import { lookRoutes } from "./models/look.ts";
import { modelOperations } from "./models/operations.ts";
import { showRoutes } from "./models/show.ts";
import { ollamaOperations } from "./ollama/operations.ts";
import { ollamaRoutes } from "./ollama/route.ts";
import { openAiOperations } from "./openai/operations.ts";
import { responseOperations } from "./openai/responses/operations.ts";
import { conversationRoutes } from "./openai/responses/conversations.ts";
import { responseRoutes } from "./openai/responses/route.ts";
import { openAiRoutes } from "./openai/route.ts";
import { rerankOperations } from "./rerank/operations.ts";
import { rerankRoutes } from "./rerank/route.ts";
import { describeApi, type OpenApiDocument } from "./openapi/document.ts";
import type { Operation } from "./openapi/operation.ts";
import { streamRoutes } from "./streams/route.ts";
import { cacheRoutes } from "./service/cache.ts";
import { serverOperations } from "./service/operations.ts";
import { operationsRoutes } from "./service/route.ts";
import { webRoutes } from "../web/route.ts";

/** The routes of an API or of a part of the server, and their descriptions. */
interface RouteGroup {
  routes: readonly ((dependencies: AppDependencies) => Hono<AppEnvironment>)[];
  operations: readonly Operation[];
}

const GROUPS: readonly RouteGroup[] = [
  { routes: [webRoutes, operationsRoutes, cacheRoutes], operations: serverOperations },
  { routes: [ollamaRoutes], operations: ollamaOperations },
  { routes: [embedRoutes], operations: embedOperations },
  { routes: [decideRoutes], operations: decideOperations },
  { routes: [rerankRoutes], operations: rerankOperations },
  {
    routes: [captureRoutes, controlVectorRoutes],
    operations: [...captureOperations, ...controlVectorOperations],
  },
  {
    routes: [
      modelRoutes,
      showRoutes,
      lookRoutes,
      createRoutes,
      copyDeleteRoutes,
      transferRoutes,
      blobRoutes,
      modelListRoutes,
    ],
    operations: modelOperations,
  },
  { routes: [llamaServerRoutes, streamRoutes], operations: llamaServerOperations },
  { routes: [lmStudioRoutes], operations: lmStudioOperations },
  { routes: [openAiRoutes], operations: openAiOperations },
  { routes: [responseRoutes, conversationRoutes], operations: responseOperations },
  { routes: [audioRoutes, realtimeRoutes], operations: audioOperations },
  { routes: [anthropicRoutes], operations: anthropicOperations },
];

/** The tags of the operations. */
const TAGS: OpenApiDocument["tags"] = [
  { name: "Operations", description: "For those who run the server." },
  { name: "Ollama", description: "Ollama's API, the native one." },
  { name: "OpenAI", description: "OpenAI's API." },
  { name: "llama-server", description: "What llama-server has besides OpenAI's API." },
  { name: "LM Studio", description: "LM Studio's API about models." },
  { name: "Anthropic", description: "Anthropic's Messages API." },
  {
    name: "OpenAI and Anthropic",
    description: "Paths that the clients of both ask, told apart by Anthropic's version header.",
  },
];

/** Every operation that /openapi.json describes. */
export const operations: readonly Operation[] = GROUPS.flatMap((group) => group.operations);

/** All routes, and the one of /openapi.json. */
export function apiRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  for (const { routes } of GROUPS) {
    for (const route of routes) app.route("/", route(dependencies));
  }
  // It takes some time to make, and is always the same.
  let document: OpenApiDocument | undefined;
  app.get("/openapi.json", () => {
    document ??= openApiDocument(dependencies.version);
    return json<OpenApiDocument>(document);
  });
  return app;
}

/** The content of /openapi.json. */
function openApiDocument(version: string): OpenApiDocument {
  return describeApi(operations, TAGS, version);
}
