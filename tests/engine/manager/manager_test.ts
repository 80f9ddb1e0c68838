// The manager with fake models and a clock that only moves when told to.

import {
  DeviceFailedError,
  ModelClosedError,
  ModelNotFoundError,
  WorkerBusyError,
} from "../../../engine/errors.ts";
import { DeviceLostError } from "../../../kernels/mod.ts";
import { createWorld, settle, use } from "./manager_world.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";

Deno.test("acquire() loads once for requests that come together, and lends the same model", async () => {
  const gate = Promise.withResolvers<void>();
  const { manager, opened, clock } = createWorld({}, async (model) => {
    await gate.promise;
    return model;
  });
  const waiting = [manager.acquire("a"), manager.acquire("a"), manager.acquire("a")];
  await settle();
  await clock.advance(250);
  gate.resolve();
  const leases = await Promise.all(waiting);
  assertEquals(opened.length, 1);
  assertEquals(new Set(leases.map(({ model }) => model)).size, 1);
  assertEquals(leases.map(({ loadMilliseconds }) => loadMilliseconds), [250, 250, 250]);
  assertEquals((await manager.acquire("a")).loadMilliseconds, 0);
});

Deno.test("running() tells how far a load is, and nothing of it once the model is there", async () => {
  const gate = Promise.withResolvers<void>();
  const { manager, opened } = createWorld({}, async (model) => {
    await gate.promise;
    return model;
  });
  const waiting = manager.acquire("a");
  await settle();
  assertEquals(manager.running().map(({ progress }) => progress), [undefined]);
  opened[0]!.options.onProgress!({ loaded: 40, total: 100 });
  assertEquals(manager.running().map(({ progress }) => progress), [{ loaded: 40, total: 100 }]);
  gate.resolve();
  (await waiting).release();
  assertEquals(manager.running().map(({ progress }) => progress), [undefined]);
});

Deno.test("keep-alive runs from the last release, 5 minutes unless told otherwise", async () => {
  const { manager, clock, names, opened } = createWorld();
  const [first, second] = [await manager.acquire("a"), await manager.acquire("a")];
  first.release();
  await clock.advance(400_000);
  assertEquals(names(), ["a"]);
  second.release();
  second.release();
  assertEquals(manager.running()[0]!.expiresAt, clock.now() + 300_000);
  await clock.advance(299_000);
  await use(manager, "a");
  await clock.advance(299_000);
  assertEquals(names(), ["a"]);
  await clock.advance(2000);
  assertEquals([names(), opened[0]!.model.closed], [[], true]);
});

Deno.test("a request's keep_alive holds for the model: 0 unloads after it, Infinity never", async () => {
  const { manager, clock, names } = createWorld({ keepAlive: 1000 });
  await use(manager, "a", { keepAlive: Infinity });
  assertEquals(manager.running()[0]!.expiresAt, Infinity);
  await clock.advance(1e9);
  await use(manager, "a");
  await clock.advance(1e9);
  assertEquals(names(), ["a"]);
  await use(manager, "a", { keepAlive: 0 });
  await settle();
  assertEquals(names(), []);
  await use(manager, "a", { keepAlive: 30 * 86_400_000 });
  await clock.advance(86_400_000);
  assertEquals(names(), ["a"]);
});

Deno.test("room is made by closing the idle model that was used longest ago", async () => {
  const { manager, clock, names, opened } = createWorld({ maxLoaded: 2 });
  for (const name of ["a", "b", "a"]) {
    await use(manager, name);
    await clock.advance(10);
  }
  await use(manager, "c");
  assertEquals(names(), ["a", "c"]);
  assert(opened[1]!.model.closed);
});

Deno.test("a request waits for room while all models are in use, the others go on", async () => {
  const { manager, names, opened } = createWorld({ maxLoaded: 1 });
  const busy = await manager.acquire("a");
  const waiting = [manager.acquire("b"), manager.acquire("c")];
  const again = await manager.acquire("a");
  again.release();
  await settle();
  assertEquals([names(), opened.length], [["a"], 1]);
  busy.release();
  (await waiting[0]!).release();
  (await waiting[1]!).release();
  assertEquals([names(), opened.map(({ model }) => model.closed)], [["c"], [true, true, false]]);
});

