// Answers that are not streamed and take long: white space keeps their connection alive, and an error
// that comes after it is the body.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { ModelClosedError } from "../../../../engine/errors.ts";
import { failsAfter, says, type Script } from "../../fake_model.ts";
import { createTestApp } from "../../test_app.ts";
import { until } from "../../../until.ts";
import { serve } from "../connection/raw_client.ts";

const messages = [{ role: "user", content: "Sing." }];

/** Paths with bodies for them, and where their errors have the sentence. */
const dialects: [path: string, body: object, messageOf: (body: Told) => string][] = [
  ["/api/chat", { messages, stream: false }, ({ error }) => error as string],
  ["/api/generate", { prompt: "Sing.", stream: false }, ({ error }) => error as string],
  ["/v1/messages", { messages, max_tokens: 99 }, inner],
  ["/v1/chat/completions", { messages }, inner],
  ["/v1/completions", { prompt: "Sing." }, inner],
  ["/v1/responses", { input: "Sing." }, inner],
];

interface Told {
  error?: unknown;
}

function inner({ error }: Told): string {
  return (error as { message: string }).message;
}

/** A script that waits before it does what another says. */
function afterwards(gate: Promise<void>, script: Script): Script {
  return async function* (request) {
    await gate;
    yield* script(request);
  };
}

/** The text of an answer, for which something is done once it has so many bytes. */
async function textOf(response: Response, bytes: number, act: () => void): Promise<string> {
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.length >= bytes) act();
  }
  return text;
}

for (const [path, body, messageOf] of dialects) {
  Deno.test(`POST ${path}: an answer that takes long is kept alive by white space`, async () => {
    const gate = Promise.withResolvers<void>();
    const script = afterwards(gate.promise, says("La", " la"));
    const test = createTestApp({ script }, { whiteSpaceMilliseconds: 5 });
    const response = await test.post(path, { model: "tiny", ...body });
    assertEquals(response.status, 200);
    assertMatch(response.headers.get("content-type")!, /^application\/json/);
    assert(response.headers.get("x-request-id"));
    assertEquals(test.lines.filter((line) => line.includes("POST")), []);
    const text = await textOf(response, 3, gate.resolve);
    assertMatch(text, /^ {3}\s*\{/);
    assertMatch(text, /La la/);
    JSON.parse(text);
    await until(() => test.lines.some((line) => line.includes(`POST ${path} 200`)));
  });

  Deno.test(`POST ${path}: an error after white space is the body, and the log has its status`, async () => {
    const gate = Promise.withResolvers<void>();
    const script = afterwards(gate.promise, failsAfter([], new ModelClosedError("it was closed")));
    const test = createTestApp({ script }, { whiteSpaceMilliseconds: 5 });
    const response = await test.post(path, { model: "tiny", ...body });
    assertEquals(response.status, 200);
    gate.resolve();
    assertMatch(messageOf(await response.json()), /it was closed/);
    await until(() => test.lines.some((line) => line.includes(`POST ${path} 503`)));
  });

  Deno.test(`POST ${path}: without white space an error has its status, however late`, async () => {
    const gate = Promise.withResolvers<void>();
    const script = afterwards(gate.promise, failsAfter([], new ModelClosedError("it was closed")));
    const { post, loaded } = createTestApp({ script }, { whiteSpaceMilliseconds: 0 });
    const answered = post(path, { model: "tiny", ...body });
    await until(() => loaded[0]?.requests.length === 1);
    gate.resolve();
    const response = await answered;
    assertEquals(response.status, 503);
    assertMatch(messageOf(await response.json()), /it was closed/);
  });
}

Deno.test("white space reaches a client as chunks, and a client that leaves ends the answer", async () => {
  const ended = Promise.withResolvers<void>();
  const script: Script = async function* ({ signal }) {
    yield { type: "start", promptTokens: 1, cachedTokens: 0 };
    await new Promise((resolve) => signal!.addEventListener("abort", resolve));
    ended.resolve();
  };
  const { app } = createTestApp({ script }, { whiteSpaceMilliseconds: 5 });
  await using server = serve(app.fetch);
  const url = `http://127.0.0.1:${server.port}/api/chat`;
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify({ model: "tiny", messages, stream: false }),
  });
  const reader = response.body!.getReader();
  assertEquals(new TextDecoder().decode((await reader.read()).value), " ");
  assertEquals(new TextDecoder().decode((await reader.read()).value), " ");
  await reader.cancel();
  await ended.promise;
});

Deno.test("a pull that is not streamed is kept alive as well", async () => {
  const gate = Promise.withResolvers<void>();
  async function* pull() {
    await gate.promise;
    yield { status: "success" };
  }
  const registry = { pull, push: pull };
  const { post } = createTestApp({}, { whiteSpaceMilliseconds: 5, registry });
  const response = await post("/api/pull", { model: "tiny", stream: false });
  assertMatch(await textOf(response, 2, gate.resolve), /^ {2,}\{"status":"success"\}$/);
});
