// Every architecture of the conformance data, in every way that its rows can be batched, and every
// embedding model: what `deno task conformance` prints, as tests. LoRA adapters and split files too.

import { fileURLToPath } from "node:url";
import { assert, assertEquals } from "@std/assert";
import { loadModel, type LocalLoadOptions } from "../../engine/mod.ts";
import { readAnswer } from "../engine/harness.ts";
import { nmse } from "../numbers.ts";
import { embeddingNames, leastCosine } from "./embeddings.ts";
import {
  conformanceTest,
  DATA,
  fixtureNames,
  hasData,
  logitErrors,
  readFixture,
  readFloats,
  worst,
} from "./logits.ts";

for (const [folder, name] of hasData ? await fixtureNames() : []) {
  conformanceTest(`${name} has the known logits, however its rows are batched`, async () => {
    const errors = await logitErrors(await readFixture(folder, name));
    assert(worst(errors) <= 1e-6, JSON.stringify(errors));
  });
}

/** Models of norms, of M-RoPE, of a latent cache, and what codes change of their logits at most. */
const CODED = [
  ["qwen3-dense", { keys: "q8_0", values: "q8_0" }, 3e-6],
  ["qwen3vl-dense", { keys: "q8_0", values: "q4_0" }, 1e-3],
  ["qwen35-dense", { keys: "q4_0", values: "f16" }, 1e-6],
  ["deepseek2-moe", { keys: "q8_0", values: "q8_0" }, 1e-3],
] as const;

for (const [name, cacheType, most] of CODED) {
  const types = `keys of ${cacheType.keys} and values of ${cacheType.values}`;
  conformanceTest(`${name} comes near the known logits with ${types}`, async () => {
    const errors = await logitErrors(await readFixture("architectures", name), { cacheType });
    assert(worst(errors) <= most, JSON.stringify(errors));
  });
}

for (const name of hasData ? await embeddingNames() : []) {
  conformanceTest(`${name} gives the known embeddings, of tokens and of texts`, async () => {
    const cosine = await leastCosine(name);
    assert(cosine >= 0.9999, `cosine ${cosine}`);
  });
}

/** One of each kind of memory: KV cache, latent cache, states of scans, delta rules, convolutions. */
const MEMORIES = ["gpt-oss-moe", "deepseek2-moe", "mamba2-dense", "qwen35-dense", "lfm2-dense"];

for (const name of MEMORIES) {
  conformanceTest(`${name} decodes what its logits say, in slots that others used`, async () => {
    const { model: path, tokens } = await readFixture("architectures", name);
    await using model = await loadModel(path, {
      contextLength: 256,
      maxSequences: 3,
      exact: true,
      prefillChunk: 11,
    });
    const prompts = [tokens.slice(0, 20), tokens.slice(5, 30), tokens.slice(9, 12), tokens];
    const answers = prompts.map((prompt) =>
      readAnswer(model.generate({ prompt, temperature: 0, maxTokens: 12 }))
    );
    for (const [i, answer] of (await Promise.all(answers)).entries()) {
      const all = [...prompts[i], ...answer.tokens];
      const logits = await model.logits(all);
      const vocabulary = logits.length / all.length;
      const best = answer.tokens.map((_, k) => {
        const row = logits.subarray((prompts[i].length - 1 + k) * vocabulary).subarray(
          0,
          vocabulary,
        );
        return row.indexOf(Math.max(...row));
      });
      assertEquals(answer.tokens.length, 12);
      assertEquals(answer.tokens, best);
    }
  });
}

async function logitsOf(path: string, manifest: string, options: LocalLoadOptions = {}) {
  const { tokens } = JSON.parse(await Deno.readTextFile(new URL(manifest, DATA)));
  await using model = await loadModel(new URL(path, DATA), {
    contextLength: 64,
    maxSequences: 1,
    exact: true,
    ...options,
  });
  return await model.logits(tokens, { chunkSize: 1 });
}

const ADAPTER_SCALES = [[1, "scale1"], [0.5, "scale0.5"], [-1, "scale-1"]] as const;

conformanceTest("a LoRA adapter gives the known logits at several scales", async () => {
  const path = fileURLToPath(new URL("lora/adapter.gguf", DATA));
  const base = await logitsOf("lora/base.gguf", "lora/manifest.json");
  assert(nmse(base, await readFloats("lora/base.logits.f32")) <= 1e-6);
  for (const [scale, name] of ADAPTER_SCALES) {
    const adapters = [{ path, scale }];
    const adapted = await logitsOf("lora/base.gguf", "lora/manifest.json", { adapters });
    const error = nmse(adapted, await readFloats(`lora/${name}.logits.f32`));
    assert(error <= 1e-6, `scale ${scale}: NMSE ${error}`);
  }
});

conformanceTest("a split model has the logits of the whole one", async () => {
  const whole = await logitsOf("split/whole.gguf", "split/manifest.json");
  assert(nmse(whole, await readFloats("split/logits.f32")) <= 1e-6);
  for (const first of ["model-00001-of-00003", "nofirst-00001-of-00004"]) {
    assertEquals(await logitsOf(`split/${first}.gguf`, "split/manifest.json"), whole);
  }
});
