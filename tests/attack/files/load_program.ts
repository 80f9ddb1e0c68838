// A process that loads the files whose paths come on its standard input, one per line, and writes
// the result of each as a line of JSON. It is expected to hang or die, so its parent watches it.

import * as engine from "../../../engine/mod.ts";
import type { Loaded } from "./loader.ts";

const { inspectModel, loadModel } = engine;
/** The errors that a caller can tell from defects. */
const KNOWN = Object.values(engine).filter((value) =>
  typeof value === "function" && value.prototype instanceof Error
) as unknown as (new () => Error)[];
const TOKENS = [1, 5, 7, 90, 33];

async function load(path: string): Promise<Omit<Loaded, "path">> {
  const start = performance.now();
  try {
    await inspectModel(path);
    const options = { contextLength: 64, maxSequences: 2, exact: true };
    await using model = await loadModel(path, options);
    const logits = await model.logits(TOKENS);
    const request = { prompt: "ab", temperature: 0, maxTokens: 3 };
    for await (const _ of model.generate(request)) continue;
    const isFinite = logits.every(Number.isFinite);
    return { logits: [...logits], isFinite };
  } catch (error) {
    const isKnown = KNOWN.some((type) => error instanceof type);
    const { name, message } = error as Error;
    const seconds = (performance.now() - start) / 1000;
    return { error: { name, message, isKnown, seconds } };
  }
}

let rest = "";
for await (const piece of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + piece).split("\n");
  rest = lines.pop()!;
  for (const path of lines) {
    const loaded: Loaded = { path, ...await load(path) };
    Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(loaded)}\n`));
  }
}
