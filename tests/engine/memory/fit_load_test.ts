// How loads are planned for a GPU and the CPU beside it: with estimates of made-up models, in MiB.

import { assertEquals, assertRejects } from "@std/assert";
import { InsufficientMemoryError } from "../../../engine/errors.ts";
import { type Estimate, type FitLimits, fitLoad } from "../../../engine/memory/mod.ts";
import type { LoadOptions } from "../../../engine/types/mod.ts";

const MIB = 2 ** 20;

/** Layers of a made-up model, without its head. */
const LAYERS = 10;

/**
 * A model with ten layers of 10 MiB and a head of 20; of a mixture, experts of 100 MiB in each layer besides.
 * Its cache takes 1 MiB for 1024 tokens and layer.
 */
function model({ isMixture = false } = {}): { estimate: Estimate; asked: LoadOptions[] } {
  const asked: LoadOptions[] = [];
  const layout = { layers: LAYERS + 1, expertLayers: isMixture ? LAYERS : 0 };
  const estimate: Estimate = (options) => {
    asked.push(options);
    const { gpuLayers = -1, gpuExpertLayers = -1, contextLength = 8192, cacheWindows = 2 } =
      options;
    const onGpu = gpuLayers < 0 ? LAYERS + 1 : Math.min(gpuLayers, LAYERS + 1);
    const layersOnGpu = Math.max(0, onGpu - 1);
    const expertsOnGpu = gpuExpertLayers < 0 ? layersOnGpu : Math.min(gpuExpertLayers, layersOnGpu);
    const cache = cacheWindows * contextLength / 1024;
    const cpuLayers = LAYERS - layersOnGpu;
    const experts = isMixture ? 100 : 0;
    const onCpu = cpuLayers * (10 + cache) + (LAYERS - expertsOnGpu) * experts +
      (onGpu === 0 ? 20 : 0);
    const weights = 20 + LAYERS * (10 + experts);
    return Promise.resolve({
      memory: {
        weights: weights * MIB,
        keyValueCache: LAYERS * cache * MIB,
        scratch: 0,
        onCpu: onCpu * MIB,
      },
      contextLength,
      maxSequences: 1,
      layout,
    });
  };
  return { estimate, asked };
}

function limits(gpu: number, cpu: number, isGpuFaster = true): FitLimits {
  return {
    name: "m",
    total: gpu * MIB,
    state: `the GPU has ${gpu}`,
    system: {
      total: cpu * MIB,
      state: `the CPU has ${cpu}`,
      isGpuFaster: () => Promise.resolve(isGpuFaster),
    },
  };
}

const shareOf = ({ gpuLayers, gpuExpertLayers }: LoadOptions) => [gpuLayers, gpuExpertLayers];

Deno.test("a model that fits is not split, and one that fits with a smaller window neither", async () => {
  const { estimate } = model();
  assertEquals(shareOf((await fitLoad(estimate, {}, limits(280, 1000))).options), [
    undefined,
    undefined,
  ]);
  const { options } = await fitLoad(estimate, {}, limits(150, 1000));
  assertEquals([options.contextLength, options.gpuLayers], [3072, undefined]);
});

Deno.test("a large GPU that is short of memory reads less of a prompt in a step first", async () => {
  const { estimate } = model();
  const asked: LoadOptions[] = [];
  const large: Estimate = async (options) => {
    asked.push(options);
    const { memory, ...rest } = await estimate(options);
    const { prefillChunk = 1024, gpuLayers = -1 } = options;
    const scratch = gpuLayers === 0 ? 0 : prefillChunk / 8 * MIB;
    return { ...rest, memory: { ...memory, scratch }, chunkSize: prefillChunk };
  };
  const chunkOf = async (gpu: number, wanted: LoadOptions = {}) =>
    (await fitLoad(large, wanted, limits(gpu, 1000))).options.prefillChunk;
  assertEquals(await chunkOf(408), undefined); // 280 for the model, 128 for its activations
  assertEquals(await chunkOf(407), 256);
  assertEquals(await chunkOf(312), 256);
  assertEquals(await chunkOf(407, { prefillChunk: 512 }), 512);
  await chunkOf(40);
  const onCpu = asked.filter(({ gpuLayers }) => gpuLayers === 0);
  assertEquals(onCpu.every(({ prefillChunk }) => prefillChunk === undefined), true);
});

