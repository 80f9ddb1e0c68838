// Files that are not what their architecture needs: a load fails and names the tensor or the key. All
// models, all tensors and all keys go through `deno task test:faults`; here are a tiny one, and of the
// conformance data models of each kind of layer with some tensors.

import { type GgufFile, readGguf, type TensorInfo } from "../../../engine/gguf/mod.ts";
import { loadModel } from "../../../engine/mod.ts";
import { conformanceTest, DATA, readFixture } from "../../conformance/logits.ts";
import { tryMetadataFaults } from "../../faults/metadata_faults.ts";
import { type Fault, tryTensorFaults } from "../../faults/tensor_faults.ts";
import { LOAD, tryEncoder, tryLoad, withMetadata } from "../../faults/trial.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

Deno.test("each tensor of a model removed, renamed or halved is missed by its name", async () => {
  // The head is the one that a sound file may lack.
  const keep = (tensor: string) => tensor !== "output.weight";
  const { counts, misses } = await tryTensorFaults(tinyPath, { keep });
  assertEquals(misses, []);
  for (const { named } of Object.values(counts)) assert(named >= 16, JSON.stringify(counts));
});

Deno.test("each key at the end of what is possible fails soon, and as a fault of the file", async () => {
  const keep = (key: string) => key.startsWith("llama.") && !key.includes("yarn");
  const { named, crashes, hangs } = await tryMetadataFaults(tinyPath, { keep });
  assertEquals(crashes, []);
  assertEquals(hangs, []);
  assert(named > 50, `${named} keys were named`);
});

const CASES: [key: string, value: number, message: string][] = [
  ["llama.block_count", 0, "llama.block_count: 0, but the file has tensors of 2 layers"],
  ["llama.block_count", 1, "llama.block_count: 1, but the file has tensors of 2 layers"],
  ["llama.block_count", 2 ** 32 - 1, "but the file has tensors of 2 layers"],
  ["llama.embedding_length", 128, 'rows of "token_embd.weight" have 64 values'],
  [
    "llama.rope.dimension_count",
    2 ** 31,
    "2147483648 of the 16 elements of a head cannot be rotated",
  ],
  ["llama.attention.head_count", 0, "llama.attention.head_count: layer 0 has no heads"],
  ["llama.attention.head_count", 3, "llama.attention.head_count"],
  ["llama.attention.head_count_kv", 3, "3 does not divide 4 query heads"],
  ["llama.pooling_type", 9, "9 is no pooling that is known here"],
  ["llama.rope.freq_base", -1, "-1 is not above zero"],
];

for (const [key, value, message] of CASES) {
  Deno.test(`${key} = ${value} is refused with what the tensors say`, async () => {
    const { error, milliseconds } = await tryLoad(
      withMetadata(await readGguf(tinyPath), { [key]: value }),
    );
    assert(error?.includes(message), error);
    assert(milliseconds < 1000, `${milliseconds} ms`);
  });
}

Deno.test("a tensor that no part of a model reads is named, unless it is known to be of no use", async () => {
  const gguf = await readGguf(tinyPath);
  const withTensor = (name: string): GgufFile => {
    const tensor: TensorInfo = { ...gguf.tensors.get("output_norm.weight")!, name };
    return { ...gguf, tensors: new Map([...gguf.tensors, [name, tensor]]) };
  };
  for (const name of ["blk.0.attn_gate.weight", "output_norm.weights", "blk.1.attn_q.bais"]) {
    const { error } = await tryLoad(withTensor(name));
    assert(error?.includes(`tensor "${name}"`), error);
  }
  for (const name of ["blk.0.nextn.enorm.weight", "v.blk.0.ln1.weight", "blk.0.attn_rot_embd"]) {
    assertEquals((await tryLoad(withTensor(name))).error, undefined);
  }
});

/** The tiny model with fewer tokens than its embeddings have rows. */
async function writeTrimmed(tokens: number): Promise<string> {
  const path = `${folder}/tokens-${tokens}.gguf`;
  const { metadata } = await readGguf(tinyPath);
  const listed = (metadata["tokenizer.ggml.tokens"] as string[]).slice(0, tokens);
  const types = (metadata["tokenizer.ggml.token_type"] as Int32Array).slice(0, tokens);
  await writeTinyLlama(path, {
    metadata: { "tokenizer.ggml.tokens": listed, "tokenizer.ggml.token_type": types },
  });
  return path;
}

