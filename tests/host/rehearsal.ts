// What a model is asked wherever the library is tried. Nothing here needs Deno.

import type { LocalLoadOptions, Model } from "../../mod.ts";

/** How the model is loaded: on the CPU, which is everywhere, on the thread that loads it. */
export const LOAD: LocalLoadOptions = {
  contextLength: 256,
  maxSequences: 1,
  device: { kind: "cpu", threads: 1 },
};

/** What it says to a prompt: always the same. */
export async function rehearse(model: Model): Promise<string> {
  let text = "";
  const request = { prompt: "The miller said", temperature: 0, maxTokens: 24 };
  for await (const event of model.generate(request)) if (event.type === "text") text += event.text;
  return text;
}
