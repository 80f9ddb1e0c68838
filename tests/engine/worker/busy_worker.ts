// The engine's worker around a model without weights, whose work has no pause: "polls" looks at the
// flags that call it off, "deaf" never does, as no loop of the engine should, until its gate is opened,
// and "stuck" for ever: only the end of its process ends it. A second input is a file that tells, once it
// is there, that the work has begun.

import { pollCancellation } from "../../../engine/cancellation.ts";
import { serveModel } from "../../../engine/worker/service.ts";
import { FakeModel } from "../../server/fake_model.ts";

const model = new FakeModel({
  embedder({ inputs }) {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    postMessage({ kind: "begun", gate });
    if (inputs[1] !== undefined) Deno.writeTextFileSync(inputs[1] as string, "");
    while (inputs[0] === "polls") pollCancellation();
    // Blocked, which takes no core from tests beside it.
    if (inputs[0] === "deaf") Atomics.wait(gate, 0, 0);
    while (inputs[0] === "stuck");
    return { embeddings: [Float32Array.of(1)], promptTokens: inputs.length };
  },
});

serveModel(globalThis as unknown as DedicatedWorkerGlobalScope, () => Promise.resolve(model));
