// What Ollama's converter calls otherwise in the headers of decoders, read as what it means.

import { assertEquals } from "@std/assert";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { viewAsDecoder } from "../../../engine/vision/mod.ts";
import { type PlainMetadata, writeModelFile } from "../../model_file.ts";

/** The metadata and the names of the tensors of a file, seen as a decoder. */
async function view(architecture: string, own: PlainMetadata, names: readonly string[] = []) {
  const metadata = Object.entries(own).map(([key, value]) => [
    key.startsWith("tokenizer") ? key : `${architecture}.${key}`,
    value,
  ]);
  const tensors = names.map((name) => ({
    name,
    shape: [1, 2],
    type: "F32",
    data: () => [new Uint8Array(8)],
  }));
  const path = await writeModelFile(
    { "general.architecture": architecture, ...Object.fromEntries(metadata) },
    tensors,
  );
  const { metadata: seen, tensors: all } = viewAsDecoder(await readGguf(path));
  return { seen, names: [...all.keys()] };
}

for (const architecture of ["qwen25vl", "qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe"]) {
  for (const key of ["rope.mrope_section", "mrope_sections"]) {
    Deno.test(`viewAsDecoder() finds the sections of a ${architecture} in ${key}`, async () => {
      const { seen } = await view(architecture, { [key]: Int32Array.of(4, 6, 6) });
      assertEquals(seen[`${architecture}.rope.dimension_sections`], Int32Array.of(4, 6, 6, 0));
    });
  }
}

Deno.test("viewAsDecoder() leaves what is there", async () => {
  const sections = Int32Array.of(1, 2, 3, 0);
  const { seen } = await view("qwen3vl", {
    "rope.dimension_sections": sections,
    "rope.mrope_section": Int32Array.of(4, 6, 6),
    n_deepstack_layers: 5,
  });
  assertEquals(seen["qwen3vl.rope.dimension_sections"], sections);
  assertEquals(seen["qwen3vl.n_deepstack_layers"], 5);
});

Deno.test("viewAsDecoder() knows what files of a qwen3vl do not say", async () => {
  const indexes = { "vision.deepstack_visual_indexes": Int32Array.of(8, 16, 24) };
  const { seen } = await view("qwen3vl", indexes);
  assertEquals(seen["qwen3vl.n_deepstack_layers"], 3);
  assertEquals(seen["qwen3vl.rope.dimension_sections"], Int32Array.of(24, 20, 20, 0));
});

Deno.test("viewAsDecoder() finds YaRN and the temperature of a mistral3, and its rule of words", async () => {
  const { seen } = await view("mistral3", {
    "vision.block_count": 1,
    "rope.scaling.beta_fast": 31.5,
    "rope.scaling.beta_slow": 1.5,
    "rope.scaling.mscale_all_dim": 0.5,
    "rope.scaling_beta": 0.25,
    "tokenizer.ggml.pre": "default",
  });
  assertEquals(
    ["scaling.yarn_beta_fast", "scaling.yarn_beta_slow", "scaling.yarn_log_multiplier"]
      .map((key) => seen[`mistral3.rope.${key}`]),
    [31.5, 1.5, 0.5],
  );
  assertEquals(seen["mistral3.attention.temperature_scale"], 0.25);
  assertEquals(seen["tokenizer.ggml.pre"], "tekken");
  const { seen: text } = await view("mistral3", { "tokenizer.ggml.pre": "default" });
  assertEquals(text["tokenizer.ggml.pre"], "default");
});

Deno.test("viewAsDecoder() takes the vocabulary of a gemma3 as far as it has embeddings", async () => {
  const { seen } = await view("gemma3", {
    "tokenizer.ggml.tokens": ["a", "b", "<image_soft_token>"],
    "tokenizer.ggml.scores": Float32Array.of(1, 2, 3),
  }, ["token_embd.weight"]);
  assertEquals(seen["tokenizer.ggml.tokens"], ["a", "b"]);
  assertEquals(seen["tokenizer.ggml.scores"], Float32Array.of(1, 2));
});

Deno.test("viewAsDecoder() gives tensors the names that are read", async () => {
  const gemma = await view("gemma4", { "tokenizer.ggml.model": "llama" }, [
    "blk.0.ffn_gate_inp.per_expert_scale",
    "v.blk.0.ln1.weight",
  ]);
  assertEquals(gemma.names, ["blk.0.ffn_down_exps.scale", "v.blk.0.ln1.weight"]);
  assertEquals(gemma.seen["tokenizer.ggml.model"], "gemma4");
  const { names } = await view("qwen35", {}, ["blk.0.ssm_dt", "blk.0.ssm_a"]);
  assertEquals(names, ["blk.0.ssm_dt.bias", "blk.0.ssm_a"]);
});
