// The kernels that whole models have on a GPU, in every kind of step; nothing is run.

import { loadModel } from "../engine/mod.ts";
import type { Profile } from "./profiles.ts";
import { type Kernels, recordingGpu } from "./recording_gpu.ts";

const STEPS = [1, 2, 3, 5, 9, 33, 72];
const TOKENS = Array.from({ length: 72 }, (_, i) => (i * 37 + 11) % 100);

/** The kernels of a model in every kind of step, with int8 activations and with floats. */
export async function modelKernels(path: string | URL, profile: Profile): Promise<Kernels> {
  const kernels: Kernels = new Map();
  for (const exact of [false, true]) {
    const device = { gpu: recordingGpu(profile, kernels) };
    const limits = { contextLength: 128, maxSequences: 2, prefillChunk: 72 };
    await using model = await loadModel(path, { ...limits, device, exact });
    for (const chunk of STEPS) await model.logits(TOKENS, { chunkSize: chunk });
  }
  return kernels;
}
