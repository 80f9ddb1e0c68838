// Estimates beside what loads take: the same to the byte, for every architecture, with adapters, and
// whatever window and parallel requests are asked for.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assertEquals, assertRejects } from "@std/assert";
import { createEstimate, estimateMemory, gpuProfile } from "../../../engine/memory/mod.ts";
import { GgufError, loadModel, type LoadOptions } from "../../../engine/mod.ts";
import { CpuDevice } from "../../../kernels/cpu/device.ts";
import { folder, tinyPath } from "../harness.ts";
import { deviceProfile, profileNamed } from "../../profiles.ts";
import { recordingGpu } from "../../recording_gpu.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

async function assertEstimated(path: string, options: LoadOptions): Promise<void> {
  const { memory, contextLength } = await estimateMemory(path, options);
  await using model = await loadModel(path, options);
  assertEquals(memory, model.memory);
  assertEquals(contextLength, model.contextLength);
}

const SHAPES: LoadOptions[] = [
  {},
  { contextLength: 64, maxSequences: 1 },
  { contextLength: 200, maxSequences: 3, cacheWindows: 1 },
  { exact: true, prefillChunk: 16 },
];

for (const options of SHAPES) {
  Deno.test(`an estimate is what a load takes: ${JSON.stringify(options)}`, async () => {
    await assertEstimated(tinyPath, options);
  });
}

Deno.test("an estimate is what a load takes in every format of weights, and with matrices in parts", async () => {
  for (const type of ["Q8_0", "Q4_K", "F16"]) {
    const path = `${folder}/estimate-${type}.gguf`;
    await writeTinyLlama(path, { type, embedding: 256, feedForward: 512, heads: 8 });
    await assertEstimated(path, { maxSequences: 2 });
  }
  const path = `${folder}/estimate-F16.gguf`;
  const device = { maxBindingSize: 65_536 };
  const profile = { ...await gpuProfile(), ...device };
  const { memory } = await estimateMemory(path, { maxSequences: 2 }, { gpu: profile });
  await using model = await loadModel(path, { maxSequences: 2, device });
  assertEquals(memory, model.memory);
});

Deno.test("an estimate tells how much working memory on the CPU steps will take", async () => {
  const working = async (options: LoadOptions) =>
    (await estimateMemory(tinyPath, { ...options, gpuLayers: 0 })).working!;
  const small = await working({ contextLength: 64, maxSequences: 1, prefillChunk: 16 });
  assertEquals(small.taken < small.most, true);
  const large = await working({ contextLength: 64, maxSequences: 1, prefillChunk: 2 ** 20 });
  assertEquals(large.taken > small.taken, true);
  // As much as a device has that is opened: it takes temporary memory when steps run.
  using device = await CpuDevice.open({ threads: 1 });
  const before = device.workingMemory.taken;
  const rows = { columns: 64, stride: 64, floats: device.buffer("x", 64 * 4 * 10, "scratch") };
  assertEquals(device.workingMemory.taken, before + rows.floats.size);
  device.free(rows.floats);
  assertEquals(device.workingMemory.taken, before);
});

Deno.test("a step takes more of a prompt on a large GPU, as far as its dispatches reach", async () => {
  const gpu = deviceProfile(profileNamed("subgroups of 32,32, 32 KiB"));
  const chunk = async (maxBufferSize: number, path = tinyPath, options: LoadOptions = {}) =>
    (await estimateMemory(path, options, { gpu: { ...gpu, maxBufferSize } })).chunkSize;
  assertEquals(await chunk(2 ** 28), 256);
  assertEquals(await chunk(2 ** 32), 1024);
  assertEquals(await chunk(2 ** 32, tinyPath, { prefillChunk: 100 }), 100);
  assertEquals(await chunk(2 ** 32, tinyPath, { prefillChunk: 5000 }), 1024);
  const path = `${folder}/many-heads.gguf`;
  await writeTinyLlama(path, { type: "F16", embedding: 1024, heads: 128 });
  assertEquals(await chunk(2 ** 32, path, { maxSequences: 2 }), 511 - 2);
});

Deno.test("what an estimate finds wrong with a file is what a load finds", async () => {
  await Deno.writeTextFile(`${folder}/no.gguf`, "GGML, not GGUF, which is what it should be");
  await assertRejects(() => estimateMemory(`${folder}/no.gguf`), GgufError, "magic");
});

const models = new URL("../../../../shared/data/models/", import.meta.url);

/** Paths of the .gguf files of a folder; none where it is missing. */
function listModels(name: string): string[] {
  const path = fileURLToPath(new URL(name, models));
  try {
    const files = [...Deno.readDirSync(path)].map((file) => file.name).sort();
    return files.filter((file) => file.endsWith(".gguf")).map((file) => join(path, file));
  } catch {
    return [];
  }
}

const architectures = [...listModels("architectures"), ...listModels("embedding")];
Deno.test({
  name: "an estimate is what a load takes, for all architectures",
  ignore: architectures.length === 0,
  async fn() {
    // A GPU that compiles nothing: a real load would compile the kernels of each.
    const profile = profileNamed("software, no subgroups");
    for (const path of architectures) {
      const options = { maxSequences: 2 };
      const { memory } = await estimateMemory(path, options, { gpu: deviceProfile(profile) });
      const device = { gpu: recordingGpu(profile, new Map()) };
      await using model = await loadModel(path, { ...options, device });
      assertEquals(memory, model.memory, path);
    }
  },
});

const adapters = listModels("lora");
Deno.test({
  name: "an estimate is what a load takes, with adapters",
  ignore: adapters.length === 0,
  async fn() {
    const base = adapters.find((path) => path.endsWith("base.gguf"))!;
    for (const path of adapters.filter((path) => path !== base)) {
      const estimate = await createEstimate({ kind: "files", path: base, adapters: [path] });
      await using model = await loadModel(base, { maxSequences: 2, adapters: [{ path }] });
      assertEquals((await estimate({ maxSequences: 2 })).memory, model.memory);
    }
  },
});
