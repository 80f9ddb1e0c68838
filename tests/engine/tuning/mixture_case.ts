// A mixture of experts loaded on a pretended GPU, without choices and with some that were kept: what
// mixture_test.ts and tests/profiles/tuning.ts run.

import { assert } from "@std/assert";
import { loadModel, type LocalLoadOptions } from "../../../engine/mod.ts";
import { TuningFile } from "../../../engine/tuning/mod.ts";
import type { ExpertsCase, KernelCase } from "../../../kernels/mod.ts";
import { WebGpuDevice } from "../../../kernels/webgpu/mod.ts";
import { DATA } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { pretendedCode, pretendGpu } from "../../pretended_gpu.ts";
import type { Profile } from "../../profiles.ts";

const MODEL = new URL("architectures/qwen3moe-moe.gguf", DATA);

/** The products of its experts: a row of a step has both experts, so the density is the number of rows. */
const EXPERTS = { format: "F16", experts: 2, topK: 2, integer: false, quantized: false } as const;
export const GATED = { ...EXPERTS, rows: 192, columns: 128, sides: 2, perPair: false } as const;
export const DOWN = { ...EXPERTS, rows: 128, columns: 192, sides: 1, perPair: true } as const;

/** Of the logits' power: sums of floats in another order. */
const MOST_ERROR = 1e-8;

/**
 * Fails unless the model's logits, in steps of one row and of `step`, stay what they are with choices that
 * were kept. Resolves with the number of kernels that only the load with choices has.
 */
export async function othersWith(
  profile: Profile,
  step: number,
  kept: readonly { of: KernelCase; chosen: string }[],
): Promise<number> {
  const folder = await Deno.makeTempDir();
  let codes = new Set<string>();
  const gpu = pretendGpu(profile, (code) => {
    codes.add(code);
    return pretendedCode(profile, code);
  });
  const tokens = Array.from({ length: step }, (_, i) => (i * 37 + 11) % 120);
  const loaded = async (options: LocalLoadOptions = {}) => {
    codes = new Set();
    const limits = { contextLength: 32, maxSequences: 1, prefillChunk: step };
    await using model = await loadModel(MODEL, { ...limits, ...options, device: { gpu } });
    const single = await model.logits(tokens, { chunkSize: 1 });
    return { logits: Float32Array.of(...single, ...await model.logits(tokens)), codes };
  };
  try {
    using device = await WebGpuDevice.open({ gpu });
    const file = new TuningFile(device.tuner!.identity, { folder });
    for (const { of, chosen } of kept) await file.add({ of, chosen, trials: [{ name: chosen }] });
    const usual = await loaded();
    const tuned = await loaded({ tuning: { folder, seconds: 0 } });
    assert(nmse(tuned.logits, usual.logits) <= MOST_ERROR);
    return tuned.codes.difference(usual.codes).size;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The products of the model's experts where so many pairs share one. */
export function productsOf(density: number, cols: number): ExpertsCase[] {
  return [GATED, DOWN].map((shape) => ({ ...shape, kernel: "experts", density, cols }));
}
