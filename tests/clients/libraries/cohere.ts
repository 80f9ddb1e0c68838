// Cohere's library, which ranks documents by both versions of its API.

import { strict as assert } from "node:assert";
import { BOX } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { CohereClient, CohereClientV2 } = await box.load("cohere-ai");
const settings = { token: "any", environment: box.url };
const request = { model: BOX, query: "How do I pull a model?", documents: ["one", "two", "three"] };

// deno-lint-ignore no-explicit-any
const clients: any[] = [new CohereClient(settings), new CohereClientV2(settings)];

await box.check("chat", async () => {
  for (const client of clients) {
    const { results } = await client.rerank({ ...request, topN: 2 });
    assert.equal(results.length, 2);
    assert(results[0].relevanceScore >= results[1].relevanceScore);
  }
});

await box.check("overflow", async () => {
  for (const client of clients) {
    const ranked = client.rerank({ ...request, documents: [box.long] }, { maxRetries: 0 });
    await assert.rejects(ranked, { statusCode: 400 });
  }
});
