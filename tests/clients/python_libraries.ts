// The clients that are Python libraries: each is tried by a program in python/, which runs in a virtual
// environment with the packages as pip installs them.

import { BOX, passage, sum, weather, weatherTool } from "../server/box_talk.ts";
import { PROJECT_ROOT } from "../source_files.ts";
import { runChecks } from "./checked_program.ts";
import { type CheckName, CHECKS, type Client, HEARING } from "./client.ts";

/** Name, program, packages, and what it can do where that is not all. */
const rows: [string, string, string[], CheckName[]?][] = [
  ["openai", "openai_sdk", ["openai==3.57.0", "pydantic==2.14.4"], [...HEARING]],
  ["anthropic", "anthropic_sdk", ["anthropic==2.14.0"]],
  ["ollama", "ollama_sdk", ["ollama==0.6.3"]],
  ["huggingface_hub", "huggingface_hub_sdk", ["huggingface_hub==2.4.0"]],
  ["litellm", "litellm_sdk", ["litellm==1.110.2"]],
  [
    "instructor",
    "instructor_sdk",
    ["instructor==1.17.0", "openai==3.3.0", "anthropic==2.14.0"],
    ["schema", "overflow"],
  ],
  ["pydantic-ai", "pydantic_ai_sdk", ["pydantic-ai-slim[openai,anthropic]==2.68.0"]],
  [
    "langchain",
    "langchain_sdk",
    [
      "langchain==1.5.2",
      "langchain-ollama==1.1.0",
      "langchain-openai==1.7.4",
      "langchain-anthropic==1.7.10",
    ],
  ],
  [
    "llama-index",
    "llama_index_sdk",
    [
      "llama-index-core==0.14.25",
      "llama-index-llms-ollama==0.11.0",
      "llama-index-llms-openai-like==0.8.1",
    ],
  ],
  ["openai-agents", "openai_agents_sdk", ["openai-agents==0.24.0"]],
  ["dspy", "dspy_sdk", ["dspy==3.4.1"], ["chat", "schema", "overflow"]],
  ["smolagents", "smolagents_sdk", ["smolagents[openai]==1.26.0"]],
  [
    "crewai",
    "crewai_sdk",
    ["crewai==1.15.30", "litellm==1.110.2"],
    ["chat", "schema", "overflow"],
  ],
  ["cohere", "cohere_sdk", ["cohere==7.3.1"], ["chat", "overflow"]],
  ["voyageai", "voyageai_sdk", ["voyageai==0.5.0"], ["chat", "overflow"]],
  ["lm-eval", "lm_eval_sdk", ["lm-eval[api]==0.4.13"], ["chat"]],
  // A server of its own, whose packages take 7 GB.
  ["open-webui", "open_webui_sdk", ["open-webui==0.12.4"], ["chat", "stream"]],
];

/** The clients. */
export const pythonLibraries: Client[] = rows.map(([name, program, packages, can = CHECKS]) => ({
  name: `python:${name}`,
  language: "python",
  packages,
  can,
  run: (place) =>
    runChecks(
      [
        `${place.folder}/bin/python`,
        new URL(`tests/clients/python/${program}.py`, PROJECT_ROOT).pathname,
      ],
      can,
      place,
      ENVIRONMENT,
    ),
}));

/** Patterns are their sources, which mean the same to Python. */
const sourceOf = (_: string, value: unknown) => value instanceof RegExp ? value.source : value;

/** What the programs are told: what the model in the box has learnt, and to ask nobody else. */
export const ENVIRONMENT = {
  QUERN_TALK: JSON.stringify({ model: BOX, weather, weatherTool, sum, passage }, sourceOf),
  PYTHONDONTWRITEBYTECODE: "1",
  // None of them may ask anybody else.
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  CREWAI_DISABLE_TELEMETRY: "true",
  OTEL_SDK_DISABLED: "true",
  HF_HUB_DISABLE_TELEMETRY: "1",
};
