// Ranking over HTTP, over a model without weights: what each path asks it for, the answer in the form
// of each vendor, and what is refused.

import { assertEquals, assertMatch } from "@std/assert";
import { createTestApp } from "../../../test_app.ts";

const query = "abc";
/** Their scores are 0.5, 1 and 0. */
const documents = ["ax", "cab", "zz"];

const rerank = (body: object) => ({ model: "tiny", query, documents, ...body });

Deno.test("every rerank path gives the results that Cohere, Jina, vLLM and Open WebUI read", async () => {
  const test = createTestApp({});
  for (const path of ["/v1/rerank", "/v2/rerank", "/rerank", "/v1/reranking", "/reranking"]) {
    const { id, ...answer } = await (await test.post(path, rerank({}))).json();
    assertMatch(id, /^[-0-9a-f]{36}$/);
    assertEquals(answer, {
      object: "list",
      model: "tiny",
      results: [
        { index: 1, relevance_score: 1 },
        { index: 0, relevance_score: 0.5 },
        { index: 2, relevance_score: 0 },
      ],
      usage: { prompt_tokens: 9, total_tokens: 9 },
      meta: {
        api_version: { version: "2" },
        billed_units: { search_units: 0 },
        tokens: { input_tokens: 9, output_tokens: 0 },
      },
    });
  }
  assertMatch(test.lines.at(-1)!, /^POST \/reranking 200 - tiny - in 9 - /);
});

Deno.test("documents may be objects; they come back, and only some of them, where that is asked", async () => {
  const { post } = createTestApp({});
  const body = rerank({
    documents: [{ text: "ax" }, "cab"],
    top_n: 1,
    return_documents: true,
    rank_fields: ["text"],
  });
  const { results } = await (await post("/v1/rerank", body)).json();
  assertEquals(results, [{ index: 1, relevance_score: 1, document: { text: "cab" } }]);
});

Deno.test("the native path tells counts and times, and takes options", async () => {
  const test = createTestApp({});
  const options = { num_ctx: 256 };
  const more = { options, max_tokens_per_doc: 7, truncate: true, instruction: "Same topic." };
  const answer = await (await test.post("/api/rerank", rerank(more))).json();
  const { total_duration: total, load_duration: _, results, ...rest } = answer;
  assertEquals(rest, { model: "tiny", prompt_eval_count: 9 });
  assertEquals([results.length, total > 0], [3, true]);
  const { signal: _signal, ...asked } = test.loaded[0].rankRequests[0];
  assertEquals(asked, {
    query,
    documents,
    contextLength: 256,
    documentTokens: 7,
    truncate: true,
    instruction: "Same topic.",
  });
});

Deno.test("a request in the words of Voyage or of TEI is answered in theirs", async () => {
  const { post } = createTestApp({});
  const voyage = rerank({ top_k: 2, truncation: true, return_documents: true });
  assertEquals(await (await post("/v1/rerank", voyage)).json(), {
    object: "list",
    model: "tiny",
    data: [
      { index: 1, relevance_score: 1, document: "cab" },
      { index: 0, relevance_score: 0.5, document: "ax" },
    ],
    usage: { prompt_tokens: 9, total_tokens: 9 },
  });
  const tei = { model: "tiny", query, texts: documents, return_text: true };
  assertEquals(await (await post("/rerank", tei)).json(), [
    { index: 1, score: 1, text: "cab" },
    { index: 0, score: 0.5, text: "ax" },
    { index: 2, score: 0, text: "zz" },
  ]);
});

Deno.test("scores come in the order of the texts, for one query or for as many", async () => {
  const { post } = createTestApp({});
  const scored = async (body: object) => {
    const response = await post("/v1/score", { model: "tiny", ...body });
    const { data, object, usage } = await response.json();
    assertEquals([object, usage.prompt_tokens], ["list", 3 * data.length]);
    return data.map((one: { index: number; score: number }) => [one.index, one.score]);
  };
  assertEquals(await scored({ text_1: query, text_2: documents }), [[0, 0.5], [1, 1], [2, 0]]);
  assertEquals(await scored({ text_1: ["x", query], text_2: ["ax", "cab"] }), [[0, 0.5], [1, 1]]);
  assertEquals(await scored({ queries: query, documents: "cab" }), [[0, 1]]);
});

Deno.test("what cannot be ranked is refused with the member at fault", async () => {
  const { post } = createTestApp({});
  const refused = async (path: string, param: string, body: object, words = "") => {
    const response = await post(path, { model: "tiny", ...body });
    const { error } = await response.json();
    assertEquals([response.status, error.param], [400, param], JSON.stringify(error));
    assertEquals(
      error.message.startsWith(param) && error.message.includes(words),
      true,
      error.message,
    );
  };
  await refused("/v1/rerank", "query", { documents }, "is missing");
  await refused("/v1/rerank", "documents", { query }, "at least one");
  await refused("/v1/rerank", "documents", { query, documents: [] }, "at least one");
  await refused("/v1/rerank", "texts", { query, documents, texts: ["a"] }, "documents");
  await refused("/v1/rerank", "top_n", rerank({ top_n: 0 }), "at least 1");
  await refused("/v1/rerank", "max_tokens_per_doc", rerank({ max_tokens_per_doc: 0 }));
  await refused("/v1/rerank", "raw_scores", rerank({ raw_scores: true }), "no head");
  await refused("/v1/score", "text_1", { text_2: "a" }, "is missing");
  await refused("/v1/score", "text_2", { text_1: "a" }, "is missing");
  await refused("/v1/score", "text_2", { text_1: ["a", "b"], text_2: ["a"] }, "for 2 queries");
  for (
    const wrong of [{ documents: [{ title: "a" }] }, { documents: [1] }, { rank_fields: ["title"] }]
  ) {
    assertEquals((await post("/v1/rerank", rerank(wrong))).status, 400);
  }
  assertEquals((await post("/rerank", { ...rerank({}), model: "none" })).status, 404);
});