Deno.test("the memory of a closing model is waited for, even with places to spare", async () => {
  const { manager, opened } = createWorld({ maxLoaded: 3 });
  await use(manager, "a");
  const closing = Promise.withResolvers<void>();
  opened[0]!.model.close = () => closing.promise;
  const unloading = manager.unload("a");
  const waiting = manager.acquire("b");
  await settle();
  assertEquals(opened.length, 1);
  closing.resolve();
  await Promise.all([unloading, waiting]);
  assertEquals(opened.length, 2);
});

Deno.test("a load that fails tells all who wait and leaves nothing behind", async () => {
  let fail = true;
  const { manager, names, opened } = createWorld(
    { maxLoaded: 1 },
    (model) => fail ? Promise.reject(new Error("no memory")) : Promise.resolve(model),
  );
  const both = [manager.acquire("a"), manager.acquire("a")];
  for (const waiting of both) await assertRejects(() => waiting, Error, "no memory");
  assertEquals([names(), opened.length], [[], 1]);
  fail = false;
  await use(manager, "a");
});

Deno.test("an abort ends the wait, and the load that goes on is kept like any other", async () => {
  const gate = Promise.withResolvers<void>();
  const { manager, clock, names } = createWorld({}, async (model) => {
    await gate.promise;
    return model;
  });
  const abort = new AbortController();
  const waiting = manager.acquire("a", { signal: abort.signal });
  await settle();
  abort.abort(new Error("gone"));
  await assertRejects(() => waiting, Error, "gone");
  gate.resolve();
  await settle();
  assertEquals(names(), ["a"]);
  await clock.advance(300_000);
  assertEquals(names(), []);
});

Deno.test("a request that is given up while it waits for room does not push another model out", async () => {
  const { manager, opened, names } = createWorld({ maxLoaded: 1 });
  const busy = await manager.acquire("a");
  const abort = new AbortController();
  const waiting = manager.acquire("b", { signal: abort.signal });
  await settle();
  abort.abort(new Error("gone"));
  await assertRejects(() => waiting, Error, "gone");
  busy.release();
  await settle();
  assertEquals([names(), opened.length], [["a"], 1]);
  await use(manager, "b");
  assertEquals(names(), ["b"]);
});

const DEVICE_LOST = new DeviceFailedError(
  new DeviceLostError("Cannot use the GPU: device lost: reset"),
);

Deno.test("a model that died is dropped at release and reloaded by the next request", async () => {
  const { manager, opened, names } = createWorld();
  const [first, second] = [await manager.acquire("a"), await manager.acquire("a")];
  opened[0]!.model.close = () => Promise.reject(new Error("device lost"));
  first.release(new ModelClosedError("device lost"));
  await settle();
  assertEquals(names(), []);
  await use(manager, "a");
  assertEquals([opened.length, names()], [2, ["a"]]);
  second.release(new ModelClosedError("device lost"));
  await settle();
  assertEquals(names(), ["a"]);
});

Deno.test("a model whose device fails while it is idle is dropped, and reloaded by the next request", async () => {
  const warnings: string[] = [];
  const { manager, opened, names } = createWorld({ warn: (text) => warnings.push(text) });
  await use(manager, "a");
  opened[0]!.options.onCrash!(DEVICE_LOST);
  await settle();
  assertEquals([names(), opened[0]!.model.closed], [[], true]);
  await use(manager, "a");
  assertEquals([names(), opened.length], [["a"], 2]);
  assertEquals(warnings, [
    "a: Cannot use the GPU: device lost: reset; the model is loaded anew",
  ]);
});

Deno.test("a model whose device fails twice in a while is loaded on the CPU for as long", async () => {
  const warnings: string[] = [];
  const { manager, clock, opened } = createWorld({ warn: (text) => warnings.push(text) });
  const lose = async () => {
    await use(manager, "a");
    opened.at(-1)!.options.onCrash!(DEVICE_LOST);
    await settle();
  };
  await lose();
  await clock.advance(11 * 60_000);
  await lose(); // The first is too long ago.
  await lose();
  assertStringIncludes(warnings.at(-1)!, "failed twice within 10 minutes, so the CPU answers");
  await use(manager, "a");
  await use(manager, "b");
  const layers = opened.map(({ options: { gpuLayers } }) => gpuLayers);
  assertEquals(layers, [undefined, undefined, undefined, 0, undefined]);
  await clock.advance(11 * 60_000);
  await use(manager, "a");
  assertEquals(opened.at(-1)!.options.gpuLayers, undefined);
});

