// A program that makes models without end, to be killed by create_crash_test.ts. Arguments: FOLDER
// DIGEST, the folder of a store and a blob with the weights of a model.

import { createModel, type CreateRequest } from "../../../engine/create/mod.ts";
import { inspectModel } from "../../../engine/load/inspect.ts";
import { ModelStore } from "../../../engine/store/mod.ts";

const [folder = "", digest = ""] = Deno.args;
const store = new ModelStore({ folder, inspect: inspectModel });
const { signal } = new AbortController();
Deno.stdout.writeSync(new TextEncoder().encode("ready\n"));
for (let i = 0;; i++) {
  // Names come again, so that models are replaced, and blobs lose their last owner.
  const requests: CreateRequest[] = [
    { model: `plain-${i % 3}`, files: { "a.gguf": digest }, system: `System ${i}` },
    { model: `small-${i % 3}`, from: `plain-${i % 3}`, quantize: ["Q8_0", "Q4_0"][i % 2]! },
    { model: `texts-${i % 2}`, from: `small-${i % 3}`, parameters: { seed: i }, license: [`${i}`] },
  ];
  for (const request of requests) await Array.fromAsync(createModel(store, request, { signal }));
}
