// What the server tells those who run it: health, metrics, and how it stops taking requests.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { WorkerBusyError } from "../../../../../engine/errors.ts";
import { Drain } from "../../../../../server/http/drain.ts";
import { measures, says, saysForever } from "../../../fake_model.ts";
import { createTestApp, type TestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

const messages = [{ role: "user", content: "Hi" }];

/** The metrics as a table from the name with its labels to the value. */
async function readMetrics({ app }: TestApp): Promise<Record<string, number>> {
  const response = await app.request("/metrics");
  assertEquals(response.status, 200);
  assertStringIncludes(response.headers.get("content-type")!, "text/plain; version=0.0.4");
  const lines = (await response.text()).split("\n").filter((line) => /^[a-z]/.test(line));
  return Object.fromEntries(lines.map((line) => {
    const [, name, value] = /^(.*) (\S+)$/.exec(line)!;
    return [name, Number(value)];
  }));
}

Deno.test("GET /health and HEAD /health say that the server is well", async () => {
  const { app } = createTestApp();
  const response = await app.request("/health");
  assertEquals([response.status, await response.json()], [200, { status: "ok", version: "1.2.3" }]);
  assertEquals((await app.request("/health", { method: "HEAD" })).status, 200);
});

Deno.test("GET /api/status says that nothing runs in a cloud", async () => {
  const { app } = createTestApp();
  const response = await app.request("/api/status");
  assertEquals(await response.json(), { cloud: { disabled: true, source: "config" } });
});

Deno.test("GET /metrics counts requests, tokens and rates exactly", async () => {
  const test = createTestApp({ embedder: measures });
  const before = await readMetrics(test);
  assertEquals(before["quern_completion_tokens_total"], 0);
  assertEquals(before["quern_loaded_models"], 0);
  for (const stream of [true, false]) {
    await (await test.post("/api/chat", { model: "tiny", messages, stream })).text();
  }
  await test.post("/api/embed", { model: "tiny", input: ["abc", "de"] });
  await test.post("/api/chat", { model: "nope", messages });
  await test.app.request("/nothing/here");
  await test.app.request("/nor/there", { method: "BREW" });
  const after = await readMetrics(test);
  const expected = {
    'quern_http_requests_total{method="POST",route="/api/chat",status="200"}': 2,
    'quern_http_requests_total{method="POST",route="/api/chat",status="404"}': 1,
    'quern_http_requests_total{method="POST",route="/api/embed",status="200"}': 1,
    'quern_http_requests_total{method="GET",route="other",status="404"}': 1,
    'quern_http_requests_total{method="other",route="other",status="404"}': 1,
    'quern_http_requests_total{method="GET",route="/metrics",status="200"}': 1,
    quern_http_request_duration_seconds_count: 7,
    quern_prompt_tokens_total: 2 * 11 + 5,
    quern_cached_prompt_tokens_total: 2 * 4,
    quern_completion_tokens_total: 2 * 3,
    quern_time_to_first_token_seconds_count: 2,
    quern_prefill_tokens_per_second_sum: 2 * 1000,
    quern_decode_tokens_per_second_sum: 2 * 100,
    'quern_decode_tokens_per_second_bucket{le="50"}': 0,
    'quern_decode_tokens_per_second_bucket{le="100"}': 2,
    quern_queue_length: 0,
    quern_loaded_models: 1,
    quern_busy_workers: 0,
    quern_busy_workers_seen: 0,
    'quern_gpu_memory_bytes{model="tiny:latest",kind="weights"}': 1000,
    'quern_gpu_memory_bytes{model="tiny:latest",kind="kv_cache"}': 200,
    'quern_gpu_memory_bytes{model="tiny:latest",kind="scratch"}': 30,
    'quern_slots{model="tiny:latest",state="used"}': 1,
    'quern_slots{model="tiny:latest",state="free"}': 3,
    'quern_kv_blocks{model="tiny:latest",state="used"}': 2,
    'quern_kv_blocks{model="tiny:latest",state="cached"}': 5,
    'quern_kv_blocks{model="tiny:latest",state="free"}': 9,
    'quern_tokens{model="tiny:latest",state="running"}': 40,
    'quern_tokens{model="tiny:latest",state="waiting"}': 7,
    'quern_info{version="1.2.3"}': 1,
  };
  for (const [name, value] of Object.entries(expected)) {
    assertEquals([name, after[name]], [name, value]);
  }
});

Deno.test("a worker that does not answer shows in /health, /api/ps and /metrics until it does", async () => {
  const test = createTestApp();
  await (await test.post("/api/chat", { model: "tiny", messages })).text();
  const ended = Promise.withResolvers<void>();
  test.loads[0].options.onBusy!(new WorkerBusyError(10_000, ended.promise));
  const look = async () => {
    const health = await (await test.app.request("/health")).json();
    const { models, busy_workers } = await (await test.app.request("/api/ps")).json();
    const metrics = await readMetrics(test);
    const counts = [metrics["quern_busy_workers"], metrics["quern_busy_workers_seen"]];
    return { health, loaded: models.length, busy_workers, counts };
  };
  const busy = await look();
  assertEquals(busy.health, { status: "ok", version: "1.2.3", busy_workers: 1 });
  assertEquals(busy.busy_workers[0].model, "tiny:latest");
  assert(Date.now() - Date.parse(busy.busy_workers[0].since) < 60_000);
  assertEquals([busy.loaded, busy.counts], [1, [1, 1]]);
  ended.resolve();
  await ended.promise;
  const { health, busy_workers, counts } = await look();
  assertEquals([health, busy_workers], [{ status: "ok", version: "1.2.3" }, undefined]);
  assertEquals(counts, [0, 1]);
});

Deno.test("/metrics is OpenMetrics for who asks for it, with the traces of requests", async () => {
  const test = createTestApp();
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const body = JSON.stringify({ model: "tiny", messages });
  await (await test.app.request("/api/chat", { method: "POST", headers, body })).text();
  const accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4";
  const response = await test.app.request("/metrics", { headers: { accept } });
  assertEquals(response.headers.get("content-type")?.split(";")[0], "application/openmetrics-text");
  const text = await response.text();
  assert(text.endsWith("# EOF\n"));
  for (const name of ["quern_time_to_first_token_seconds", "vllm:e2e_request_latency_seconds"]) {
    const bucket = text.split("\n").find((line) =>
      line.startsWith(`${name}_bucket`) && line.includes(`# {trace_id="${traceId}"} `)
    );
    assert(bucket, name);
  }
  assert(!(await (await test.app.request("/metrics")).text()).includes(traceId));
});

Deno.test("metrics show who waits, and forget the memory of a model that was unloaded", async () => {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const test = createTestApp({
    script: async function* (request) {
      waiting++;
      await gate.promise;
      yield* says("ok")(request);
    },
  });
  const answers = [1, 2, 3].map(() => test.post("/api/chat", { model: "tiny", messages }));
  await until(() => waiting === 3);
  assertEquals((await readMetrics(test))["quern_queue_length"], 3);
  gate.resolve();
  for (const answer of answers) await (await answer).text();
  await test.post("/api/chat", { model: "tiny", keep_alive: 0 });
  const metrics = await readMetrics(test);
  assertEquals([metrics["quern_queue_length"], metrics["quern_loaded_models"]], [0, 0]);
  for (const gauge of ["quern_gpu_memory_bytes", "quern_slots", "quern_kv_blocks"]) {
    assert(Object.keys(metrics).every((name) => !name.startsWith(gauge)), gauge);
  }
});

Deno.test("two applications count for themselves", async () => {
  const [one, other] = [createTestApp(), createTestApp()];
  await (await one.post("/api/chat", { model: "tiny", messages })).text();
  assertEquals((await readMetrics(one))["quern_completion_tokens_total"], 3);
  assertEquals((await readMetrics(other))["quern_completion_tokens_total"], 0);
});

Deno.test("a draining server ends its streams, sends new requests away and says so", async () => {
  const drain = new Drain();
  const { app, post } = createTestApp({ script: saysForever() }, { drain });
  const stream = await post("/api/chat", { model: "tiny", messages });
  const reader = stream.body!.getReader();
  await reader.read();
  assertEquals(drain.running, 1);

  let idle = false;
  const drained = drain.begin().then(() => idle = true);
  const refused = await post("/api/chat", { model: "tiny", messages });
  assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  assertEquals(await refused.json(), { error: "the server is shutting down" });
  const anthropic = await post("/v1/messages", {});
  assertEquals([anthropic.status, (await anthropic.json()).error.type], [503, "overloaded_error"]);
  const health = await app.request("/health");
  assertEquals([health.status, await health.json()], [503, {
    status: "shutting down",
    version: "1.2.3",
  }]);
  assertEquals((await app.request("/")).status, 200);

  assert(!(await reader.read()).done);
  assert(!idle);
  await reader.cancel();
  await drained;
  assertEquals(drain.running, 0);
});

Deno.test("a request that fails is no longer running, and an empty drain is over at once", async () => {
  const drain = new Drain();
  const { app, post } = createTestApp({}, { drain });
  await post("/api/chat", "{");
  await app.request("/nothing/here");
  assertEquals(drain.running, 0);
  await drain.begin();
});
