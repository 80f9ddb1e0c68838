// What requests name of a model's load, with fake models: the window, prompt tokens of a step and drafts,
// and files that change.

import { ModelNotFoundError, RequestError } from "../../../engine/errors.ts";
import { fakeInfo, FakeModel } from "../../server/fake_model.ts";
import { createWorld, settle, use } from "./manager_world.ts";
import { assertEquals, assertRejects } from "@std/assert";

Deno.test("a larger window reloads the model once it is idle; a smaller one and an impossible one do not", async () => {
  const { manager, opened, names } = createWorld();
  const small = await manager.acquire("a", { contextLength: 1024 });
  const waiting = manager.acquire("a", { contextLength: 2048 });
  await settle();
  assertEquals([opened.length, opened[0]!.model.closed], [1, false]);
  small.release();
  const large = await waiting;
  assertEquals([opened.length, opened[0]!.model.closed], [2, true]);
  assertEquals(large.model.contextLength, 2048);
  assertEquals((await manager.acquire("a", { contextLength: 512 })).model.contextLength, 512);
  assertEquals(opened.length, 2);
  large.release();

  const { manager: other, opened: loads } = createWorld();
  for (let i = 0; i < 3; i++) await use(other, "a", { contextLength: 1e6 });
  assertEquals([loads.length, loads[0]!.model.contextLength], [1, fakeInfo.trainedContextLength]);
  assertEquals(names(), ["a"]);
});

Deno.test("a request that names no window has the server's, whatever others named before", async () => {
  const { manager, opened } = createWorld({ load: { contextLength: 2048 } });
  const windowOf = async (options = {}) => {
    const { model, release } = await manager.acquire("a", options);
    release();
    return [model.contextLength, opened.length];
  };
  assertEquals(await windowOf({ contextLength: 512 }), [512, 1]);
  assertEquals(await windowOf(), [2048, 2]);
  assertEquals(await windowOf({ contextLength: 512 }), [512, 2]);
  assertEquals(await windowOf({ contextLength: 4096 }), [4096, 3]);
  for (let i = 0; i < 3; i++) {
    assertEquals(await windowOf(), [2048, 3]);
    assertEquals(await windowOf({ contextLength: 512 + i }), [512 + i, 3]);
    assertEquals(await windowOf({ contextLength: 4096 }), [4096, 3]);
  }
});

Deno.test("a model lent with a smaller window keeps every request within it that names none", async () => {
  const { manager, opened } = createWorld({ load: { contextLength: 2048 } });
  await use(manager, "a", { contextLength: 4096 });
  const { model } = await manager.acquire("a");
  await Array.fromAsync(model.chat({ messages: [] }));
  await Array.fromAsync(model.generate({ prompt: "x" }));
  await Array.fromAsync(model.generate({ prompt: "x", contextLength: 3000 }));
  await model.embedWithUsage({ inputs: ["x"] });
  await model.embed(["x"], {});
  const { requests, embedRequests } = opened[0]!.model;
  const windows = [...requests.map(({ request }) => request), ...embedRequests]
    .map(({ contextLength }) => contextLength);
  assertEquals(windows, [2048, 2048, 3000, 2048, 2048]);
  const { info, memory, occupancy, warnings } = opened[0]!.model;
  assertEquals(
    [model.info, model.memory, model.occupancy, model.warnings],
    [info, memory, occupancy, warnings],
  );
});

Deno.test("where no window is set, the one that a load chooses is the default", async () => {
  const { manager, opened } = createWorld(); // chooses 4096
  const windowOf = async (options = {}) => {
    const { model, release } = await manager.acquire("a", options);
    release();
    return [model.contextLength, opened.length];
  };
  assertEquals(await windowOf({ contextLength: 512 }), [512, 1]);
  assertEquals(await windowOf(), [4096, 2]);
  assertEquals(await windowOf({ contextLength: 6000 }), [6000, 3]);
  assertEquals(await windowOf(), [4096, 3]);
});

Deno.test("requests of both kinds that come together all get their windows, with two loads", async () => {
  const { manager, opened } = createWorld({ load: { contextLength: 2048 } });
  const asked = Array.from({ length: 12 }, (_, i) => i % 2 === 0 ? { contextLength: 512 } : {});
  const windows = await Promise.all(asked.map(async (options) => {
    const lease = await manager.acquire("a", options);
    await settle();
    lease.release();
    return lease.model.contextLength;
  }));
  assertEquals(windows, asked.map(({ contextLength = 2048 }) => contextLength));
  assertEquals(opened.length, 2);
});

Deno.test("a model that takes the place of another for its window stays as long as that was to", async () => {
  const { manager, clock, names } = createWorld();
  await use(manager, "a", { contextLength: 512, keepAlive: Infinity });
  await use(manager, "a");
  await clock.advance(1e9);
  assertEquals(names(), ["a"]);
});

