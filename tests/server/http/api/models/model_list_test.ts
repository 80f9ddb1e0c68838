// GET /v1/models and /v1/models/{name} for the clients of both vendors.

import { assertEquals } from "@std/assert";
import type { ModelStore, StoreEntry } from "../../../../../engine/mod.ts";
import type { OpenAiModel } from "../../../../../server/http/api/models/answer_schema.ts";
import { toOpenAiModel } from "../../../../../server/http/api/models/lists.ts";
import { fakeInfo } from "../../../fake_model.ts";
import { createTestApp } from "../../../test_app.ts";

const created = Math.floor(Date.parse("2026-08-21T10:00:00.123Z") / 1000);
const anthropic = { headers: { "anthropic-version": "2023-06-01" } };

Deno.test("GET /v1/models lists the models in the shape of either vendor", async () => {
  const { app } = createTestApp();
  const description = "llama, 999.89M weights in Q4_K_M: completion";
  const openAi = (id: string) => ({
    id,
    object: "model",
    created,
    owned_by: "library",
    display_name: id,
    description,
    capabilities: ["completion"],
    meta: {
      n_ctx: 8192,
      n_ctx_train: 8192,
      n_embd: 64,
      n_params: 999_885_952,
      size: 1000,
    },
    status: { value: "unloaded" },
  });
  assertEquals(await (await app.request("/v1/models")).json(), {
    object: "list",
    data: [openAi("tiny:latest"), openAi("story:latest")],
  });
  const model = (id: string) => ({
    type: "model",
    id,
    display_name: id,
    description,
    created_at: "2026-08-21T10:00:00.123Z",
    max_input_tokens: 8192,
  });
  assertEquals(await (await app.request("/v1/models?limit=1", anthropic)).json(), {
    data: [model("tiny:latest"), model("story:latest")],
    has_more: false,
    first_id: "tiny:latest",
    last_id: "story:latest",
  });
});

Deno.test("an empty store gives empty lists, never null", async () => {
  const store = {
    list: () => Promise.resolve([]),
    find: () => Promise.reject(new Error("unused")),
    digest: () => Promise.resolve(""),
  } as unknown as ModelStore;
  const { app } = createTestApp({}, { store });
  assertEquals(await (await app.request("/v1/models")).json(), { object: "list", data: [] });
  assertEquals(await (await app.request("/v1/models", anthropic)).json(), {
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

Deno.test("GET /v1/models/{name} gives one by the name that it was asked for", async () => {
  const { app } = createTestApp();
  for (const name of ["tiny", "tiny:latest", "tiny%3Alatest"]) {
    const { id } = await (await app.request(`/v1/models/${name}`)).json();
    assertEquals(id, decodeURIComponent(name));
  }
  const model = await (await app.request("/v1/models/tiny", anthropic)).json();
  assertEquals([model.type, model.id, model.display_name], ["model", "tiny", "tiny:latest"]);
});

Deno.test("unknown and impossible names get 404 and 400 in the shape of either vendor", async () => {
  const { app } = createTestApp();
  for (const name of ["nope", "a/b:c", "a%2Fb"]) {
    const message = `model '${decodeURIComponent(name)}' not found`;
    const response = await app.request(`/v1/models/${name}`);
    const error = { message, type: "not_found_error", param: null, code: "model_not_found" };
    assertEquals([response.status, await response.json()], [404, { error }]);
    const other = await app.request(`/v1/models/${name}`, anthropic);
    const { type, error: inner } = await other.json();
    assertEquals([other.status, type, inner], [404, "error", { type: "not_found_error", message }]);
  }
  assertEquals((await app.request("/v1/models/a%20b")).status, 400);
  assertEquals((await app.request("/v1/models", { method: "POST" })).status, 405);
  assertEquals((await app.request("/v1/models/tiny", { method: "DELETE" })).status, 405);
  assertEquals((await app.request("/v1/models", { method: "HEAD" })).status, 200);
});

Deno.test("a list tells the window that a request gets, of a loaded model or of its load", async () => {
  const { app, post } = createTestApp({ contextLength: 4096 });
  const told = async () => {
    const { meta, status } = await (await app.request("/v1/models/tiny")).json();
    return [meta.n_ctx, status.value];
  };
  assertEquals(await told(), [8192, "unloaded"]);
  await post("/api/generate", { model: "tiny" });
  assertEquals(await told(), [4096, "loaded"]);
  const { max_input_tokens } = await (await app.request("/v1/models/tiny", anthropic)).json();
  assertEquals(max_input_tokens, 4096);
  // The model was loaded with more for somebody who named it; a request that names none gets less.
  await post("/api/generate", { model: "tiny", options: { num_ctx: 8000 } });
  assertEquals(await told(), [4096, "loaded"]);
});

Deno.test("the window of a load that does not fit hides neither the model nor the others", async () => {
  const { manager } = createTestApp();
  const windowOf = (entry: StoreEntry) =>
    entry.name === "tiny:latest" ? Promise.reject(new Error("no room")) : Promise.resolve(2048);
  const { app } = createTestApp({}, { manager: Object.assign(manager, { windowOf }) });
  const { data } = await (await app.request("/v1/models")).json();
  assertEquals(data.map(({ meta }: OpenAiModel) => meta.n_ctx), [undefined, 2048]);
});

Deno.test("a model is owned by the namespace of its name", () => {
  const entry = {
    source: { kind: "files", path: "x", adapters: [] },
    defaults: { parameters: {}, messages: [], license: [] },
    size: 1,
    modified: new Date(0),
    info: fakeInfo,
  } as const;
  const owners = ["a:b", "ns/a:b", "hf.co/user/a:b"].map((name) =>
    toOpenAiModel({ entry: { ...entry, name }, id: name, window: 1, status: "loaded" }).owned_by
  );
  assertEquals(owners, ["library", "ns", "user"]);
});
