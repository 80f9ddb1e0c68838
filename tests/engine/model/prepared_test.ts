// A load ends with everything prepared: whatever steps follow, no kernel is compiled for them and
// nothing is bound.

import { assert, assertEquals } from "@std/assert";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { loadModel } from "../../../engine/mod.ts";
import { loadImageEncoder } from "../../../engine/vision/mod.ts";
import { readMerge } from "../../../engine/vision/preprocess/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { conformanceTest, DATA, hasData } from "../../conformance/logits.ts";
import { PROFILES } from "../../profiles.ts";
import { recordingGpu } from "../../recording_gpu.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder } from "../harness.ts";

/** What is made while models are loaded, and must not be made later. */
const MADE = ["createShaderModule", "createComputePipeline", "createBindGroup", "createBuffer"];

/** Counts what the devices of an implementation make. */
function counting(gpu: GPU): { gpu: GPU; made: Map<string, number> } {
  const made = new Map(MADE.map((name) => [name, 0]));
  const requestAdapter = async () => {
    const adapter = await gpu.requestAdapter() as unknown as Record<string, unknown>;
    const requestDevice = adapter.requestDevice as (options: unknown) => Promise<object>;
    return {
      ...adapter,
      requestDevice: async (options: unknown) => {
        const device = await requestDevice(options) as Record<string, (given: never) => unknown>;
        for (const name of MADE) {
          const make = device[name]!;
          device[name] = (given) => {
            made.set(name, made.get(name)! + 1);
            return make(given);
          };
        }
        return device;
      },
    };
  };
  return { gpu: { ...gpu, requestAdapter } as unknown as GPU, made };
}

const tiny = new URL(`file://${folder}/prepared.gguf`);
await writeTinyLlama(tiny, { type: "Q8_0" });

const architectures = ["gpt-oss-moe", "granitehybrid-dense", "deepseek2-moe"]
  .map((name) => new URL(`architectures/${name}.gguf`, DATA));
const paths = [tiny, ...hasData ? architectures : []];
const [software, ...others] = PROFILES;

for (const profile of [software!, others.at(-1)!]) {
  for (const path of paths) {
    const name = path.pathname.split("/").at(-1);
    Deno.test(`steps of ${name} on ${profile.name} find all that they want made`, async () => {
      const { gpu, made } = counting(recordingGpu(profile, new Map()));
      const limits = { contextLength: 128, maxSequences: 4, prefillChunk: 72 };
      await using model = await loadModel(path, { ...limits, device: { gpu } });
      const before = new Map(made);
      assert(before.get("createComputePipeline") === 0, "pipelines are made one by one");
      assert(before.get("createBindGroup")! > 0);
      const tokens = Array.from({ length: 100 }, (_, i) => 1 + i % 50);
      for (const count of [1, 2, 3, 4]) {
        for (const length of [1, 2, 3, 5, 9, 33, 72]) {
          const prompt = tokens.slice(0, length);
          const answers = Array.from({ length: count }, async () => {
            const sampling = { temperature: length % 2, repeatPenalty: 1 + length % 3 };
            for await (const _ of model.generate({ prompt, ...sampling, maxTokens: 2 }));
          });
          await Promise.allSettled(answers);
        }
      }
      assertEquals(made, before);
    });
  }
}

for (const name of ["pixtral", "qwen25vl"]) {
  for (const profile of [software!, others.at(-1)!]) {
    conformanceTest(`pictures find all that ${name} wants made, on ${profile.name}`, async () => {
      const { gpu, made } = counting(recordingGpu(profile, new Map()));
      using device = await openDevice({ gpu });
      const file = await readGguf(new URL(`vision/${name}/mmproj.gguf`, DATA));
      const patches = 64;
      using encoder = await loadImageEncoder(file, device, { patches, exact: false });
      const before = new Map(made);
      const { patchSize, metadata } = encoder.config;
      const side = patchSize * readMerge(metadata, encoder.family.pictures);
      for (const [columns, rows] of [[1, 1], [2, 1], [2, 2]]) {
        const size = { width: columns! * side, height: rows! * side };
        await encoder.encode(new Float32Array(3 * size.width * size.height), size);
      }
      assertEquals(made, before);
    });
  }
}
