// How the manager shares memory out: with fake models whose sizes are in GiB.

import { EngineError, InsufficientMemoryError } from "../../../engine/errors.ts";
import type { ManagerOptions } from "../../../engine/manager/mod.ts";
import type { Estimate } from "../../../engine/memory/mod.ts";
import { GpuMemoryError } from "../../../engine/mod.ts";
import type { ChatModel, LoadOptions } from "../../../engine/types/mod.ts";
import type { FakeModel } from "../../server/fake_model.ts";
import { createWorld, settle, use, type World } from "./manager_world.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";

const GIB = 2 ** 30;

/** Weights by the letter of the name. The cache takes 1 GiB for each 4096 tokens and window. */
const WEIGHTS: Record<string, number> = { a: 4, b: 3, c: 2, d: 20, e: 30, f: 4 };

function memoryOf(path: string, { contextLength = 8192, cacheWindows = 2 }: LoadOptions) {
  const keyValueCache = cacheWindows * contextLength / 4096 * GIB;
  return { weights: WEIGHTS[path.at(-6)!]! * GIB, keyValueCache, scratch: 0 };
}

const estimate: NonNullable<ManagerOptions["estimate"]> = ({ path }) => {
  const ofModel: Estimate = (options) =>
    Promise.resolve({
      memory: memoryOf(path, options),
      contextLength: options.contextLength ?? 8192,
      maxSequences: 2,
    });
  return Promise.resolve(ofModel);
};

/** A GPU of so many GiB, whose models take what was estimated. */
function createGpu(
  gib: number,
  options: Partial<ManagerOptions> = {},
  open: (model: FakeModel, path: string) => Promise<ChatModel> = (model) => Promise.resolve(model),
): World & { warnings: string[] } {
  const warnings: string[] = [];
  const world = createWorld({
    estimate,
    budget: () => Promise.resolve({ total: gib * GIB, source: "as the test says" }),
    warn: (message) => void warnings.push(message),
    ...options,
  }, (model, path) => {
    Object.assign(model, { memory: memoryOf(path, world.opened.at(-1)!.options) });
    return open(model, path);
  });
  return { ...world, warnings };
}

Deno.test("several models stay while they fit, and the idle one used longest ago makes room", async () => {
  const { manager, names, clock } = createGpu(20);
  for (const name of ["a", "b", "a"]) { // 8 + 7
    await use(manager, name);
    await clock.advance(10);
  }
  assertEquals(names(), ["a", "b"]);
  await use(manager, "c"); // 6 do not fit beside both
  assertEquals(names(), ["a", "c"]);
});

Deno.test("no more idle models leave than have to, and none before enough can", async () => {
  const { manager, names, clock } = createGpu(21);
  const busy = await manager.acquire("a");
  await use(manager, "c");
  await clock.advance(10);
  assertEquals(names(), ["a", "c"]);
  const waiting = manager.acquire("d", { contextLength: 2048 }); // needs all there is
  await settle();
  assertEquals(names(), ["a", "c"]);
  busy.release();
  (await waiting).release();
  assertEquals(names(), ["d"]);
});

Deno.test("a model that is loading takes the memory that it will", async () => {
  const gate = Promise.withResolvers<void>();
  const { manager, opened } = createGpu(10, {}, async (model) => {
    await gate.promise;
    return model;
  });
  const waiting = [manager.acquire("a"), manager.acquire("b")];
  await settle();
  assertEquals(opened.map(({ path }) => path), ["/models/a.gguf"]);
  const [loading, ...others] = manager.running();
  assertEquals([loading!.entry.name, loading!.model, others.length], ["a", undefined, 0]);
  assertEquals([loading!.memory.weights, loading!.contextLength], [4 * GIB, 8192]);
  gate.resolve();
  (await waiting[0]!).release();
  (await waiting[1]!).release();
  assertEquals(opened.length, 2);
});

Deno.test("a model that does not fit as it is gets a cache for one window, then a smaller one", async () => {
  const { manager, opened, warnings, names } = createGpu(22);
  await use(manager, "d");
  assertEquals(opened[0]!.options.contextLength, undefined);
  assertEquals([opened[0]!.options.cacheWindows, warnings], [1, []]);

  const tight = createGpu(21.4);
  await use(tight.manager, "d");
  const { contextLength, cacheWindows } = tight.opened[0]!.options;
  assertEquals([contextLength, cacheWindows], [5 * 1024, 1]);
  assertStringIncludes(tight.warnings[0]!, "the window is 5120 tokens");
  assertEquals(names(), ["d"]);
});

Deno.test("a window that was asked for is not made smaller: the refusal says the sizes", async () => {
  const { manager, opened, names } = createGpu(21.4);
  await use(manager, "c");
  const error = await assertRejects(
    () => manager.acquire("d", { contextLength: 8192 }),
    InsufficientMemoryError,
  );
  assertEquals([error.model, error.bytes], ["d", 22 * GIB]);
  for (
    const part of [
      'Cannot load "d": it needs 22.0 GiB',
      "weights 20.0 GiB",
      "KV cache 2.0 GiB for a window of 8192 tokens and 2 parallel requests",
      "the GPU has 21.4 GiB for models (as the test says)",
      "use a smaller num_ctx",
    ]
  ) assertStringIncludes(error.message, part);
  assertEquals([names(), opened.length], [["c"], 1], "nothing is closed for what cannot be loaded");

  const settings = createGpu(21.4, { load: { contextLength: 8192 } });
  await assertRejects(() => settings.manager.acquire("d"), InsufficientMemoryError);
  const tooLarge = createGpu(21.4);
  const refusal = await assertRejects(() => tooLarge.manager.acquire("e"), InsufficientMemoryError);
  assertStringIncludes(refusal.message, "for a window of 2048 tokens");
});