Deno.test("a model that gives less than the window asked for is not reloaded for ever", async () => {
  const { manager, opened } = createWorld(
    {},
    () => Promise.resolve(new FakeModel({ contextLength: 16 })),
  );
  for (let i = 0; i < 3; i++) await use(manager, "a", { contextLength: 2048 });
  assertEquals(opened.length, 1);
});

Deno.test("a request names the draft model, or the model's creator does, or there is none", async () => {
  const { manager, opened } = createWorld();
  const draft = () => opened.at(-1)!.options.draft;
  await use(manager, "a");
  assertEquals(draft(), undefined);
  await use(manager, "a", { draft: "b" });
  assertEquals([opened.length, draft()], [2, "/models/b.gguf"]);
  await use(manager, "a", { draft: "b" });
  assertEquals(opened.length, 2);
  await use(manager, "a");
  assertEquals([opened.length, draft()], [3, undefined]);
  await use(manager, "a", { draft: "" });
  assertEquals(opened.length, 3);
  await assertRejects(() => use(manager, "a", { draft: "none" }), ModelNotFoundError);
  await assertRejects(() => use(manager, "a", { draft: "z" }), RequestError, "another server");
  await use(manager, "z", { draft: "b" });
  assertEquals(draft(), undefined);
});

Deno.test("a request that names how many prompt tokens a step takes has the model loaded so", async () => {
  const { manager, opened } = createWorld();
  const chunk = () => opened.at(-1)!.options.prefillChunk;
  await use(manager, "a");
  assertEquals(chunk(), undefined);
  await use(manager, "a", { prefillChunk: 32 });
  assertEquals([opened.length, chunk()], [2, 32]);
  await use(manager, "a", { prefillChunk: 64 });
  assertEquals([opened.length, chunk()], [3, 64]);
  await use(manager, "a");
  assertEquals([opened.length, chunk()], [4, undefined]);
});

Deno.test("two clients with different options do not have the model loaded for each request", async () => {
  const { manager, opened, clock } = createWorld();
  for (let i = 0; i < 20; i++) {
    await use(manager, "a", { prefillChunk: 32 });
    await use(manager, "a");
    await clock.advance(60_000);
  }
  const chunks = () => opened.map(({ options }) => options.prefillChunk);
  assertEquals(chunks(), [32, undefined, 32]);
  // The one that named them is gone.
  await clock.advance(200_000);
  await use(manager, "a");
  assertEquals(opened.length, 3);
  await clock.advance(100_000);
  await use(manager, "a");
  assertEquals(chunks(), [32, undefined, 32, undefined]);
});

Deno.test("a request that names no options does not wait for one that named some", async () => {
  const { manager, opened } = createWorld();
  const named = await manager.acquire("a", { prefillChunk: 32 });
  await use(manager, "a");
  assertEquals(opened.length, 1);
  named.release();
  await use(manager, "a");
  assertEquals(opened.length, 2);
});

Deno.test("a model whose file has changed is loaded anew for the next request, once its users are done", async () => {
  const { manager, opened, stamps } = createWorld();
  const path = "/models/a.gguf";
  stamps.set(path, "1");
  await use(manager, "a");
  await use(manager, "a");
  assertEquals(opened.length, 1);
  const busy = await manager.acquire("a");
  stamps.set(path, "2");
  const next = Array.from({ length: 3 }, () => manager.acquire("a"));
  await settle();
  assertEquals([opened.length, opened[0]!.model.closed], [1, false]);
  busy.release();
  for (const lease of await Promise.all(next)) {
    assertEquals(lease.model, opened[1]!.model);
    lease.release();
  }
  await use(manager, "A");
  assertEquals([opened.length, opened[0]!.model.closed], [2, true]);
});

Deno.test("a file that changes while its model is loaded is loaded anew, and no old request goes back", async () => {
  const gate = Promise.withResolvers<void>();
  const { manager, opened, stamps } = createWorld({}, async (model) => {
    await gate.promise;
    return model;
  });
  const path = "/models/a.gguf";
  stamps.set(path, "1");
  const first = manager.acquire("a");
  await settle();
  stamps.set(path, "2");
  const second = manager.acquire("a");
  await settle();
  gate.resolve();
  (await first).release();
  (await second).release();
  await use(manager, "a");
  assertEquals(opened.length, 2);
});

Deno.test("load options come from the defaults and the request", async () => {
  const { manager, opened } = createWorld({ load: { contextLength: 256, maxSequences: 2 } });
  await use(manager, "a");
  await use(manager, "b", { contextLength: 512 });
  const [first, second] = opened.map((
    { options: { contextLength, maxSequences } },
  ) => [contextLength, maxSequences]);
  assertEquals([first, second], [[256, 2], [512, 2]]);
});
