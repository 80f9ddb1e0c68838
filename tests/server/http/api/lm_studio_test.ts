// LM Studio's API about models, with right and wrong input.

import { assertEquals, assertMatch } from "@std/assert";
import { createTestApp } from "../../test_app.ts";
import { until } from "../../../until.ts";

Deno.test("a model is loaded with a window, listed as loaded, and unloaded", async () => {
  const { app, post, manager } = createTestApp();
  const instances = async () => {
    const { models } = await (await app.request("/api/v1/models")).json();
    assertEquals(models[0].quantization.name, "Q4_K_M");
    return models.map((model: { loaded_instances: object[] }) => model.loaded_instances);
  };
  assertEquals(await instances(), [[], []]);
  const body = { model: "tiny", context_length: 2048, echo_load_config: true };
  const loaded = await (await post("/api/v1/models/load", body)).json();
  assertEquals([loaded.status, loaded.instance_id, loaded.load_config], [
    "loaded",
    "tiny:latest",
    { context_length: 2048 },
  ]);
  assertEquals(await instances(), [[{ id: "tiny:latest", config: { context_length: 2048 } }], []]);
  assertEquals(manager.running()[0]!.expiresAt, Infinity);
  const unloaded = await post("/api/v1/models/unload", { instance_id: loaded.instance_id });
  assertEquals(await unloaded.json(), { instance_id: "tiny:latest" });
  assertEquals(await instances(), [[], []]);
});

Deno.test("a download goes on by itself, and its state can be asked for", async () => {
  const gate = Promise.withResolvers<void>();
  async function* pull(_store: unknown, name: string) {
    yield { status: "pulling", digest: "sha256:1", total: 100, completed: 40 };
    await gate.promise;
    if (name === "broken") throw new Error("no such model there");
    yield { status: "pulling", digest: "sha256:1", total: 100, completed: 100 };
  }
  const { app, post } = createTestApp({}, { registry: { pull, push: pull } });
  const begin = async (model: string) =>
    await (await post("/api/v1/models/download", { model, quantization: "q8" })).json();
  const jobs = [await begin("other"), await begin("other")];
  assertEquals(jobs[0].job_id, jobs[1].job_id);
  const { job_id: broken } = await (await post("/api/v1/models/download", { model: "broken" }))
    .json();
  const state = async (id: string) =>
    await (await app.request(`/api/v1/models/download/status/${id}`)).json();
  await until(() => true);
  const halfway = await state(jobs[0].job_id);
  assertEquals([halfway.status, halfway.downloaded_bytes], ["downloading", 40]);
  gate.resolve();
  await new Promise((resolve) => setTimeout(resolve));
  const end = await state(jobs[0].job_id);
  assertEquals([end.status, end.downloaded_bytes, end.total_size_bytes], ["completed", 100, 100]);
  assertMatch((await state(broken)).error, /no such model there/);
  const there = await (await post("/api/v1/models/download", { model: "tiny" })).json();
  assertEquals(there, { status: "already_downloaded" });
});

const wrong: [path: string, body: object, status: number, message: RegExp][] = [
  ["load", {}, 400, /model is required/],
  ["load", { model: "nope" }, 404, /'nope' not found/],
  ["load", { model: "tiny", context_length: "x" }, 400, /context_length/],
  ["load", { model: "tiny", context_size: 4 }, 400, /context_size/],
  ["unload", {}, 400, /instance_id is required/],
  ["unload", { instance_id: "nope" }, 404, /not found/],
  ["download", { model: "a b" }, 400, /invalid model name/],
];

for (const [path, body, status, message] of wrong) {
  Deno.test(`POST /api/v1/models/${path} refuses ${JSON.stringify(body)}`, async () => {
    const response = await createTestApp().post(`/api/v1/models/${path}`, body);
    assertEquals(response.status, status);
    assertMatch((await response.json()).error.message, message);
  });
}

Deno.test("a download that never was is not found", async () => {
  const response = await createTestApp().app.request("/api/v1/models/download/status/job_1");
  assertEquals(response.status, 404);
  assertMatch((await response.json()).error.message, /no download "job_1"/);
});
