// The engine's worker around a model without weights, whose vectors tell what became of the ones
// before them: their length in bytes, which is 0 once their memory has been handed over.

import { RequestError } from "../../../engine/errors.ts";
import { serveModel } from "../../../engine/worker/service.ts";
import { FakeModel } from "../../server/fake_model.ts";

let previous = new Float32Array(1);

const model = new FakeModel({
  embedder({ inputs, truncate, dimensions, signal }) {
    if (inputs[0] === "fail") throw new RequestError("Cannot embed: the test wants it so");
    if (inputs[0] === "wait") {
      return new Promise((_, reject) => {
        signal!.addEventListener("abort", () => reject(signal!.reason));
      });
    }
    const seen = previous.byteLength;
    previous = Float32Array.of(seen, Number(truncate), dimensions ?? -1, inputs[0].length);
    // Two vectors over one buffer, as a model may cut them from what it read back.
    return { embeddings: [previous, previous.subarray(3)], promptTokens: inputs.length };
  },
});

serveModel(globalThis as unknown as DedicatedWorkerGlobalScope, () => Promise.resolve(model));
