// The model in the box through the HTTP API: it is there where the store is empty, answers the question
// of the README, and does a twentieth of its evaluation, or a tenth where QUERN_SWEEP is set.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { askOverHttp } from "../../bench/box/eval.ts";
import { evaluate } from "../../bench/box/evaluate.ts";
import { share } from "../share.ts";
import { createBoxApp } from "./tiny_app.ts";

/** Least shares of the skills: those of its model card, less what twenty examples may stray. */
const FLOORS: Record<string, number> = {
  about: 0.85,
  extraction: 0.85,
  "extraction, valid JSON without a mask": 0.9,
  tools: 0.7,
  arithmetic: 0.9,
  language: 0.9,
  memory: 0.8,
};

const { app } = await createBoxApp();
const send: typeof fetch = async (input, init) => await app.fetch(new Request(input, init));

Deno.test("the model in the box is listed in an empty store, and answers the README's question", async () => {
  const { models } = await (await send("http://127.0.0.1/api/tags")).json();
  assertEquals(models.map(({ name }: { name: string }) => name), ["quern:tiny"]);
  assertEquals(models[0].capabilities, ["completion", "tools", "thinking"]);
  const messages = [{ role: "user" as const, content: "How do I pull a model?" }];
  const answer = await askOverHttp("http://127.0.0.1", "quern:tiny", send)({ messages });
  assertStringIncludes(answer.text ?? "", "quern pull");
});

Deno.test("the model in the box is pulled without a registry, and gone from removal to pull", async () => {
  const { app } = await createBoxApp();
  const post = (path: string, body: object, method = "POST") =>
    app.request(path, { method, body: JSON.stringify(body) });
  const list = async () => {
    const { data } = await (await app.request("/v1/models")).json();
    return data.map(({ id }: { id: string }) => id);
  };
  const pulled = { status: "success" };
  const body = { model: "quern:tiny" };
  assertEquals(await (await post("/api/pull", { ...body, stream: false })).json(), pulled);
  await post("/api/copy", { source: "quern:tiny", destination: "mine" });
  assertEquals(await list(), ["mine:latest", "quern:tiny"]);
  assertEquals((await post("/api/delete", body, "DELETE")).status, 200);
  assertEquals(await list(), ["mine:latest"]);
  assertEquals((await post("/api/show", body)).status, 404);
  assertStringIncludes(await (await post("/api/pull", body)).text(), '{"status":"success"}\n');
  assertEquals(await list(), ["mine:latest", "quern:tiny"]);
});

Deno.test("ignore_eos goes on where the model ends, up to num_predict", async () => {
  const ask = async (options: object) => {
    const body = { model: "quern:tiny", prompt: "What is 2 plus 3?", stream: false, options };
    const response = await app.request("/api/generate", {
      method: "POST",
      body: JSON.stringify(body),
    });
    const { done_reason, eval_count } = await response.json();
    return [done_reason, eval_count];
  };
  const [reason, count] = await ask({ temperature: 0, num_predict: 64 });
  assertEquals([reason, count < 64], ["stop", true]);
  assertEquals(await ask({ temperature: 0, num_predict: 64, ignore_eos: true }), ["length", 64]);
});

const EXAMPLES = share(10, 20);

Deno.test(`the model in the box has the skills that it is said to have, in ${EXAMPLES} examples of each`, async () => {
  const scores = await evaluate(askOverHttp("http://127.0.0.1", "quern:tiny", send), EXAMPLES);
  for (const [skill, floor] of Object.entries(FLOORS)) {
    const { right, count } = scores.find(({ name }) => name === skill)!;
    assert(right / count >= floor, `${skill}: ${right} of ${count}`);
  }
});
