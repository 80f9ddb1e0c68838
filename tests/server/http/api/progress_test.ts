// How much of a long prompt is read, as streams tell it where `return_progress` asks for it, with the
// model in the box behind the whole server.

import { createBoxApp } from "../../tiny_app.ts";
import { assert, assertEquals } from "@std/assert";

const { app } = await createBoxApp();

interface Told {
  total: number;
  cache: number;
  processed: number;
  time_ms: number;
}

/** The objects of a stream of lines or events. */
async function stream(path: string, body: object): Promise<Record<string, unknown>[]> {
  const headers = { "content-type": "application/json" };
  const response = await app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
  assertEquals(response.status, 200);
  const lines = (await response.text()).split("\n").map((line) => line.replace(/^data: /, ""));
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

function question(number: number) {
  const content = `Number ${number}. ` + "The mill stands at the river. ".repeat(60);
  const settings = { num_predict: 3, temperature: 0 };
  return { model: "quern:tiny", messages: [{ role: "user", content }], options: settings };
}

for (const path of ["/api/chat", "/v1/chat/completions"]) {
  Deno.test(`${path} tells how much of a prompt is read, where that is asked for`, async () => {
    const body = { ...question(path.length), stream: true };
    const records = await stream(path, { ...body, return_progress: true });
    const told = records.flatMap(({ prompt_progress: one }) => one ? [one as Told] : []);
    assert(told.length >= 3, `${told.length} records`);
    const [first] = told;
    assert(first.total > 300);
    assertEquals(first.processed, first.cache);
    for (const [i, { total, cache, processed, time_ms: time }] of told.entries()) {
      assertEquals([total, cache], [first.total, first.cache]);
      if (i > 0) assert(processed > told[i - 1].processed && time >= told[i - 1].time_ms);
    }
    assertEquals(told.at(-1)!.processed, first.total);
    const last = records.findLastIndex(({ prompt_progress: one }) => one);
    assert(last < records.length - 2, "the answer comes after it");

    // What is still there counts from the beginning.
    const again = await stream(path, { ...body, return_progress: true });
    const begins = again.find(({ prompt_progress: one }) => one)!.prompt_progress as Told;
    assert(begins.cache > 200 && begins.processed === begins.cache);

    assert((await stream(path, body)).every((record) => !("prompt_progress" in record)));
  });
}

Deno.test("num_batch sets how many tokens of a prompt a step reads; 0 leaves it to the device", async () => {
  const answers: string[] = [];
  for (const batch of [48, 0]) {
    const { options, ...rest } = question(100);
    const body = { ...rest, options: { ...options, num_batch: batch }, return_progress: true };
    const records = await stream("/api/chat", { ...body, stream: true });
    const read = records.flatMap(({ prompt_progress: one }) =>
      one ? [(one as Told).processed] : []
    );
    const steps = read.slice(1).map((processed, i) => processed - read[i]);
    if (batch > 0) {
      assert(steps.length >= 6, `${steps}`);
      assert(steps.every((tokens) => tokens <= batch), `${steps}`);
    }
    answers.push(records.map(({ message }) => (message as { content: string })?.content).join(""));
  }
  assertEquals(answers[0], answers[1]);
});
