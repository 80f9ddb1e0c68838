// The clients that are libraries: each is tried by a program in libraries/, which runs in Node beside
// the packages as npm installs them.

import { PROJECT_ROOT } from "../source_files.ts";
import { runChecks } from "./checked_program.ts";
import {
  type CheckName,
  CHECKS,
  type Client,
  HEARING,
  type Place,
  type Results,
} from "./client.ts";

/** What the programs import beside their packages, by the path below the project's root. */
const SHARED = ["tests/clients/libraries/checks.ts", "tests/server/box_talk.ts"];

const without = (...names: CheckName[]) => CHECKS.filter((name) => !names.includes(name));
const aiSdk = "ai@7.0.173";
const langChain = "@langchain/core@1.4.0";

/** Name, program, packages, and what it can do where that is not all. */
const rows: [string, string, string[], CheckName[]?][] = [
  ["ollama", "ollama", ["ollama@0.6.4"]],
  ["openai", "openai", ["openai@7.59.0"], [...HEARING]],
  ["@anthropic-ai/sdk", "anthropic", ["@anthropic-ai/sdk@1.14.0"]],
  ["@langchain/ollama", "langchain", ["@langchain/ollama@1.3.0", langChain]],
  ["@langchain/openai", "langchain", ["@langchain/openai@1.6.0", langChain]],
  ["@ai-sdk/openai", "ai_sdk", ["@ai-sdk/openai@4.0.118", aiSdk]],
  ["@ai-sdk/openai-compatible", "ai_sdk", ["@ai-sdk/openai-compatible@3.0.92", aiSdk]],
  ["@ai-sdk/anthropic", "ai_sdk", ["@ai-sdk/anthropic@4.0.105", aiSdk]],
  ["ollama-ai-provider-v2", "ai_sdk", ["ollama-ai-provider-v2@4.0.1", aiSdk]],
  [
    "llamaindex",
    "llamaindex_ollama",
    ["llamaindex@0.12.1", "@llamaindex/ollama@0.1.24"],
    without("schema", "abort"),
  ],
  ["token.js", "token_js", ["token.js@0.7.1"], without("abort")],
  [
    "@instructor-ai/instructor",
    "instructor",
    ["@instructor-ai/instructor@1.7.0", "openai@4.104.0", "zod@3.25.76"],
    ["schema", "overflow"],
  ],
  ["@openai/agents", "openai_agents", ["@openai/agents@0.20.0", "zod@4.6.7"]],
  // Its plugin tells a schema in the prompt alone.
  ["genkit", "genkit", ["genkit@1.42.0", "genkitx-ollama@1.42.0"], without("schema", "abort")],
  ["cohere-ai", "cohere", ["cohere-ai@8.1.0"], ["chat", "overflow"]],
  ["voyageai", "voyageai", ["voyageai@0.4.0"], ["chat", "overflow"]],
  ["@typesafe-ai/sdk", "typesafe", ["@typesafe-ai/sdk@0.6.0"], ["chat", "overflow"]],
  ["mem0ai", "mem0", ["mem0ai@3.3.1", "ollama@0.5.18"], ["chat"]],
];

/** The clients. */
export const libraries: Client[] = rows.map(([name, program, packages, can = CHECKS]) => ({
  name,
  packages,
  can,
  run: (place) => runLibrary(name, program, place),
}));

async function runLibrary(name: string, program: string, place: Place): Promise<Results> {
  const source = `tests/clients/libraries/${program}.ts`;
  for (const path of [...SHARED, source]) {
    await Deno.mkdir(`${place.folder}/${path}`.replace(/[^/]*$/, ""), { recursive: true });
    await Deno.copyFile(new URL(path, PROJECT_ROOT), `${place.folder}/${path}`);
  }
  const { can } = libraries.find((client) => client.name === name)!;
  const command: [string, ...string[]] = [`${place.node}/node`, `${place.folder}/${source}`, name];
  return await runChecks(command, can, place, { NODE_NO_WARNINGS: "1" });
}
