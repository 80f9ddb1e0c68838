// The engine's worker around a model without weights, whose work has no pause: "polls" looks at the
// flags that call it off, "deaf" never does, as no loop of the engine should, for four seconds.

import { checkpoint } from "../../engine/cancellation.ts";
import { serveModel } from "../../engine/worker_service.ts";
import { FakeModel } from "../server/fake_model.ts";

const model = new FakeModel({
  embedder({ inputs }) {
    postMessage({ kind: "begun" });
    const end = inputs[0] === "deaf" ? performance.now() + 4000 : Infinity;
    while (inputs[0] === "polls") checkpoint();
    while (inputs[0] === "deaf" && performance.now() < end);
    return { embeddings: [Float32Array.of(1)], promptTokens: inputs.length };
  },
});

serveModel(globalThis as unknown as DedicatedWorkerGlobalScope, () => Promise.resolve(model));
