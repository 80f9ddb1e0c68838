// Request bodies: what they may hold together, how they are decompressed, and that large ones keep
// nobody waiting. Bodies that are no request are in robustness_test.ts.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { says, type Script } from "../../fake_model.ts";
import { post as postHead, serve } from "../connection/raw_client.ts";
import { createStoreApp } from "../../store_app.ts";
import { createTestApp } from "../../test_app.ts";
import { until } from "../../../until.ts";
import { assertInTime, threadTime } from "../../../cpu_time.ts";

const KILOBYTES = 2 ** 10;

function generateOf(size: number): string {
  const text = '{"model":"tiny","stream":false,"prompt":""}';
  return text.slice(0, -2) + "x".repeat(size - text.length) + text.slice(-2);
}

/** A script that waits for the gate before it says anything. */
function waitsFor(gate: Promise<unknown>): Script {
  return async function* (request) {
    const gone = new Promise((resolve) => request.signal!.addEventListener("abort", resolve));
    await Promise.race([gate, gone]);
    if (!request.signal!.aborted) yield* says("done")(request);
  };
}

Deno.test("bodies beyond what all may hold get 503, until those before are answered", async () => {
  const gate = Promise.withResolvers<void>();
  const options = { maxHeldBytes: 300 * KILOBYTES };
  const { post, loaded } = createTestApp({ script: waitsFor(gate.promise) }, options);
  const large = generateOf(300 * KILOBYTES);
  const first = post("/api/generate", large);
  await until(() => loaded[0]?.requests.length === 1);
  for (const [path, body] of [["/api/generate", large], ["/v1/chat/completions", large]] as const) {
    const refused = await post(path, body);
    assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    assertStringIncludes(await refused.text(), "server busy");
  }
  const small = Array.from({ length: 20 }, () => post("/api/generate", generateOf(40_000)));
  await until(() => loaded[0]!.requests.length === 21);
  gate.resolve();
  for (const answer of [first, ...small]) assertEquals((await answer).status, 200);
  assertEquals((await post("/api/generate", large)).status, 200);
});

Deno.test("what a body held is given back however its request ends", async () => {
  const body = { model: "tiny", prompt: "x".repeat(200 * KILOBYTES) };
  const { app, post, loaded } = createTestApp(
    { script: waitsFor(new Promise(() => {})) },
    { maxHeldBytes: 256 * KILOBYTES },
  );
  for (let count = 0; count < 3; count++) {
    const statuses = [400, 400, 404, 400];
    const faults = [
      `${JSON.stringify(body)}}`,
      JSON.stringify({ ...body, model: 5 }),
      JSON.stringify({ ...body, model: "none" }),
      "[".repeat(200 * KILOBYTES),
    ];
    for (const [index, fault] of faults.entries()) {
      assertEquals((await post("/api/generate", fault)).status, statuses[index]);
    }
    const abort = new AbortController();
    const text = JSON.stringify({ ...body, stream: false });
    const init = { method: "POST", body: text, signal: abort.signal };
    const answer = app.request("/api/generate", init);
    await until(() => loaded[0]?.requests.length === count + 1);
    assertEquals((await post("/api/generate", text)).status, 503);
    abort.abort();
    assertEquals((await answer).status, 499);
  }
});

Deno.test("bodies with more values than any request has reason to get 413", async () => {
  const { post, loaded } = createTestApp();
  const cases = [
    ["[" + "1,".repeat(1_000_001) + "1]", "over 1000000 values"],
    ["[" + "{},".repeat(200_001) + "1]", "over 200000 arrays"],
    [
      "{" + Array.from({ length: 200_001 }, (_, index) => `"${index}":1`).join() + "}",
      "over 65536 members of one object",
    ],
  ];
  for (const [body, words] of cases) {
    const response = await post("/api/chat", body);
    assertEquals(response.status, 413);
    assertStringIncludes((await response.json()).error, words!);
  }
  assertEquals(loaded.length, 0);
});

