// What the model knows of Quern's HTTP API.

import type { Fact } from "./facts.ts";

export const API_FACTS: readonly Fact[] = [
  {
    how: ["chat over HTTP", "send messages over the API", "use the chat API"],
    which: ["endpoint is for chat", "endpoint takes messages", "path do I call to chat"],
    answer: "Send POST /api/chat with a model and messages.",
    key: /\/api\/chat/,
  },
  {
    how: ["complete a text over HTTP", "continue a prompt", "generate text from a prompt"],
    which: ["endpoint continues a prompt", "endpoint generates text from a prompt"],
    answer: "Send POST /api/generate with a model and a prompt.",
    key: /\/api\/generate/,
  },
  {
    how: ["get embeddings", "turn text into vectors", "embed a text"],
    which: ["endpoint gives embeddings", "endpoint embeds text"],
    answer: "Send POST /api/embed with a model and the input.",
    key: /\/api\/embed/,
  },
  {
    how: ["use the Anthropic API", "use the Anthropic SDK", "send Anthropic messages"],
    which: ["endpoint is compatible with Anthropic", "endpoint is the messages API"],
    answer: "Use POST /v1/messages; it speaks the Anthropic format.",
    key: /\/v1\/messages/,
  },
  {
    how: ["use the OpenAI API", "use the OpenAI SDK", "point an OpenAI client at you"],
    which: ["endpoint is compatible with OpenAI", "endpoint do OpenAI clients use"],
    answer: "Use POST /v1/chat/completions; it speaks the OpenAI format.",
    key: /\/v1\/chat\/completions/,
  },
  {
    how: ["use Claude Code", "connect Claude Code", "use you as a backend of Claude Code"],
    which: ["variable does Claude Code need"],
    answer: "Set ANTHROPIC_BASE_URL to http://127.0.0.1:11434 and start it.",
    key: /ANTHROPIC_BASE_URL/,
  },
  {
    how: ["list models over HTTP", "ask the API for the models"],
    which: ["endpoint lists the models", "path lists all models"],
    answer: "Send GET /api/tags.",
    key: /\/api\/tags/,
  },
  {
    how: ["list loaded models over HTTP", "ask the API what is loaded"],
    which: ["endpoint lists the loaded models", "path tells what is loaded"],
    answer: "Send GET /api/ps.",
    key: /\/api\/ps/,
  },
  {
    how: [
      "get JSON answers",
      "force JSON output",
      "get structured output",
      "make answers fit a schema",
    ],
    which: ["field makes answers JSON", "parameter takes a JSON Schema"],
    answer: 'Put a JSON Schema, or "json", into the field format.',
    key: /\bformat\b/,
  },
  {
    how: ["make the model think", "turn thinking on", "see the thinking of a model"],
    which: ["field turns thinking on", "parameter makes a model think"],
    answer: "Set think to true in the request.",
    key: /\bthink\b/,
  },
  {
    how: ["stream an answer", "turn streaming off", "get the answer in one piece"],
    which: ["field controls streaming", "parameter turns streaming off"],
    answer: "Answers stream; set stream to false to get one piece.",
    key: /\bstream\b/,
  },
  {
    how: ["change the context window", "use a longer context", "make the window larger"],
    which: ["option sets the context window", "option sets the window"],
    answer: "Set num_ctx in the options of the request.",
    key: /num_ctx/,
  },
  {
    how: ["make answers deterministic", "always get the same answer", "switch randomness off"],
    which: ["option controls randomness", "option makes answers random"],
    answer: "Set temperature to 0 in the options.",
    key: /temperature/,
  },
  {
    how: ["limit the length of an answer", "cut answers short", "set the most tokens of an answer"],
    which: ["option limits the answer", "option sets the most tokens"],
    answer: "Set num_predict in the options of the request.",
    key: /num_predict/,
  },
  {
    how: ["give the model tools", "let the model call functions", "use function calling"],
    which: ["field offers tools", "field takes functions"],
    answer: "Put your functions into the field tools of the request.",
    key: /\btools\b/,
  },
  {
    how: ["get the metrics", "monitor the server", "watch the server with Prometheus"],
    which: ["endpoint gives metrics", "path is for Prometheus"],
    answer: "Read GET /metrics; Prometheus understands it.",
    key: /\/metrics/,
  },
  {
    how: ["get a description of the API", "see the OpenAPI document", "find the API reference"],
    which: ["endpoint describes the API", "path has the OpenAPI document"],
    answer: "Read GET /openapi.json; it describes every endpoint.",
    key: /\/openapi\.json/,
  },
  {
    how: ["check that the server is alive", "check the health of the server"],
    which: ["endpoint tells the health", "path is for health checks"],
    answer: "Ask GET /health.",
    key: /\/health/,
  },
  {
    how: ["find the version of the server", "ask for the version"],
    which: ["endpoint tells the version", "path gives the version"],
    answer: "Ask GET /api/version, or run `quern -v`.",
    key: /\/api\/version/,
  },
  {
    how: ["use a model from Hugging Face", "pull from Hugging Face", "download a GGUF repository"],
    which: ["name does a Hugging Face model have"],
    answer: "Run `quern pull hf.co/USER/REPO:QUANT`.",
    key: /hf\.co\//,
  },
  {
    how: ["use a cloud model", "run a model on another server", "forward requests to a cluster"],
    which: ["variable names the cloud server", "names mean cloud models"],
    answer: "Set QUERN_CLOUD_HOST and use a name that ends in :cloud.",
    key: /QUERN_CLOUD_HOST/,
  },
  {
    how: ["build one binary", "compile Quern", "make an executable of Quern"],
    which: ["task builds the binary", "command compiles Quern"],
    answer: "Run `deno task compile`; it writes dist/quern.",
    key: /deno task compile/,
  },
];