Deno.test("rows without a token are left out where they are few, and refused where they are many", async () => {
  await using model = await loadModel(await writeTrimmed(290), tinyLoad);
  const logits = await model.logits([1, 2, 3]);
  assertEquals(logits.length, 3 * 290);
  await using whole = await loadModel(tinyPath, tinyLoad);
  const expected = await whole.logits([1, 2, 3]);
  const ofTokens = expected.filter((_, i) => i % 300 < 290);
  assert(logits.every((value, i) => Math.abs(value - ofTokens[i]) < 1e-4));
  const sparse = await writeTrimmed(262);
  await assertRejects(
    () => loadModel(sparse, LOAD),
    Error,
    'tensor "token_embd.weight": it has 300 rows, but the vocabulary has 262 tokens',
  );
});

/** A model of each kind of layer, and what of it goes through all faults. */
const KINDS: [name: string, keep: RegExp][] = [
  ["deepseek2-moe", /^blk\.1\.(attn_[qkv]|exp_probs|ffn_gate_up)/],
  ["falcon-h1-dense", /^blk\.0\.(ssm|ffn_norm|attn_q)/],
  ["gpt-oss-moe", /^blk\.1\.(attn_sinks|ffn_\w+\.bias|attn_output)/],
  ["qwen35moe-moe", /^blk\.0\.(ssm|attn|ffn_\w+_shexp)/],
];

conformanceTest("each tensor and key of an image encoder damaged is missed", async () => {
  const path = new URL("vision/qwen3vl/mmproj.gguf", DATA);
  const { misses } = await tryTensorFaults(path, { tokens: [], load: tryEncoder });
  assertEquals(misses, []);
  const { crashes, hangs } = await tryMetadataFaults(path, {
    load: tryEncoder,
    keep: (key) => key.startsWith("clip.vision."),
  });
  assertEquals([...crashes, ...hangs], []);
});

conformanceTest(
  "a damaged tensor has its name in the file, where encoders read it by another",
  async () => {
    // Files of LLaVA swap ffn_up and ffn_down; of Llama 4's last matrices one tells the other's size.
    for (
      const [name, pattern] of [["llava", /^v\.blk\.0\.ffn_/], [
        "llama4",
        /mlp\.2\.weight/,
      ]] as const
    ) {
      const path = new URL(`vision/${name}/mmproj.gguf`, DATA);
      const keep = (tensor: string) => pattern.test(tensor);
      const { misses } = await tryTensorFaults(path, { tokens: [], load: tryEncoder, keep });
      assertEquals(misses, [], name);
    }
  },
);

conformanceTest("numbers of heads and experts that no tensor has are refused at once", async () => {
  const { model } = await readFixture("architectures", "deepseek2-moe");
  const keys = ["attention.head_count", "attention.kv_lora_rank", "expert_count"];
  const keep = (key: string) => keys.some((name) => key === `deepseek2.${name}`);
  const { crashes, hangs } = await tryMetadataFaults(model, { keep });
  assertEquals([...crashes, ...hangs], []);
});

conformanceTest(
  "a Gemma 4 with per-layer embeddings misses values, which larger ones may lack",
  async () => {
    const { model } = await readFixture("text", "gemma4-ple");
    const keep = (tensor: string) => tensor === "blk.3.attn_v.weight"; // its one full layer
    const { counts, misses } = await tryTensorFaults(model, { keep, faults: ["removed"] });
    assertEquals([counts.removed.named, misses], [1, []]);
  },
);

const EVERY_FAULT: readonly Fault[] = ["removed", "renamed", "rows halved"];

for (const [name, pattern] of KINDS) {
  conformanceTest(`${name} misses its tensors by their names`, async () => {
    const { model } = await readFixture("architectures", name);
    const keep = (tensor: string) => pattern.test(tensor) && !tensor.endsWith("input_scale");
    const { counts, misses } = await tryTensorFaults(model, { keep, faults: EVERY_FAULT });
    assertEquals(misses, []);
    assert(counts.removed.named >= 5, JSON.stringify(counts));
  });
}