Deno.test("a load during which the device is lost is tried again, and then on the CPU", async () => {
  let tries = 0;
  const { manager, opened } = createWorld({}, (model) => {
    tries++;
    if (opened.at(-1)!.options.gpuLayers === 0) return Promise.resolve(model);
    return Promise.reject(new DeviceLostError("Cannot use the GPU: device lost: reset"));
  });
  await use(manager, "a");
  assertEquals([tries, opened.at(-1)!.options.gpuLayers], [3, 0]);
});

Deno.test("unload() closes an idle model at once and a busy one after its last user", async () => {
  const { manager, opened, names } = createWorld();
  await manager.unload("a");
  await use(manager, "a");
  await manager.unload("a");
  assertEquals([names(), opened[0]!.model.closed], [[], true]);
  const lease = await manager.acquire("a");
  await manager.unload("a");
  assertEquals([names(), opened[1]!.model.closed], [["a"], false]);
  lease.release();
  await settle();
  assertEquals([names(), opened[1]!.model.closed], [[], true]);
  await assertRejects(() => manager.unload("none!"), ModelNotFoundError);
});

Deno.test("closeAll() closes what is used and what is loading, and ends what waits", async () => {
  const gate = Promise.withResolvers<void>();
  const { manager, opened, names } = createWorld({ maxLoaded: 2 }, async (model, path) => {
    if (path.includes("b")) await gate.promise;
    return model;
  });
  await manager.acquire("a");
  const loading = manager.acquire("b");
  const waiting = manager.acquire("c");
  await settle();
  const closing = manager.closeAll();
  await assertRejects(() => waiting, ModelClosedError, "shutting down");
  assert(opened[1]!.options.signal!.aborted);
  gate.resolve();
  await loading;
  await closing;
  assertEquals([opened.map(({ model }) => model.closed), names()], [[true, true], []]);
  await assertRejects(() => manager.acquire("a"), ModelClosedError);
});

Deno.test("a model whose worker does not end is told of, its place is another's, and the next a process", async () => {
  const ended = Promise.withResolvers<void>();
  const warnings: string[] = [];
  const { manager, names, opened } = createWorld(
    { maxLoaded: 1, warn: (text) => warnings.push(text) },
    (model) => {
      const close = () => Promise.reject(new WorkerBusyError(3000, ended.promise));
      if (opened.length === 1) model.close = close;
      return Promise.resolve(model);
    },
  );
  await use(manager, "a", { keepAlive: 0 });
  await settle();
  const busy = () => manager.busyWorkers.current.map(({ name }) => name);
  assertEquals([names(), busy(), manager.busyWorkers.total], [[], ["a"], 1]);
  assertStringIncludes(warnings[0], "a: Cannot call off the work of the model's worker");
  await use(manager, "b");
  assertEquals(names(), ["b"]);
  await use(manager, "A");
  assertEquals(opened.map(({ options }) => options.isolated), [false, false, true]);
  ended.resolve();
  await settle();
  assertEquals([busy(), manager.busyWorkers.total], [[], 1]);
  assertStringIncludes(warnings[1], "a: its worker answers again, or has ended");
});

for (const isolation of ["worker", "process"] as const) {
  Deno.test(`with isolation "${isolation}" every load is in one, whatever was stuck`, async () => {
    const { manager, opened } = createWorld({ isolation }, (model) => {
      model.close = () => Promise.reject(new WorkerBusyError(3000, Promise.resolve()));
      return Promise.resolve(model);
    });
    for (let i = 0; i < 2; i++) await use(manager, "a", { keepAlive: 0 });
    await settle();
    const isIsolated = isolation === "process";
    assertEquals(opened.map(({ options }) => options.isolated), [isIsolated, isIsolated]);
  });
}

Deno.test("a worker that stays silent after an abort loses its model, unless it answers in time", async () => {
  const { manager, opened, clock, names } = createWorld();
  const lease = await manager.acquire("a");
  const silence = async () => {
    const ended = Promise.withResolvers<void>();
    opened.at(-1)!.options.onBusy!(new WorkerBusyError(10_000, ended.promise));
    await clock.advance(60_000);
    return ended;
  };
  const first = await silence();
  assertEquals(manager.busyWorkers.current.length, 1);
  first.resolve();
  await settle();
  await clock.advance(120_000);
  assertEquals([manager.busyWorkers.current.length, names()], [0, ["a"]]);

  await silence();
  assertEquals(opened[0]!.model.closed, false);
  await clock.advance(60_000);
  assertEquals([opened[0]!.model.closed, names()], [true, []]);
  lease.release();
  assertEquals(manager.busyWorkers.total, 2);
});
