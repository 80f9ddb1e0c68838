// Voyage's library, which embeds and ranks.

import { strict as assert } from "node:assert";
import { BOX } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { VoyageAIClient } = await box.load("voyageai");
const client = new VoyageAIClient({ apiKey: "any", environment: `${box.url}/v1` });
const model = BOX;
const once = { maxRetries: 0 };

await box.check("chat", async () => {
  const { data } = await client.embed({ model, input: ["one", "two"], outputDimension: 16 });
  assert.deepEqual(data.map(({ index }: { index: number }) => index), [0, 1]);
  assert.equal(data[0].embedding.length, 16);
  const documents = ["Run `quern pull NAME`.", "The sky is blue.", "Two plus two is four."];
  const query = "How do I pull a model?";
  const ranked = await client.rerank({ model, query, documents, topK: 2, returnDocuments: true });
  assert.equal(ranked.data.length, 2);
  const [first, second] = ranked.data;
  assert(first.relevanceScore >= second.relevanceScore);
  assert.equal(first.document, documents[first.index]);
});

await box.check("overflow", async () => {
  const query = "How do I pull a model?";
  const long = client.rerank({ model, query, documents: [box.long], truncation: false }, once);
  await assert.rejects(long, { statusCode: 400 });
  const typed = client.embed({ model, input: "one", inputType: "query" }, once);
  await assert.rejects(typed, { statusCode: 400 });
});
