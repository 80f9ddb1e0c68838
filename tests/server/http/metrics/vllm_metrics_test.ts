// The load of models by vLLM's names: in /metrics, and in the header that load balancers ask for.

import { assertEquals } from "@std/assert";
import { createTestApp } from "../../test_app.ts";

const LABELS = '{model_name="tiny:latest",engine="0"}';

Deno.test("answers are counted by vLLM's names, whatever a client calls the model", async () => {
  const { app, post } = createTestApp();
  let completion = 0;
  for (const model of ["tiny", "tiny:latest"]) {
    const body = { model, stream: false, messages: [{ role: "user", content: "hi" }] };
    completion += (await (await post("/api/chat", body)).json()).eval_count;
  }
  const text = await (await app.request("/metrics")).text();
  const valueOf = (name: string, labels = LABELS) =>
    text.split("\n").find((line) => line.startsWith(`vllm:${name}${labels} `))?.split(" ").at(-1);
  assertEquals(valueOf("generation_tokens_total"), String(completion));
  // The fake model says that it runs one sequence, which has 2 of its 16 blocks.
  assertEquals(valueOf("num_requests_running"), "1");
  assertEquals(valueOf("kv_cache_usage_perc"), "0.125");
  const config = LABELS.replace("}", ',block_size="32",num_gpu_blocks="16"}');
  assertEquals(valueOf("cache_config_info", config), "1");
  assertEquals(valueOf("e2e_request_latency_seconds_count"), "2");
  const stopped = LABELS.replace("}", ',finished_reason="stop"}');
  assertEquals(valueOf("request_success_total", stopped), "2");
});

Deno.test("a request that asks for it is told the load, as text or as JSON", async () => {
  const { app, post } = createTestApp();
  await (await post("/api/generate", { model: "tiny" })).body?.cancel();
  const ask = async (format?: string) => {
    const headers = format ? { "endpoint-load-metrics-format": format } : undefined;
    const response = await app.request("/health", headers && { headers });
    await response.body?.cancel();
    return response.headers.get("endpoint-load-metrics");
  };
  const metrics = {
    kv_cache_usage_perc: 0.125,
    num_requests_running: 1,
    num_requests_waiting: 0,
    num_tokens_running: 40,
    num_tokens_waiting: 7,
  };
  assertEquals(await ask("json"), `JSON ${JSON.stringify({ named_metrics: metrics })}`);
  assertEquals(
    await ask("TEXT"),
    "TEXT " +
      Object.entries(metrics).map(([name, value]) => `named_metrics.${name}=${value}`).join(", "),
  );
  assertEquals([await ask(), await ask("xml")], [null, null]);
});