Deno.test("a model is not closed for a larger window that it cannot have", async () => {
  const { manager, opened, names } = createGpu(21.4);
  await use(manager, "d");
  await assertRejects(
    () => manager.acquire("d", { contextLength: 8192 }),
    InsufficientMemoryError,
  );
  assertEquals([names(), opened.length, opened[0]!.model.closed], [["d"], 1, false]);
});

Deno.test("where the GPU refuses what was to fit, idle models leave, then the window shrinks", async () => {
  let refusals = 2;
  const { manager, opened, names } = createGpu(100, {}, (model, path) => {
    const refuses = path.endsWith("/f.gguf") && refusals-- > 0;
    return refuses
      ? Promise.reject(new GpuMemoryError("x", 1, "no memory"))
      : Promise.resolve(model);
  });
  await use(manager, "a");
  await use(manager, "b", { contextLength: 2048 });
  await use(manager, "f");
  assertEquals(names(), ["f"]);
  assert(opened[0]!.model.closed && opened[1]!.model.closed);
  const tries = opened.slice(2).map(({ options }) => [options.contextLength, options.cacheWindows]);
  // 8 GiB were refused twice: three quarters of it hold 4 of weights and one window.
  assertEquals(tries, [[undefined, undefined], [undefined, undefined], [undefined, 1]]);
});

Deno.test("a GPU that refuses everything ends in the error with the sizes", async () => {
  const refuse = () => Promise.reject(new GpuMemoryError("x", 1, "no memory"));
  const { manager, names } = createGpu(100, {}, refuse);
  const error = await assertRejects(() => manager.acquire("d"), InsufficientMemoryError);
  assertStringIncludes(error.message, "the GPU had no room for 24.0 GiB");
  assertEquals(names(), []);
  const blind = createWorld({}, refuse);
  await assertRejects(() => blind.manager.acquire("a"), GpuMemoryError);
});

Deno.test("remote models take no memory, count for nothing and are not listed", async () => {
  const { manager, opened, names } = createGpu(8, { maxLoaded: 1 });
  const busy = await manager.acquire("a");
  const lease = await manager.acquire("z", { contextLength: 100_000 });
  await use(manager, "z", { contextLength: 200_000 });
  assertEquals([names(), opened.length], [["a"], 2]);
  lease.release();
  busy.release();
  await use(manager, "b");
  assertEquals(names(), ["b"]);
  await manager.unload("z");
  assert(opened[1]!.model.closed);
});

Deno.test("copies of a model share a load, each under its own name", async () => {
  const { manager, opened, names } = createGpu(8);
  const [original, copy] = [await manager.acquire("a"), await manager.acquire("A")];
  assertEquals([original.entry.name, copy.entry.name], ["a", "A"]);
  assert(original.model === copy.model);
  assertEquals([opened.length, names()], [1, ["A"]]);
  original.release();
  copy.release();
  await manager.unload("a");
  assertEquals(names(), []);
});

Deno.test("a load that stands still fails, one that goes on does not, and what comes late is closed", async () => {
  const gate = Promise.withResolvers<void>();
  const { manager, clock, opened, names } = createGpu(8, { loadTimeout: 1000 }, async (model) => {
    await gate.promise;
    return model;
  });
  const waiting = manager.acquire("a");
  await settle();
  const { onProgress, signal } = opened[0]!.options;
  for (let i = 0; i < 5; i++) {
    await clock.advance(900);
    onProgress!({ loaded: i, total: 5 });
  }
  assertEquals(signal!.aborted, false);
  const failure = assertRejects(() => waiting, EngineError, "no progress for 1 seconds");
  await clock.advance(1000);
  await failure;
  assertEquals([signal!.aborted, names()], [true, []]);
  gate.resolve();
  await settle();
  assert(opened[0]!.model.closed);
});

Deno.test("a request that names no layers on the GPU has as many as fit, whatever another named", async () => {
  const onGpu: Estimate = ({ gpuLayers = 33 }) =>
    Promise.resolve({
      memory: { weights: 4 * GIB, keyValueCache: 0, scratch: 0, onCpu: (33 - gpuLayers) * 2 ** 20 },
      contextLength: 4096,
      maxSequences: 2,
      layout: { layers: 33, expertLayers: 0 },
    });
  const { manager, opened } = createGpu(20, { estimate: () => Promise.resolve(onGpu) });
  const layersFor = async (options = {}) => {
    await use(manager, "a", options);
    return [opened.length, opened.at(-1)!.options.gpuLayers];
  };
  assertEquals(await layersFor({ gpuLayers: 0 }), [1, 0]);
  assertEquals(await layersFor(), [2, undefined]);
  // All layers are where they were.
  assertEquals(await layersFor({ gpuLayers: 99 }), [2, undefined]);
  assertEquals(await layersFor({ gpuLayers: 5 }), [3, 5]);
});
