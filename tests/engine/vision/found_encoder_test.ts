// Models whose encoder is not named: in one file with the decoder, or in the same folder. They see as
// those that are loaded with a projector do.

import { assert, assertEquals } from "@std/assert";
import { type GgufFile, readGguf, TensorReader } from "../../../engine/gguf/mod.ts";
import {
  createEstimate,
  estimateMemory,
  inspectModel,
  loadModel,
  ModelStore,
} from "../../../engine/mod.ts";
import { conformanceTest, DATA, readFloats } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { readAnswer } from "../harness.ts";
import { type PlainMetadata, writeModelFile } from "../../model_file.ts";

/** The tensors of a file, to be written into another. */
async function tensorsOf(gguf: GgufFile) {
  using reader = await TensorReader.open(gguf);
  return [...gguf.tensors.values()].map((tensor) => {
    const bytes = new Uint8Array(tensor.byteLength);
    reader.read(tensor, 0, bytes);
    const { name, shape, typeName: type } = tensor;
    return { name, shape, type, data: () => [bytes] };
  });
}

/** Writes the two files of gemma3 as one. */
async function writeAllInOne(): Promise<string> {
  const [text, projector] = await Promise.all(
    ["text", "mmproj"].map((file) => readGguf(new URL(`vision/gemma3/${file}.gguf`, DATA))),
  );
  const own = Object.entries(projector.metadata)
    .filter(([key]) => key.startsWith("clip.vision."))
    .map(([key, value]) => [key.replace("clip", "gemma3"), value]);
  const metadata = { ...text.metadata, ...Object.fromEntries(own) };
  const tensors = [...await tensorsOf(text), ...await tensorsOf(projector)];
  return await writeModelFile(metadata as PlainMetadata, tensors);
}

conformanceTest("a model that has its encoder in its own file sees", async () => {
  const path = await writeAllInOne();
  assert((await inspectModel(path)).readsImages);
  const load = { contextLength: 512, maxSequences: 2, exact: true };
  const { memory } = await estimateMemory(path, load);
  await using model = await loadModel(path, load);
  assert(model.info.readsImages);
  assertEquals(model.memory, memory);
  const image = await Deno.readFile(new URL("../images/cat_224x224.jpg", DATA));
  const { embeddings } = await model.embedImage(image);
  const error = nmse(embeddings, await readFloats("vision/gemma3/cat.embd.f32"));
  assert(error <= 1e-3, `NMSE ${error}`);
  // A mask holds after an image as after a text.
  const messages = [{ role: "user", content: "describe the cat", images: [image] } as const];
  const format = { schema: { enum: [true] } };
  assertEquals((await readAnswer(model.chat({ messages, format }))).text, "true");
});

conformanceTest("a model in a folder with its projector sees", async () => {
  const folder = new URL("vision", DATA).pathname;
  const store = new ModelStore({ folder, inspect: inspectModel });
  const { info, source } = await store.find("gemma3/text");
  assert(info.readsImages && source.kind === "files" && source.projector);
  const { path, projector } = source;
  const estimate = await createEstimate(source);
  const load = { contextLength: 512, maxSequences: 2 };
  assertEquals(
    (await estimate(load)).memory,
    (await estimateMemory(path, { ...load, projector })).memory,
  );
  assertEquals(
    (await new ModelStore({ folder: `${folder}/gemma3`, inspect: inspectModel }).find("text")).info
      .readsImages,
    false,
  );
});
