// Streams as a socket sees them: a chunk holds one line or one event, whole, in every dialect, and what
// comes in a burst is spread out.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { spaced } from "../../../../server/http/stream/stream.ts";
import { says } from "../../fake_model.ts";
import { serve } from "../connection/raw_client.ts";
import { createTestApp } from "../../test_app.ts";

const words = Array.from({ length: 40 }, (_, index) => `word ${index} \u{1f426}\n`);
const messages = [{ role: "user", content: "Sing." }];

/** Paths with bodies for them. */
const dialects: [path: string, body: object][] = [
  ["/api/chat", { messages }],
  ["/api/generate", { prompt: "Sing." }],
  ["/v1/messages", { messages, max_tokens: 99, stream: true }],
  ["/v1/chat/completions", { messages, stream: true }],
  ["/v1/completions", { prompt: "Sing.", stream: true }],
  ["/v1/responses", { input: "Sing.", stream: true }],
];

for (const [path, body] of dialects) {
  Deno.test(`POST ${path}: each chunk of a stream is one record, whole`, async () => {
    const { app } = createTestApp({ script: says(...words) });
    await using server = serve(app.fetch);
    using client = await server.connect();
    const text = JSON.stringify({ model: "tiny", ...body });
    await client.send(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    const { status, chunks } = await client.answer();
    assertEquals(status, 200);
    assert(chunks.length > words.length);
    for (const chunk of chunks) {
      assertMatch(chunk, path.startsWith("/api/") ? /^\{.*\}\n$/ : /^(event: \S+\n)?data: .*\n\n$/);
    }
  });
}

/** Runs with timers that have their time at once, and a clock that knows of no other time. */
async function withQuickTimers(work: (now: () => number) => Promise<void>): Promise<void> {
  const { performance: { now }, setTimeout } = globalThis;
  let clock = 0;
  performance.now = () => clock;
  globalThis.setTimeout = ((act: () => void, milliseconds: number) => {
    clock += milliseconds;
    queueMicrotask(act);
  }) as unknown as typeof setTimeout;
  try {
    await work(() => clock);
  } finally {
    performance.now = now;
    globalThis.setTimeout = setTimeout;
  }
}

Deno.test("records of a burst keep a distance, so that a client reads one at a time", () =>
  withQuickTimers(async (now) => {
    const times: number[] = [];
    const burst = async function* () {
      yield* Array(8).fill("");
      await new Promise((resolve) => setTimeout(resolve, 30));
      yield* Array(8).fill("");
    };
    for await (const _ of spaced(burst())) times.push(now());
    assertEquals(times.length, 16);
    const distances = times.slice(1).map((time, index) => time - times[index]!);
    assert(Math.min(...distances) > 2, `${distances}`);
  }));

Deno.test("a source that is faster than the distance is not held up", () =>
  withQuickTimers(async (now) => {
    let count = 0;
    const fast = async function* () {
      yield* Array(2000).fill("");
    };
    for await (const _ of spaced(fast())) count++;
    assertEquals(count, 2000);
    assert(now() < 100, `${now()} ms`);
  }));
