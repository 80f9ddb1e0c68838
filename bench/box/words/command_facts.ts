// What the model knows of Quern's commands and settings.

import type { Fact } from "./facts.ts";

export const COMMAND_FACTS: readonly Fact[] = [
  {
    how: ["pull a model", "download a model", "get a new model", "fetch a model from the registry"],
    which: ["command downloads a model", "command pulls a model"],
    answer: "Run `quern pull NAME`, for example `quern pull gemma3:1b`.",
    key: /quern pull/,
  },
  {
    how: ["list my models", "see which models I have", "show all models of this machine"],
    which: ["command lists the models", "command shows my models"],
    answer: "Run `quern list`; over HTTP it is GET /api/tags.",
    key: /quern list/,
  },
  {
    how: ["see which models are loaded", "see what is in memory", "list the running models"],
    which: ["command shows the loaded models", "command lists running models"],
    answer: "Run `quern ps`; over HTTP it is GET /api/ps.",
    key: /quern ps/,
  },
  {
    how: ["delete a model", "remove a model", "get rid of a model", "free disk space"],
    which: ["command deletes a model", "command removes a model"],
    answer: "Run `quern rm NAME`; files that no other model needs are deleted.",
    key: /quern rm/,
  },
  {
    how: [
      "copy a model",
      "give a model another name",
      "make an alias of a model",
      "rename a model",
    ],
    which: ["command copies a model", "command makes an alias"],
    answer: "Run `quern cp OLD NEW`; both names share the same files.",
    key: /quern cp/,
  },
  {
    how: [
      "create my own model",
      "make a model from a Modelfile",
      "build a model with a system prompt",
    ],
    which: ["command creates a model", "command reads a Modelfile"],
    answer: "Write a Modelfile and run `quern create NAME -f Modelfile`.",
    key: /quern create/,
  },
  {
    how: ["start the server", "serve the API", "run the server", "begin serving models"],
    which: ["command starts the server", "command serves the API"],
    answer: "Run `quern serve`; it listens on port 11434.",
    key: /quern serve/,
  },
  {
    how: ["chat in the terminal", "talk to a model", "run a model", "use a model in the terminal"],
    which: ["command runs a model", "command opens a chat"],
    answer: "Run `quern run NAME` and type your message.",
    key: /quern run/,
  },
  {
    how: ["unload a model", "stop a model", "free the GPU memory", "take a model out of memory"],
    which: ["command unloads a model", "command stops a model"],
    answer: "Run `quern stop NAME`, or send a request with keep_alive 0.",
    key: /quern stop/,
  },
  {
    how: ["see the details of a model", "look at a model's template", "inspect a model"],
    which: ["command shows the details of a model", "command inspects a model"],
    answer: "Run `quern show NAME`; over HTTP it is POST /api/show.",
    key: /quern show/,
  },
  {
    how: [
      "check my GPU",
      "find out what my machine can load",
      "find out what is wrong with my GPU",
    ],
    which: ["command checks the GPU", "command tells what is missing"],
    answer: "Run `quern doctor`; it shows the GPU, its limits and what is missing.",
    key: /quern doctor/,
  },
  {
    how: ["measure the speed of a model", "benchmark a model", "see how fast a model is"],
    which: ["command measures the speed", "command benchmarks a model"],
    answer: "Run `quern bench NAME`; it prints tokens per second.",
    key: /quern bench/,
  },
  {
    how: ["push a model", "upload a model to a registry", "publish a model"],
    which: ["command uploads a model", "command publishes a model"],
    answer: "Run `quern push NAME`.",
    key: /quern push/,
  },
  {
    what: ["the default port", "the port of the server", "your port number"],
    which: ["port do you use", "port does Quern listen on", "port does the server have"],
    answer: "Quern listens on port 11434.",
    key: /11434/,
  },
  {
    where: ["are models stored", "do models live", "are the model files", "do you keep models"],
    which: ["folder holds the models", "directory has the model files"],
    answer: "Models live in ~/.ollama/models, or where OLLAMA_MODELS points.",
    key: /~\/\.ollama\/models/,
  },
  {
    how: ["change the models folder", "keep models on another disk", "move my models elsewhere"],
    which: ["variable sets the models folder", "variable says where models are"],
    answer: "Set OLLAMA_MODELS to the folder that you want.",
    key: /OLLAMA_MODELS/,
  },
  {
    how: [
      "change the port",
      "change the address",
      "listen on another port",
      "bind to all interfaces",
    ],
    which: ["variable sets the address", "variable sets the port"],
    answer: "Set OLLAMA_HOST, for example OLLAMA_HOST=0.0.0.0:8080.",
    key: /OLLAMA_HOST/,
  },
  {
    how: ["keep a model loaded", "keep a model in memory longer", "change how long models stay"],
    which: ["variable keeps models in memory", "option keeps a model loaded"],
    answer: "Set keep_alive in the request, or OLLAMA_KEEP_ALIVE for all.",
    key: /keep_alive/i,
  },
  {
    how: ["protect the server with a key", "require an API key", "set a password"],
    which: ["variable sets an API key", "variable protects the server"],
    answer: "Set QUERN_API_KEY; then requests must carry that key.",
    key: /QUERN_API_KEY/,
  },
];
