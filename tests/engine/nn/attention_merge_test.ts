// How the splits of attention are merged: by a workgroup with barriers on GPUs, by single invocations
// on drivers that run on the CPU. What both compute is checked on all devices.

import { assert, assertEquals } from "@std/assert";
import { loadModel } from "../../../engine/mod.ts";
import { MEMORY_PROFILES } from "../../profiles.ts";
import { type Kernels, recordingGpu } from "../../recording_gpu.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

Deno.test("only a driver on the CPU merges attention without barriers", async () => {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeTinyLlama(path, { type: "Q8_0" });
    for (const profile of MEMORY_PROFILES) {
      const kernels: Kernels = new Map();
      await using _ = await loadModel(path, { device: { gpu: recordingGpu(profile, kernels) } });
      const merges = [...kernels].flatMap(([code, name]) =>
        name === "attention merge" ? [code] : []
      );
      assert(merges.length > 0);
      for (const code of merges) {
        assertEquals(!code.includes("workgroupBarrier()"), profile.software ?? false, profile.name);
      }
    }
  } finally {
    await Deno.remove(path);
  }
});