Deno.test("compressed bodies are read on every route, and bounded by what they come to", async () => {
  const { app } = createTestApp({}, { maxBodyBytes: 500_000, maxHeldBytes: 10_000_000 });
  const paths = ["/api/generate", "/v1/completions"];
  const ask = async (path: string, body: BodyInit, encoding: string) => {
    const headers = { "content-encoding": encoding };
    return (await app.request(path, { method: "POST", body, headers })).status;
  };
  const text = new TextEncoder().encode(generateOf(400_000));
  const bomb = new Uint8Array(50_000_000);
  for (const path of paths) {
    for (const [name, compress] of [["gzip", gzipSync], ["zstd", zstdCompressSync]] as const) {
      const compressed = new Uint8Array(compress(text));
      assertEquals([name, await ask(path, compressed, name)], [name, 200]);
      assertEquals(await ask(path, compressed.slice(0, -5), name), 400);
      assertEquals(await ask(path, compressed.with(30, compressed[30]! ^ 255), name), 400);
      assertEquals(await ask(path, text, name), 400);
      assertEquals(await ask(path, new Uint8Array(), name), 400);
      assertEquals(await ask(path, new Uint8Array(compress(bomb)), name), 413);
    }
    assertEquals(await ask(path, text, "identity"), 200);
    assertEquals(await ask(path, text, "br"), 415);
    assertEquals(await ask(path, text, "gzip, gzip"), 415);
    assertEquals(await ask(path, text, "constructor"), 415);
  }
});

Deno.test("a byte order mark before a body is passed over, a second one is not", async () => {
  const { post } = createTestApp();
  assertEquals((await post("/api/generate", "\ufeff" + generateOf(100))).status, 200);
  assertEquals((await post("/api/generate", "\ufeff\ufeff" + generateOf(100))).status, 400);
});

Deno.test("six large bodies at once are read, and /health is answered all the while", async () => {
  const { app } = createTestApp();
  await using server = serve(app.fetch);
  const bodies = [
    generateOf(32 * 2 ** 20),
    generateOf(16 * 2 ** 20).replace("xx", "é中"),
    "[" + "[],".repeat(4e6),
    "[".repeat(8e6),
    `["${"\\n".repeat(4e6)}"]`,
    `{"model":"tiny","prompt":"x","options":{"stop":["${'x","'.repeat(9e5)}"]}}`,
  ];
  let running = true;
  const answers = Promise.all(bodies.map(async (body) => {
    const response = await fetch(`${server.url}/api/generate`, { method: "POST", body });
    await response.text();
    return response.status;
  })).finally(() => running = false);
  let longest = 0;
  while (running) {
    const start = threadTime();
    assertEquals((await (await fetch(`${server.url}/health`)).json()).status, "ok");
    longest = Math.max(longest, threadTime() - start);
  }
  assertEquals(await answers, [200, 200, 413, 400, 400, 200]);
  // Each slice of parsing is followed by a turn of everybody else: the answer waits for about 100 ms of
  // others' computing, and where nothing pauses for 200 ms and more.
  assertInTime(longest, 150, "an answer of /health");
});

Deno.test("an upload that its client gives up is neither an error nor a blob", async () => {
  const errors: string[] = [];
  const lines: string[] = [];
  const log = {
    debug() {},
    info: (text: string) => void lines.push(text),
    warn() {},
    error: (text: string) => void errors.push(text),
  };
  const { app, store } = await createStoreApp({ log });
  const digest = `sha256:${"0".repeat(64)}`;
  await using server = serve(app.fetch);
  const path = `/api/blobs/${digest}`;
  for (const [index, leave] of ["close", "closeWrite", "close"].entries()) {
    using client = await server.connect();
    const text = postHead(2_000_000, { path, chunked: index === 2 });
    await client.send(text.slice(0, 1_000_000));
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (leave === "close") client[Symbol.dispose]();
    else await client.connection.closeWrite();
    await until(() => lines.length === index + 1);
    assert(/^POST \/api\/blobs\/\S+ 4\d\d /.test(lines[index]!), lines[index]);
  }
  assertEquals(errors, []);
  const files = await Array.fromAsync(Deno.readDir(store.blobs.folder));
  assert(files.every(({ name }) => !name.endsWith("-temporary")));
});
