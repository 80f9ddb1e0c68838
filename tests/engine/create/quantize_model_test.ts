// Whole files quantized: types and metadata of the result, what it answers, and what is refused.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { quantizeModel } from "../../../engine/create/quantize/mod.ts";
import { readGguf, readRawMetadata, TensorReader, writeGguf } from "../../../engine/gguf/mod.ts";
import { loadModel, RequestError } from "../../../engine/mod.ts";
import { quantFormat } from "../../../kernels/quants/mod.ts";
import { nmse } from "../../numbers.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const [from, to] = [`${folder}/from.gguf`, `${folder}/to.gguf`];

// Rows of 256 and 64: what is 64 wide does not take blocks of 256.
await writeTinyLlama(from, {
  type: "F16",
  embedding: 256,
  feedForward: 320,
  metadata: {
    "general.alignment": { uint32: 64 },
    "test.int8": { int8: -3 },
    "test.uint64": { uint64: 2n ** 63n },
    "test.float64": { float64: 0.1 },
    "test.booleans": [true, false],
    "test.words": Uint16Array.of(1, 2, 3),
  },
});

const typesOf = async (path: string) => {
  const { tensors } = await readGguf(path);
  return Object.fromEntries(Array.from(tensors.values(), ({ name, typeName }) => [name, typeName]));
};

/** All weights of a file, decoded. */
async function weightsOf(path: string): Promise<Float32Array> {
  const file = await readGguf(path);
  using reader = await TensorReader.open(file);
  const parts = Array.from(file.tensors.values(), (tensor) => {
    const bytes = new Uint8Array(tensor.byteLength);
    reader.read(tensor, 0, bytes);
    const format = quantFormat(tensor.type)!;
    return format.dequantize(bytes, bytes.length / format.blockBytes);
  });
  return Float32Array.from(parts.flatMap((part) => [...part]));
}

async function logitsOf(path: string): Promise<Float32Array> {
  await using model = await loadModel(path, { exact: true, contextLength: 64, maxSequences: 1 });
  return await model.logits(Array.from({ length: 24 }, (_, i) => (i * 37 + 5) % 300));
}

const CASES = [
  ["F32", "F32", "F32", "F32", "F32", 0],
  ["BF16", "BF16", "BF16", "BF16", "BF16", 3e-6],
  ["Q8_0", "Q8_0", "Q8_0", "Q8_0", "Q8_0", 1e-4],
  ["Q4_0", "Q4_0", "Q6_K", "Q4_0", "Q4_0", 7e-3],
  ["Q4_K_S", "Q4_K", "Q6_K", "Q5_K", "Q5_0", 5e-3],
  ["Q4_K_M", "Q4_K", "Q6_K", "Q6_K", "Q8_0", 5e-3],
] as const;

for (const [type, embedding, output, values, down, error] of CASES) {
  Deno.test(`quantizeModel() makes a ${type} with weights like the original's`, async () => {
    const progress: number[] = [];
    await quantizeModel({
      from,
      to,
      type,
      onProgress: (done, total) => progress.push(done / total),
    });
    assertEquals(progress.at(-1), 1);
    const types = await typesOf(to);
    assertEquals(types["token_embd.weight"], embedding);
    assertEquals(types["output.weight"], output);
    // The last of two layers.
    assertEquals(types["blk.1.attn_v.weight"], values);
    assertEquals(types["blk.1.ffn_down.weight"], down);
    assertEquals(types["blk.1.attn_norm.weight"], "F32");
    const found = nmse(await weightsOf(to), await weightsOf(from));
    assert(found <= error, `${found}`);
  });
}

Deno.test("quantizeModel() makes a Q4_K_M that answers like the original", async () => {
  await quantizeModel({ from, to, type: "Q4_K_M" });
  const found = nmse(await logitsOf(to), await logitsOf(from));
  assert(found <= 0.05, `${found}`);
});

Deno.test("quantizeModel() keeps the metadata in its order, byte for byte", async () => {
  await quantizeModel({ from, to, type: "Q8_0" });
  const [before, after] = [await readRawMetadata(from), await readRawMetadata(to)];
  assertEquals([...after.keys()], [...before.keys()]);
  for (const [key, { raw }] of before) {
    if (key !== "general.file_type") assertEquals(after.get(key)!.raw, raw, key);
  }
  const { metadata, alignment } = await readGguf(to);
  assertEquals([metadata["general.file_type"], alignment], [7, 64]);
});

Deno.test("quantizeModel() makes one file of a split model", async () => {
  const data = () => [new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer)];
  const paths = [1, 2].map((number) => `${folder}/split-0000${number}-of-00002.gguf`);
  for (const [index, path] of paths.entries()) {
    const metadata = {
      "general.architecture": "llama",
      "split.no": { uint16: index },
      "split.count": { uint16: 2 },
      "split.tensors.count": { int32: 2 },
    };
    await writeGguf(path, metadata, [{
      name: `t${index}.weight`,
      shape: [2, 2],
      type: "F32",
      data,
    }]);
  }
  await quantizeModel({ from: paths[0], to, type: "F16" });
  const { metadata, tensors, shards } = await readGguf(to);
  assertEquals(Object.keys(metadata), [
    "general.architecture",
    "general.quantization_version",
    "general.file_type",
  ]);
  assertEquals([tensors.size, shards.length], [2, 1]);
});

Deno.test("quantizeModel() refuses a model that is quantized already", async () => {
  const path = `${folder}/quantized.gguf`;
  await quantizeModel({ from, to: path, type: "Q8_0" });
  const attempt = () => quantizeModel({ from: path, to, type: "Q4_0" });
  await assertRejects(attempt, RequestError, 'tensor "token_embd.weight" is Q8_0');
});

for (
  const [value, type] of [[NaN, "Q8_0"], [Infinity, "F32"], [1e6, "Q4_0"], [1e6, "F16"]] as const
) {
  Deno.test(`quantizeModel() refuses ${value} in a ${type} and leaves no file`, async () => {
    const path = `${folder}/fault.gguf`;
    const values = new Float32Array(64);
    values[40] = value;
    const half = type === "F32" ? Float16Array.from(values) : values;
    const data = () => [new Uint8Array(half.buffer)];
    const format = type === "F32" ? "F16" : "F32";
    await writeGguf(path, { "general.architecture": "llama" }, [
      { name: "a.weight", shape: [32, 2], type: format, data },
    ]);
    const target = `${folder}/never.gguf`;
    const attempt = () => quantizeModel({ from: path, to: target, type });
    await assertRejects(attempt, RequestError, `tensor "a.weight" has the value ${value}`);
    await assertRejects(() => Deno.stat(target), Deno.errors.NotFound);
  });
}

Deno.test("quantizeModel() ends with the signal's reason and leaves no file", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const target = `${folder}/aborted.gguf`;
  const onProgress = () => controller.abort(reason);
  const attempt = () =>
    quantizeModel({ from, to: target, type: "Q4_K_M", onProgress, signal: controller.signal });
  assertEquals(await assertRejects(attempt), reason);
  await assertRejects(() => Deno.stat(target), Deno.errors.NotFound);
});
