// The two forms of the log, and that no request can forge a line of it.

import { assert, assertEquals } from "@std/assert";
import { createLog } from "../../server/log.ts";
import { failsAfter } from "./fake_model.ts";
import { createTestApp, ringOf } from "./test_app.ts";
import { until } from "../until.ts";

const now = () => new Date("2026-11-21T10:00:00Z");

function collect(options: { debug?: boolean; format?: "plain" | "json" }) {
  const lines: string[] = [];
  return { lines, log: createLog({ write: (line) => void lines.push(line), now, ...options }) };
}

Deno.test("createLog() writes a line per entry, debug lines only if asked to", () => {
  for (const debug of [false, true]) {
    const { lines, log } = collect({ debug });
    log.debug("a");
    log.info("b", { ignored: 1 });
    log.warn("c");
    log.error("d");
    const written = lines.splice(debug ? 1 : 0);
    assertEquals(lines, debug ? ["2026-11-21T10:00:00.000Z DEBUG a\n"] : []);
    assertEquals(written, [
      "2026-11-21T10:00:00.000Z INFO  b\n",
      "2026-11-21T10:00:00.000Z WARN  c\n",
      "2026-11-21T10:00:00.000Z ERROR d\n",
    ]);
  }
});

Deno.test("createLog() with format json writes one object per line, whatever the text", () => {
  const { lines, log } = collect({ format: "json" });
  log.info('line\nbreak "quoted"', { status: 200, model: undefined });
  assertEquals(lines.length, 1);
  assertEquals(lines[0]!.indexOf("\n"), lines[0]!.length - 1);
  assertEquals(JSON.parse(lines[0]!), {
    time: "2026-11-21T10:00:00.000Z",
    level: "info",
    message: 'line\nbreak "quoted"',
    status: 200,
  });
});

Deno.test("a plain log indents further lines and shows control characters as text", () => {
  const { lines, log } = collect({});
  log.info("x\n2026-11-21T10:00:00.000Z ERROR forged\x1b[2J\r");
  assertEquals(lines, [
    "2026-11-21T10:00:00.000Z INFO  x\n  2026-11-21T10:00:00.000Z ERROR forged\\x1b[2J\\x0d\n",
  ]);
});

Deno.test("a line is bounded in both forms, whatever a client sends", async () => {
  for (const format of ["plain", "json"] as const) {
    const { lines, log } = collect({ format });
    log.warn("x".repeat(1e6), { path: "y".repeat(1e6) });
    const { app } = createTestApp({}, { log, keys: ringOf("secret") });
    const target = `/api/${"z".repeat(60_000)}`;
    assertEquals((await app.request(target)).status, 401);
    assertEquals(lines.length, 2);
    for (const line of lines) assert(line.length < 5000, `${line.length} characters`);
    // The path is cut, and what comes after it is not.
    assert(
      / GET \/api\/z{200,}… \(60005 characters\) 401 - /.test(
        lines[1]!.replace('"message":"', " "),
      ),
      lines[1],
    );
  }
});

Deno.test("the log of requests has exact counts and rates as fields", async () => {
  const { lines, log } = collect({ format: "json" });
  const { post } = createTestApp({}, { log });
  const body = { model: "tiny", messages: [{ role: "user", content: "Hi" }] };
  await (await post("/api/chat", body)).text();
  await until(() => lines.length === 1);
  const { message, total_ms: total, load_ms: load, ...fields } = JSON.parse(lines[0]!);
  assert(message.startsWith("POST /api/chat 200 - tiny - in 4 + 7 - prefill 1000.0 tok/s - "));
  assert(total >= 0 && load >= 0);
  assertEquals(fields, {
    time: "2026-11-21T10:00:00.000Z",
    level: "info",
    method: "POST",
    path: "/api/chat",
    status: 200,
    model: "tiny",
    cached_tokens: 4,
    prompt_tokens: 11,
    completion_tokens: 3,
    prompt_ms: 7,
    completion_ms: 20,
    prefill_tokens_per_second: 1000,
    decode_tokens_per_second: 100,
  });
});

Deno.test("a stream that fails says so in its line of the log, a defect with its stack", async () => {
  const { lines, log } = collect({});
  const body = { model: "tiny", messages: [{ role: "user", content: "Hi" }] };
  const late = createTestApp({ script: failsAfter(["x"], new Error("out of luck")) }, { log });
  await (await late.post("/api/chat", body)).text();
  await until(() => lines.length === 1);
  assert(lines[0]!.includes(" - tiny - failed: out of luck - "), lines[0]);

  const defect = new TypeError("no such thing");
  const early = createTestApp({ script: failsAfter([], defect) }, { log });
  const response = await early.post("/api/chat", body);
  assertEquals(await response.json(), { error: "no such thing" });
  assert(lines.some((line) => /ERROR .*no such thing\n {6}at /.test(line)), lines.join(""));
});
