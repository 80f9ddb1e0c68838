// The description of the whole API: the operations of all dialects, and the document made of them.

import { anthropicOperations } from "./anthropic.ts";
import { describeApi, type OpenApiDocument } from "./document.ts";
import { modelOperations } from "./models.ts";
import { ollamaOperations, serverOperations } from "./ollama.ts";
import { openAiOperations } from "./openai.ts";
import type { Operation } from "./operation.ts";

export type { OpenApiDocument } from "./document.ts";
export type { NamedSchema, Operation } from "./operation.ts";

/** Every operation that is described. */
export const operations: Operation[] = [
  ...serverOperations,
  ...ollamaOperations,
  ...modelOperations,
  ...openAiOperations,
  ...anthropicOperations,
];

/** The content of /openapi.json. */
export function openApiDocument(version: string): OpenApiDocument {
  return describeApi(operations, version);
}
