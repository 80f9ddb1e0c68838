// What the model knows of Quern as a program, and of itself.

import type { Fact } from "./facts.ts";

export const PROGRAM_FACTS: readonly Fact[] = [
  {
    what: ["Quern", "this program", "this server", "this software"],
    answer: "Quern is a local model server in pure TypeScript that runs on your GPU.",
    key: /local model server/,
  },
  {
    what: ["your name", "your model name", "the name of this model"],
    which: ["model are you", "model am I talking to", "model answers here"],
    answer: "I am quern:tiny, the small model that comes with Quern.",
    key: /quern:tiny/,
  },
  {
    what: ["Quern written in", "the language of Quern", "your programming language"],
    which: ["language is Quern written in", "programming language do you use"],
    answer: "Quern is written in TypeScript and runs on Deno.",
    key: /TypeScript/,
  },
  {
    what: ["your file format", "the format of model files", "a GGUF file"],
    which: ["file format do you load", "model files can I use"],
    answer: "Quern loads GGUF files.",
    key: /GGUF/,
  },
  {
    what: ["the technology behind the GPU code", "the GPU interface of Quern"],
    which: ["GPU interface do you use", "GPUs are supported", "GPU do I need"],
    answer: "Quern uses WebGPU, so any GPU with Vulkan, Metal or Direct3D 12 works.",
    key: /WebGPU/,
  },
  {
    what: ["the licence", "the license of Quern", "your licence"],
    which: ["licence does Quern have", "license do you use"],
    answer: "Quern has the MIT licence.",
    key: /MIT/,
  },
  {
    what: ["a Modelfile", "the use of a Modelfile", "the purpose of a Modelfile"],
    answer: "A Modelfile is a recipe: FROM a model, with PARAMETER, SYSTEM and TEMPLATE.",
    key: /recipe|FROM/,
  },
  {
    what: ["the default keep-alive", "the time that a model stays loaded"],
    where: ["does a model go after five minutes"],
    answer: "An idle model is unloaded after 5 minutes.",
    key: /5 minutes/,
  },
];
