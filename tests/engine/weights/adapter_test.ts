// LoRA adapters: a model with one has the logits of a model whose weights were merged with it, and
// those that do not fit are refused with a reason.

import { AdapterError, loadModel, type LocalLoadOptions } from "../../../engine/mod.ts";
import { nmse } from "../../numbers.ts";
import { type PlainMetadata, writeModelFile } from "../../model_file.ts";
import { deepSeek2 } from "../reference/deepseek2.ts";
import { fixtureOf, randomTokens, writeReference } from "../reference/file.ts";
import { llama } from "../reference/llama.ts";
import { type ReferenceModel, VOCABULARY, WIDTH } from "../reference/model.ts";
import { RandomWeights } from "../reference/weights.ts";
import {
  ALPHA,
  merge,
  METADATA,
  OF_LLAMA,
  pairsFor,
  type Shapes,
  writeAdapter,
} from "./lora_case.ts";
import { assert, assertRejects } from "@std/assert";

async function logitsOf(path: URL, options: LocalLoadOptions): Promise<Float32Array> {
  await using model = await loadModel(path, { contextLength: 64, maxSequences: 2, ...options });
  return await model.logits(randomTokens());
}

/** Of each head's rows some go to one product, some to another. */
const OF_DEEPSEEK: Shapes = {
  "blk.1.attn_q_b": [64, 3 * 96],
  "blk.2.attn_kv_a_mqa": [WIDTH, 96],
};

/** A model with two adapters: NMSE to that with merged weights, and to that without adapters. */
async function errorsOf(
  reference: ReferenceModel,
  shapes: Shapes,
  { type, exact }: { type: "F32" | "Q8_0"; exact: boolean },
) {
  const base = new RandomWeights(type);
  const { model, expected: plain } = await fixtureOf(reference, base);
  const ranks = [6, 4];
  const scales = [1, -0.5];
  const pairs = ranks.map((rank) => pairsFor(shapes, rank));
  const merged = pairs.reduce((weights, pair, i) => {
    return merge(weights, pair, scales[i] * ALPHA / ranks[i]);
  }, base);
  const expected = reference.run(merged, randomTokens()).flat();
  const adapters = await Promise.all(pairs.map(async (pair, i) => {
    return { path: await writeAdapter(reference, pair), scale: scales[i]! };
  }));
  const logits = await logitsOf(model, { exact, adapters });
  return { merged: nmse(logits, expected), plain: nmse(logits, plain) };
}

const CASES = [
  ["a model with two adapters has the logits of merged weights", llama, OF_LLAMA],
  ["so has one whose heads' rows are taken apart", deepSeek2("absorbed"), OF_DEEPSEEK],
] as const;

for (const [name, reference, shapes] of CASES) {
  Deno.test(name, async () => {
    const { merged, plain } = await errorsOf(reference, shapes, { type: "F32", exact: true });
    assert(merged <= 1e-9, `NMSE ${merged}`);
    assert(plain >= 0.01, `the adapters change nothing: NMSE ${plain}`);
  });
}

Deno.test("adapters of quantized weights too, as exactly as int8 activations allow", async () => {
  const { merged, plain } = await errorsOf(llama, OF_LLAMA, { type: "Q8_0", exact: false });
  const weights = new RandomWeights("Q8_0");
  const [exact, rounded] = [weights, weights.asInteger()].map((weights) => {
    return llama.run(weights, randomTokens()).flat();
  });
  assert(merged <= 2 * nmse(rounded, exact), `NMSE ${merged}`);
  assert(plain >= 0.01, `the adapters change nothing: NMSE ${plain}`);
});

const base = new RandomWeights();
llama.run(base, [0]);

const basePath = await writeReference(llama, base);

const Q: Shapes = { "blk.0.attn_q": [WIDTH, 128] };

const REFUSED: [name: string, metadata: PlainMetadata, tensors: RandomWeights, state: RegExp][] = [
  ["no adapter", { "general.architecture": "llama" }, pairsFor(Q, 4), /it is a model, no adapter/],
  [
    "an adapter of another kind",
    { ...METADATA, "adapter.type": "control_vector" },
    pairsFor(Q, 4),
    /its type is "control_vector"/,
  ],
  [
    "an adapter for another architecture",
    { ...METADATA, "general.architecture": "gemma" },
    pairsFor(Q, 4),
    /it is for architecture "gemma", not "llama"/,
  ],
  [
    "a weight that the model lacks",
    METADATA,
    pairsFor({ "blk.9.attn_q": [WIDTH, 128] }, 4),
    /"blk\.9\.attn_q\.weight\.lora_a" changes a weight that the model lacks/,
  ],
  [
    "a pair narrower than the weight's input",
    METADATA,
    pairsFor({ "blk.0.attn_q": [64, 128] }, 4),
    /its pair \[64, 4\], \[4, 128\] for "blk\.0\.attn_q\.weight" does not fit .* \[96, 128\]/,
  ],
  [
    "a pair wider than the weight's output",
    METADATA,
    pairsFor({ "blk.0.attn_q": [WIDTH, 160] }, 4),
    /its pair \[96, 4\], \[4, 160\] for "blk\.0\.attn_q\.weight" does not fit .* \[96, 128\]/,
  ],
  [
    "a pair for the table of embeddings",
    METADATA,
    pairsFor({ "token_embd": [WIDTH, VOCABULARY] }, 4),
    /"token_embd\.weight\.lora_a" changes .* that cannot be adapted/,
  ],
  [
    "a pair with a value that is not finite",
    METADATA,
    damaged(pairsFor(Q, 4)),
    /"blk\.0\.attn_q\.weight\.lora_b" has values that are not finite/,
  ],
  [
    "half a pair",
    METADATA,
    half(pairsFor(Q, 4)),
    /"blk\.0\.attn_q\.weight\.lora_a" changes/,
  ],
];

function damaged(pairs: RandomWeights): RandomWeights {
  pairs.tensors.get("blk.0.attn_q.weight.lora_b")!.values[7] = Infinity;
  return pairs;
}

function half(pairs: RandomWeights): RandomWeights {
  pairs.tensors.delete("blk.0.attn_q.weight.lora_b");
  return pairs;
}

for (const [name, metadata, tensors, state] of REFUSED) {
  Deno.test(`an adapter is refused: ${name}`, async () => {
    const path = await writeModelFile(metadata, tensors.writable());
    const load = () => logitsOf(basePath, { exact: true, adapters: [{ path }] });
    const error = await assertRejects(load, AdapterError);
    assert(state.test(error.message), error.message);
  });
}
