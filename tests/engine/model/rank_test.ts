// Ranking beside llama.cpp, where the fixtures are: each kind of head, Qwen3's rerankers with a head and
// without one, and the tokens in which query and document are put together. And what holds everywhere:
// a chat model ranks by a decision, and documents get what each would get alone.

import {
  type ChatModel,
  ContextLengthError,
  inspectModel,
  loadModel,
  RequestError,
} from "../../../engine/mod.ts";
import { architectures } from "../../../engine/models/registry.ts";
import { conformanceTest, DATA, hasData } from "../../conformance/logits.ts";
import { tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

interface Pair {
  query: string;
  document: string;
  tokens: number[];
  raw?: number[];
  score: number;
  sigmoid?: number[];
  softmax?: number[];
  outputs?: number[];
}

const folder = new URL("ranking/", DATA);
const rerank: Record<string, { model: string; arch: string; pairs: Pair[] }> = hasData
  ? JSON.parse(await Deno.readTextFile(new URL("manifest.json", folder))).rerank
  : {};

for (const [name, { model, arch, pairs }] of Object.entries(rerank)) {
  if (!architectures.has(arch)) continue;
  conformanceTest(
    `${name} ranks as llama.cpp does, one by one and all documents of a query`,
    async () => {
      const path = new URL(model, folder);
      assertEquals((await inspectModel(path)).ranks, true);
      await using loaded = await loadModel(path, { exact: true, contextLength: 256 });
      for (const query of new Set(pairs.map((pair) => pair.query))) {
        const own = pairs.filter((pair) => pair.query === query);
        const request = { query, documents: own.map(({ document }) => document) };
        const { scores, outputs, promptTokens } = await loaded.rank(request);
        const counts = own.map(({ tokens }) => tokens.length);
        const all = counts.reduce((sum, count) => sum + count, 0);
        assert(promptTokens <= all && promptTokens >= Math.max(...counts));
        for (const [i, { raw, score, sigmoid, softmax, outputs: shares }] of own.entries()) {
          const expected = softmax ?? shares ?? sigmoid ?? [score];
          assert(Math.abs(scores[i] - expected[0]) < 2e-5, `${scores[i]}, not ${expected[0]}`);
          raw?.forEach((one, k) => assert(Math.abs(outputs![i][k] - one) < 1e-4));
          const alone = await loaded.rank({ query, documents: [own[i].document] });
          assert(Math.abs(alone.scores[0] - scores[i]) < 1e-5);
          if (!softmax && !shares && own.length === 1 && sigmoid) {
            assertEquals(promptTokens, counts[i]);
          }
        }
      }
    },
  );
}

Deno.test("a chat model ranks by a decision, and reads the query once", async () => {
  await using model: ChatModel = await loadModel(tinyPath, {
    ...tinyLoad,
    contextLength: 256,
    exact: true,
  });
  assertEquals(model.info.ranks, undefined);
  const documents = ["one document", "another", "a third one, which is longer", ""];
  const { scores, outputs, promptTokens } = await model.rank({ query: "what?", documents });
  assertEquals(outputs, undefined);
  let alone = 0;
  for (const [i, document] of documents.entries()) {
    const single = await model.rank({ query: "what?", documents: [document] });
    assert(Math.abs(single.scores[0] - scores[i]) < 1e-5);
    alone += single.promptTokens;
  }
  assert(promptTokens < alone);
  const begun = await model.rank({ query: "what?", documents, documentTokens: 3 });
  const cut = await model.rank({
    query: "what?",
    documents: documents.map((one) => one.slice(0, 3)),
  });
  assertEquals(begun.scores, cut.scores);
  const other = await model.rank({ query: "what?", documents, instruction: "It is short." });
  assert(other.scores.some((score, i) => score !== scores[i]));
});

Deno.test("what cannot be ranked is refused with the member at fault", async () => {
  await using model = await loadModel(tinyPath, { ...tinyLoad, contextLength: 256 });
  const refused = async (request: object, text: string) => {
    const ranked = () => model.rank({ query: "q", documents: ["d"], ...request });
    const error = await assertRejects(ranked, RequestError);
    assert(error.message.includes(text), error.message);
  };
  await refused({ query: " " }, "query is empty");
  await refused({ documents: [] }, "documents is empty");
  await refused({ documentTokens: 0 }, "documentTokens is 0");
  const long = () => model.rank({ query: "q", documents: ["d", "d".repeat(300)] });
  await assertRejects(long, ContextLengthError);
});
