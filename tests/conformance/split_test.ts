// Models whose layers are on two devices, beside the same models on one. Two CPU devices stand for a
// GPU and the CPU: what is handed over, and when, is the same.

import { assert } from "@std/assert";
import { loadModel, type LocalLoadOptions } from "../../engine/mod.ts";
import { nmse } from "../numbers.ts";
import { conformanceTest, hasData, namesIn, readFixture } from "./logits.ts";

/** Of the power of the logits, what a split may change: nothing but the order of two sums. */
const MOST_ERROR = 1e-8;

const DEVICES: LocalLoadOptions = {
  device: { kind: "cpu", threads: 1 },
  beside: { kind: "cpu", threads: 1 },
};

/** What of a model is on the first device: each cuts it elsewhere. */
const SHARES: readonly LocalLoadOptions[] = [
  { gpuLayers: 1 },
  { gpuLayers: 2 },
  { gpuExpertLayers: 0 },
  { gpuLayers: 3, gpuExpertLayers: 1 },
];

/**
 * A dense model, a mixture, and what a split could break: layers that share the caches of others and
 * inputs of all layers at once, states beside caches, latent attention, experts that weight their input.
 */
const NAMES = [
  ["architectures", "llama-dense"],
  ["architectures", "qwen3moe-moe"],
  ["architectures", "llama4-moe"],
  ["architectures", "deepseek2-moe"],
  ["architectures", "qwen3next-moe"],
  ["text", "gemma3n"],
];

/** With QUERN_ALL_SPLITS set, all that there are. */
const all = Deno.env.has("QUERN_ALL_SPLITS") && hasData
  ? [
    ...(await namesIn("architectures")).map((name) => ["architectures", name]),
    ...(await namesIn("text")).map((name) => ["text", name]),
  ]
  : NAMES;

for (const [folder, name] of all) {
  conformanceTest(`${name} gives the same logits when it is split`, async () => {
    const { model, tokens } = await readFixture(folder, name);
    const load = (share: LocalLoadOptions) =>
      loadModel(model, { contextLength: 512, maxSequences: 2, exact: true, ...DEVICES, ...share });
    await using whole = await load({});
    const expected = await whole.logits(tokens);
    for (const share of SHARES) {
      await using split = await load(share);
      const error = nmse(await split.logits(tokens, { chunkSize: 7 }), expected);
      assert(error <= MOST_ERROR, `NMSE ${error} with ${JSON.stringify(share)}`);
    }
  });
}
