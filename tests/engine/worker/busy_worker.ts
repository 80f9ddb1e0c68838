// The engine's worker around a model without weights, whose work has no pause: "polls" looks at the
// flags that call it off, "deaf" never does, as no loop of the engine should, for four seconds, and
// "stuck" for ever: only the end of its process ends it.

import { checkpoint } from "../../../engine/cancellation.ts";
import { serveModel } from "../../../engine/worker/service.ts";
import { FakeModel } from "../../server/fake_model.ts";

const model = new FakeModel({
  embedder({ inputs }) {
    postMessage({ kind: "begun" });
    const end = performance.now() + 4000;
    while (inputs[0] === "polls") checkpoint();
    while (inputs[0] === "deaf" && performance.now() < end);
    while (inputs[0] === "stuck");
    return { embeddings: [Float32Array.of(1)], promptTokens: inputs.length };
  },
});

serveModel(globalThis as unknown as DedicatedWorkerGlobalScope, () => Promise.resolve(model));
