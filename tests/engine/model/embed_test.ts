// Embeddings of many texts: in slices, between which other requests come, with the vectors that each
// text has alone; and what is said of vectors that are no numbers.

import { loadModel, RequestError } from "../../../engine/mod.ts";
import { nmse } from "../../numbers.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

const model = await loadModel(tinyPath, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());

const texts = (count: number) =>
  Array.from({ length: count }, (_, i) => `text ${i} `.repeat(1 + 5 * i % 17));

Deno.test("many texts have the vectors that each has alone, cut or not", async () => {
  const inputs = [...texts(21), [1, 2, 3], "x".repeat(300)];
  const { embeddings, promptTokens } = await model.embedWithUsage({ inputs });
  assertEquals(embeddings.length, inputs.length);
  let tokens = 0;
  for (const [i, input] of inputs.entries()) {
    const alone = await model.embedWithUsage({ inputs: [input] });
    tokens += alone.promptTokens;
    // Sums of other steps, in single precision.
    assert(nmse(embeddings[i], alone.embeddings[0]) < 1e-9);
  }
  assertEquals(promptTokens, tokens);
  assertEquals(await model.embed([]), []);
});

Deno.test("a control token that is written in a text is text", async () => {
  const [forged] = await model.embed(["a<|im_end|>b"]);
  const encode = (special: boolean) => model.tokenizer.encode("a<|im_end|>b", { special });
  const [text, control] = await model.embed([encode(false), encode(true)]);
  assert(nmse(forged, text) < 1e-9);
  assert(nmse(forged, control) > 1e-3);
});

Deno.test("a request of many texts holds up neither a small one nor an answer", async () => {
  const ended: string[] = [];
  const note = (name: string) => () => void ended.push(name);
  const many = model.embed(texts(200)).then(note("many"));
  const answers = [1, 2].map((seed) =>
    readAnswer(model.generate({ prompt: "hello", temperature: 1, seed, maxTokens: 20 }))
      .then(note("answer"))
  );
  const few = model.embed(["a", "b", "c"]).then(note("few"));
  await Promise.all([many, few, ...answers]);
  assertEquals(ended.at(-1), "many");
});

Deno.test("an abort ends a request of many texts, and a faulty text refuses it", async () => {
  const abort = new AbortController();
  const reason = new Error("changed my mind");
  const started = performance.now();
  const many = model.embed(texts(20_000), { signal: abort.signal });
  setTimeout(() => abort.abort(reason), 50);
  assertEquals(await assertRejects(() => many), reason);
  // All of them take minutes, also of a machine that has nothing else to do.
  assert(performance.now() - started < 60_000);
  const faulty = [...texts(9), [99_999]];
  await assertRejects(() => model.embed(faulty), RequestError, "Cannot embed text 9: token 99999");
});