Deno.test("a model that does not fit has as many layers on the GPU as do", async () => {
  const { estimate } = model();
  // The head takes 20 and a layer with its cache of 4096 tokens 14.
  const { options, bytes, systemBytes } = await fitLoad(estimate, {}, limits(80, 1000));
  assertEquals([options.gpuLayers, options.contextLength], [5, 4096]);
  assertEquals([bytes, systemBytes], [76 * MIB, 84 * MIB]);
  const tiny = await fitLoad(estimate, {}, limits(10, 1000));
  assertEquals(tiny.options.gpuLayers, 0);
});

Deno.test("of a mixture the experts go to the CPU first, and then layers", async () => {
  const { estimate } = model({ isMixture: true });
  const some = await fitLoad(estimate, {}, limits(480, 2000));
  assertEquals(shareOf(some.options), [LAYERS + 1, 3]);
  const none = await fitLoad(estimate, {}, limits(60, 2000));
  assertEquals(shareOf(none.options), [3, 0]);
});

Deno.test("what is slower on the GPU is on the CPU alone, where it has room", async () => {
  const { estimate } = model();
  const slow = await fitLoad(estimate, {}, limits(80, 1000, false));
  assertEquals(slow.options.gpuLayers, 0);
  const split = await fitLoad(estimate, {}, limits(80, 100, false));
  assertEquals(split.options.gpuLayers, 5);
});

Deno.test("a number of layers that is asked for is kept, and refused where it does not fit", async () => {
  const { estimate } = model();
  const asked = { gpuLayers: 3, contextLength: 8192 };
  const plan = await fitLoad(estimate, asked, limits(80, 1000));
  assertEquals([plan.options.gpuLayers, plan.options.cacheWindows], [3, undefined]);
  const error = await assertRejects(
    () => fitLoad(estimate, { gpuLayers: 9, contextLength: 8192 }, limits(80, 1000)),
    InsufficientMemoryError,
    "164.0 MiB of it on the GPU with 9 of 11 layers there, and 36.0 MiB on the CPU",
  );
  assertEquals(error.message.includes("but the GPU has 80, and the CPU has 1000"), true);
});

Deno.test("what fits neither is refused with the sizes of both", async () => {
  const { estimate } = model();
  await assertRejects(
    () => fitLoad(estimate, {}, limits(80, 50)),
    InsufficientMemoryError,
    "but the GPU has 80, and the CPU has 50",
  );
});

Deno.test("what needs more working memory than the CPU's operations have gets a smaller window, or is refused", async () => {
  const { estimate } = model();
  const working = (tokens: number): Estimate => async (options) => {
    const estimated = await estimate(options);
    const taken = estimated.contextLength / 1024 * 600 * MIB;
    return { ...estimated, working: { taken, most: tokens / 1024 * 600 * MIB } };
  };
  const fitted = await fitLoad(working(4096), {}, limits(1000, 1000));
  assertEquals([fitted.options.contextLength, fitted.isShrunk], [4096, true]);
  await assertRejects(
    () => fitLoad(working(4096), { contextLength: 8192 }, limits(1000, 1000)),
    InsufficientMemoryError,
    "but of that, 4.7 GiB are working memory on the CPU, which ends at 2.3 GiB: fewer parallel requests take less",
  );
});

Deno.test("an encoder that does not fit is refused without a word about parallel requests", async () => {
  const { estimate } = model();
  const encoder: Estimate = async (options) => {
    const { maxSequences: _, ...estimated } = await estimate(options);
    return estimated;
  };
  const messageOf = async (estimate: Estimate) =>
    (await assertRejects(
      () => fitLoad(estimate, { contextLength: 4096 }, limits(80, 50)),
      InsufficientMemoryError,
    )).message;
  assertEquals((await messageOf(estimate)).includes("4096 tokens and 1 parallel request,"), true);
  assertEquals((await messageOf(encoder)).includes("a window of 4096 tokens, scratch"), true);
});
