// Clients that hardly read: the model is given back when it has said all, their answers are whole all
// the same, and what waits for them is bounded.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { UnreadBudget, UnreadEvents } from "../../../../server/http/generation/unread.ts";
import { fakeUsage, says, type Script } from "../../fake_model.ts";
import { createTestApp, readLines } from "../../test_app.ts";
import { until } from "../../../until.ts";

const words = Array.from({ length: 500 }, (_, index) => `word${index} `);
const messages = [{ role: "user", content: "Sing." }];

/** Paths with bodies for streams, and where the text of a record is. */
const dialects: [path: string, body: object][] = [
  ["/api/chat", { messages }],
  ["/api/generate", { prompt: "Sing." }],
  ["/v1/messages", { messages, max_tokens: 999, stream: true }],
  ["/v1/chat/completions", { messages, stream: true }],
  ["/v1/completions", { prompt: "Sing.", stream: true }],
  ["/v1/completions", { prompt: ["Sing.", "Dance."], stream: true, echo: false }],
  ["/v1/responses", { input: "Sing.", stream: true }],
];

for (const [path, body] of dialects) {
  Deno.test(`POST ${path} of ${Object.keys(body)}: a stream that nobody reads holds no model`, async () => {
    const { post, loads, loaded, app } = createTestApp({ script: says(...words) });
    const response = await post(path, { model: "tiny", ...body });
    const reader = response.body!.getReader();
    let text = new TextDecoder().decode((await reader.read()).value);
    // Other options retire the model, so that everybody waits for its last user.
    const options = { num_batch: 8 };
    const others = [["/api/generate", { prompt: "x" }], ["/api/chat", { messages }]] as const;
    const answers = others.map(([path, asked]) =>
      post(path, { model: "tiny", ...asked, stream: false, options })
    );
    await until(() => loads.length === 2);
    for (const answer of answers) assertEquals((await answer).status, 200);
    assert(loaded[0]!.closed);
    assertStringIncludes(await (await app.request("/metrics")).text(), "\nquern_queue_length 0\n");

    for (let next; !(next = await reader.read()).done;) {
      text += new TextDecoder().decode(next.value);
    }
    for (const word of words) assertStringIncludes(text, word);
  });
}

/** A script that says so much, and tells when it ended and why. */
function saysMuch(pieces: number, onEnd: (isAborted: boolean) => void): Script {
  return async function* ({ signal }) {
    try {
      for (let i = 0; i < pieces && !signal!.aborted; i++) {
        yield { type: "text", text: "x".repeat(1000) };
        await Promise.resolve();
      }
      if (!signal!.aborted) yield { type: "done", reason: "stop", usage: fakeUsage };
    } finally {
      onEnd(signal!.aborted);
    }
  };
}

Deno.test("a client that lets too much wait loses its answer, with the reason at its end", async () => {
  let ended = 0;
  const script = saysMuch(1000, () => void ended++);
  const { post } = createTestApp({ script }, { unreadLimits: { answer: 100_000 } });
  const response = await post("/api/chat", { model: "tiny", messages });
  await until(() => ended === 1);
  const lines = await readLines(response);
  assert(lines.length > 10 && lines.length < 60, `${lines.length}`);
  assertStringIncludes(String(lines.at(-1)!.error), "the client reads too slowly");
  // Whole answers wait for nobody.
  const whole = await post("/api/chat", { model: "tiny", messages, stream: false });
  assertEquals((await whole.json()).message.content.length, 1_000_000);
});

Deno.test("slow clients that fill the memory for all do not disturb one that reads", async () => {
  let ended = 0;
  const script = saysMuch(300, () => void ended++);
  const unreadLimits = { all: 1_000_000, free: 20_000 };
  const { post, loaded } = createTestApp({ script }, { unreadLimits });
  const chat = () => post("/api/chat", { model: "tiny", messages });
  const slow: Response[] = [];
  for (let count = 1; count <= 3; count++) {
    slow.push(await chat());
    await until(() => ended === count);
  }
  loaded[0]!.script = says("Hel", "lo");
  assertEquals((await readLines(await chat())).at(-1)!.done, true);
  const ends = await Promise.all(slow.map(async (response) => (await readLines(response)).at(-1)!));
  assertEquals(ends.map(({ done }) => done), [true, undefined, undefined]);
  for (const { error } of ends.slice(1)) assertStringIncludes(String(error), "reads too slowly");
});

Deno.test("events wait in order, and give their memory back when they are read or dropped", async () => {
  const budget = new UnreadBudget({ free: 0 });
  const events = new UnreadEvents(budget);
  const texts = Array.from({ length: 5000 }, (_, index) => `${index}`);
  const read: string[] = [];
  const next = async () => {
    const { value, done } = await events.next();
    if (!done && value.type === "text") read.push(value.text);
    return !done;
  };
  const waiting = next();
  for (const text of texts) events.push({ type: "text", text });
  await waiting;
  for (let i = 0; i < 3000; i++) await next();
  assert(budget.held > 1999 * 128);
  for (const text of ["a", "b"]) events.push({ type: "text", text });
  events.close();
  events.push({ type: "text", text: "late" });
  while (await next());
  assertEquals(read, [...texts, "a", "b"]);
  assertEquals(budget.held, 0);

  const dropped = new UnreadEvents(budget);
  dropped.push({ type: "text", text: "x" });
  dropped.drop();
  assertEquals([budget.held, (await dropped.next()).done], [0, true]);
  const failed = new UnreadEvents(budget);
  failed.close({ error: new Error("lost") });
  await assertRejects(() => failed.next(), Error, "lost");
});
