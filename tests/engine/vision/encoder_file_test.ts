// Files that hold decoder and encoder, in the names and layouts of Ollama's converter: encoders give the
// same embeddings, decoders the same logits as the files that they are made from.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { UnsupportedModelError } from "../../../engine/errors.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { inspectModel, loadModel, loadTokenizer } from "../../../engine/mod.ts";
import { loadImageEncoder, readEncoderHeader } from "../../../engine/vision/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { conformanceTest, DATA, readFloats } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { writeModelFile } from "../../model_file.ts";
import { CONVERSIONS, writeAllInOne } from "./ollama_files.ts";
import { readVisionFixture } from "./prompt_fixtures.ts";

for (const conversion of CONVERSIONS) {
  const { fixture, architecture } = conversion;
  conformanceTest(`an encoder in one file with a ${architecture} gives the same`, async () => {
    const json = await Deno.readTextFile(new URL(`vision/${fixture}/manifest.json`, DATA));
    const { width, height, n_tokens } = JSON.parse(json).images.cat.preprocessed[0];
    using device = await openDevice();
    const path = await writeAllInOne(conversion);
    using encoder = await loadImageEncoder(await readGguf(path), device);
    const pixels = (await readFloats(`vision/${fixture}/cat.pixels.f32`)).subarray(
      0,
      3 * width * height,
    );
    const actual = await encoder.encode(pixels, { width, height });
    const expected = await readFloats(`vision/${fixture}/cat.embd.f32`);
    const error = nmse(actual, expected.subarray(0, n_tokens * encoder.columns));
    assert(error <= 1e-10, `NMSE ${error}`);
  });
}

for (const conversion of CONVERSIONS.filter(({ decoder }) => decoder)) {
  const { fixture, architecture } = conversion;
  conformanceTest(`a ${architecture} in one file with its encoder reads as it should`, async () => {
    const path = await writeAllInOne(conversion, { withDecoder: true });
    const info = await inspectModel(path);
    assertEquals([info.architecture, info.readsImages], [architecture, true]);
    const { model: text, images: { cat } } = await readVisionFixture(fixture);
    const sentence = "what is in this image? <|turn>user";
    assertEquals(
      (await loadTokenizer(path)).encode(sentence),
      (await loadTokenizer(text)).encode(sentence),
    );
    await using model = await loadModel(path, { contextLength: 512, maxSequences: 1, exact: true });
    assertEquals([model.info.readsImages, model.warnings], [true, []]);
    const error = nmse(await model.logits(cat.prompt), cat.logits);
    assert(error <= 1e-5, `NMSE ${error}`);
  });
}

Deno.test("readEncoderHeader() refuses a file without an image encoder", async () => {
  const path = await writeModelFile(
    { "general.architecture": "llama", "llama.block_count": 1 },
    [],
  );
  const gguf = await readGguf(path);
  assertThrows(() => readEncoderHeader(gguf), UnsupportedModelError, "has no image encoder");
});

Deno.test("readEncoderHeader() gives what a projector without a type is, and unswaps its blocks", async () => {
  const tensor = (name: string, ...shape: number[]) => ({
    name,
    shape,
    type: "F32",
    data: () => [new Uint8Array(4 * shape.reduce((product, size) => product * size, 1))],
  });
  const path = await writeModelFile({
    "general.architecture": "clip",
    "clip.vision.block_count": 1,
    "clip.vision.embedding_length": 4,
  }, [
    tensor("v.patch_embd.weight", 2, 2, 3, 4),
    tensor("v.blk.0.ffn_down.weight", 4, 8),
    tensor("v.blk.0.ffn_down.bias", 8),
    tensor("v.blk.0.ffn_up.weight", 8, 4),
    tensor("v.blk.0.ffn_up.bias", 4),
  ]);
  const { gguf: { tensors }, family } = readEncoderHeader(await readGguf(path));
  assertEquals(family.projector, "mlp");
  assertEquals(tensors.get("v.patch_embd.weight")!.shape, [12, 4]);
  assertEquals(tensors.get("v.blk.0.ffn_up.weight")!.shape, [4, 8]);
  assertEquals(tensors.get("v.blk.0.ffn_up.bias")!.shape, [8]);
  assertEquals(tensors.get("v.blk.0.ffn_down.weight")!.shape, [8, 4]);
});
