// POST /api/copy and DELETE /api/delete: what becomes of names, blobs and loaded models.

import { assertEquals } from "@std/assert";
import { createStoreApp } from "../../../store_app.ts";
import { createBoxApp } from "../../../tiny_app.ts";

const messages = [{ role: "user", content: "Hi" }];

Deno.test("a copy answers in every dialect by its name, and shares the load", async () => {
  const { ask, send, loads, app } = await createStoreApp();
  const copied = await send("POST", "/api/copy", {
    source: "tiny",
    destination: "claude-3-5-sonnet",
  });
  assertEquals([copied.status, await copied.text()], [200, ""]);
  const model = "claude-3-5-sonnet";
  const message = await ask("/v1/messages", { model, messages, max_tokens: 5 });
  assertEquals([message.model, message.role], [model, "assistant"]);
  const completion = await ask("/v1/chat/completions", { model, messages });
  assertEquals(completion.model, model);
  const chat = await ask("/api/chat", { model, messages, stream: false });
  assertEquals(chat.model, model);
  await ask("/api/chat", { model: "tiny", messages, stream: false });
  assertEquals(loads.length, 1);
  const { data } = await (await app.request("/v1/models")).json();
  assertEquals(data.map(({ id }: { id: string }) => id).sort(), [
    "claude-3-5-sonnet:latest",
    "plain:latest",
    "tiny:latest",
  ]);
});

Deno.test("copies of the model in the box, and copies of those, have its digest", async () => {
  const { app } = await createBoxApp();
  const copy = async (source: string, destination: string) => {
    const body = JSON.stringify({ source, destination });
    assertEquals((await app.request("/api/copy", { method: "POST", body })).status, 200);
  };
  const digests = async () => {
    const { models } = await (await app.request("/api/tags")).json();
    return models.map(({ digest }: { digest: string }) => digest);
  };
  const [digest] = await digests();
  await copy("quern:tiny", "first");
  await copy("first", "second:8b");
  assertEquals(await digests(), [digest, digest, digest]);
});

Deno.test("POST /api/copy overwrites, and refuses what is no name or not there", async () => {
  const { send, store } = await createStoreApp();
  const { status } = await send("POST", "/api/copy", { source: "tiny", destination: "plain" });
  assertEquals(status, 200);
  const [tiny, plain] = [await store.find("tiny"), await store.find("plain")];
  assertEquals(plain.source, tiny.source);
  const faults: [body: object, status: number, error: string][] = [
    [{ source: "a b", destination: "x" }, 400, 'source "a b" is invalid'],
    [{ destination: "x" }, 400, 'source "" is invalid'],
    [{ source: "tiny", destination: "../x" }, 400, 'destination "../x" is invalid'],
    [{ source: "tiny" }, 400, 'destination "" is invalid'],
    [{ source: "nope", destination: "x" }, 404, 'model "nope" not found'],
    [{ source: 1, destination: "x" }, 400, "source must be of type string"],
  ];
  for (const [body, status, error] of faults) {
    const response = await send("POST", "/api/copy", body);
    assertEquals([response.status, await response.json()], [status, { error }]);
  }
});

Deno.test("DELETE /api/delete removes a model, its blobs and what is loaded of it", async () => {
  const { ask, send, store, manager, loads } = await createStoreApp();
  const { source } = await store.find("tiny");
  await ask("/api/copy", { source: "tiny", destination: "other" });
  await ask("/api/chat", { model: "tiny", messages, stream: false });
  const deleted = await send("DELETE", "/api/delete", { model: "tiny" });
  assertEquals([deleted.status, await deleted.text()], [200, ""]);
  assertEquals([manager.running().length, loads[0]!.model.closed], [0, true]);
  const path = source.kind === "files" ? source.path : "";
  assertEquals((await Deno.stat(path)).isFile, true);
  assertEquals((await send("DELETE", "/api/delete", { name: "OTHER:latest" })).status, 200);
  assertEquals(await Deno.stat(path).catch(() => "gone"), "gone");
  assertEquals((await store.list()).map(({ name }) => name), ["plain:latest"]);
});

Deno.test("DELETE /api/delete refuses what is no name or not there", async () => {
  const { send, folder } = await createStoreApp();
  await Deno.writeFile(`${folder}/bare.gguf`, new Uint8Array(4));
  const faults: [body: object, status: number, error: string][] = [
    [{}, 400, 'name "" is invalid'],
    [{ model: "a b" }, 400, 'name "a b" is invalid'],
    [{ model: "nope" }, 404, "model 'nope' not found"],
    [{ model: 1 }, 400, "model must be of type string"],
  ];
  for (const [body, status, error] of faults) {
    const response = await send("DELETE", "/api/delete", body);
    assertEquals([response.status, await response.json()], [status, { error }]);
  }
  const bare = await send("DELETE", "/api/delete", { model: "bare" });
  assertEquals(bare.status, 400);
  assertEquals((await send("GET", "/api/delete", undefined)).status, 405);
});

Deno.test("every route about models wants a body that is JSON", async () => {
  const { app } = await createStoreApp();
  const routes = ["show", "create", "copy", "pull", "push"].map((name) => ["POST", `/api/${name}`]);
  for (const [method, path] of [...routes, ["DELETE", "/api/delete"]]) {
    const faults = [["", "missing request body"], ["{x", "invalid JSON"], ["[]", "type object"]];
    for (const [body, sentence] of faults) {
      const response = await app.request(path!, { method: method!, body: body! });
      const { error } = await response.json();
      assertEquals([path, response.status, error.includes(sentence)], [path, 400, true]);
    }
  }
});

Deno.test("a model whose blob is gone can be deleted", async () => {
  const { send, store } = await createStoreApp();
  const { source } = await store.find("tiny");
  if (source.kind === "files") await Deno.remove(source.path);
  assertEquals((await send("DELETE", "/api/delete", { model: "tiny" })).status, 200);
  assertEquals((await store.list()).map(({ name }) => name), ["plain:latest"]);
});
