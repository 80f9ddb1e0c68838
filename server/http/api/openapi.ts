// The description of the whole API: the operations of all dialects, and the document made of them.

import { anthropicOperations } from "./anthropic/operations.ts";
import { describeApi, type OpenApiDocument } from "./openapi/document.ts";
import { modelOperations } from "./models/operations.ts";
import { ollamaOperations, serverOperations } from "./ollama/operations.ts";
import { openAiOperations } from "./openai/operations.ts";
import type { Operation } from "./openapi/operation.ts";

export type { OpenApiDocument } from "./openapi/document.ts";
export type { NamedSchema, Operation } from "./openapi/operation.ts";

/** Every operation that is described. */
export const operations: Operation[] = [
  ...serverOperations,
  ...ollamaOperations,
  ...modelOperations,
  ...openAiOperations,
  ...anthropicOperations,
];

/** What the tags of the operations stand for. */
export const TAGS: OpenApiDocument["tags"] = [
  { name: "Operations", description: "For those who run the server." },
  { name: "Ollama", description: "Ollama's API, the native one." },
  { name: "OpenAI", description: "OpenAI's API." },
  { name: "Anthropic", description: "Anthropic's Messages API." },
  {
    name: "OpenAI and Anthropic",
    description: "Paths that the clients of both ask, told apart by Anthropic's version header.",
  },
];

/** The content of /openapi.json. */
export function openApiDocument(version: string): OpenApiDocument {
  return describeApi(operations, TAGS, version);
}
