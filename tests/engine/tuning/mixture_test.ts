// A mixture of experts for whose products a choice is kept: the next load takes it, with the same answers.

import { assert, assertEquals } from "@std/assert";
import { loadModel, type LocalLoadOptions } from "../../../engine/mod.ts";
import { TuningFile } from "../../../engine/tuning/mod.ts";
import type { ExpertsCase } from "../../../kernels/mod.ts";
import { tileName, WebGpuDevice } from "../../../kernels/webgpu/mod.ts";
import { expertTiles } from "../../../kernels/webgpu/candidates.ts";
import { hasAdapter } from "../../adapter.ts";
import { conformanceTest, DATA } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { pretendedCode, pretendGpu } from "../../pretended_gpu.ts";
import { profileNamed } from "../../profiles.ts";

const MODEL = new URL("architectures/qwen3moe-moe.gguf", DATA);
const PROFILE = profileNamed("software, no subgroups");
const TOKENS = [11, 48, 85, 2];

/** The products of the model's experts. */
const EXPERTS = { kernel: "experts", format: "F16", experts: 2, topK: 2, integer: false } as const;
const PRODUCTS: ExpertsCase[] = [1, 4].flatMap((density) => [
  { ...EXPERTS, rows: 192, columns: 128, sides: 2, quantized: false, perPair: false, density },
  { ...EXPERTS, rows: 128, columns: 192, sides: 1, quantized: false, perPair: true, density },
]);

/** Of the logits' power: sums of floats in another order. */
const MOST_ERROR = 1e-10;

const test = hasAdapter ? conformanceTest : Deno.test.ignore;

test(
  "choices for experts that were kept are taken at the next load, with the same answers",
  async () => {
    const folder = await Deno.makeTempDir();
    let codes = new Set<string>();
    const gpu = pretendGpu(PROFILE, (code) => {
      codes.add(code);
      return pretendedCode(PROFILE, code);
    });
    /** Logits in steps of one row and of four, and the kernels of the load. */
    const loaded = async (options: LocalLoadOptions = {}) => {
      codes = new Set();
      const limits = { contextLength: 32, maxSequences: 1, prefillChunk: 4 };
      await using model = await loadModel(MODEL, { ...limits, ...options, device: { gpu } });
      const single = await model.logits(TOKENS, { chunkSize: 1 });
      return { logits: Float32Array.of(...single, ...await model.logits(TOKENS)), codes };
    };
    try {
      using device = await WebGpuDevice.open({ gpu });
      const file = new TuningFile(device.tuner!.identity, { folder });
      let changed = 0;
      for (const of of PRODUCTS) {
        const names = expertTiles(device.profile, of).map(tileName);
        if (names.length > 1) changed++;
        await file.add({ of, chosen: names.at(-1)!, trials: names.map((name) => ({ name })) });
      }
      assert(changed >= 3);
      const usual = await loaded();
      const tuned = await loaded({ tuning: { folder } });
      assert(nmse(tuned.logits, usual.logits) <= MOST_ERROR);
      assertEquals(tuned.codes.difference(usual.codes).size, changed);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
