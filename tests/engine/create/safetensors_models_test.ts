// Models that are converted answer as they did: small GGUF files of each architecture are turned into
// folders of Hugging Face's layout, and those converted back.

import { assert, assertEquals } from "@std/assert";
import { convertSafetensors } from "../../../engine/create/safetensors/mod.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { loadModel } from "../../../engine/mod.ts";
import { randomTokens } from "../reference/file.ts";
import {
  type NamedTensor,
  safetensorsBytes,
  transformersTensors,
  writeFolder,
} from "./hugging_face_folder.ts";
import { configOf, SMALL_MODELS, type SmallModel, writeSmallModel } from "./small_models.ts";
import { tokenizerFiles } from "./tokenizer_files.ts";

const index = (names: readonly string[][]) => ({
  weight_map: Object.fromEntries(
    names.flatMap((own, file) => own.map((name) => [name, `part-${file}.safetensors`])),
  ),
});

/** A folder of the model, its tensors over two files. */
async function writeModelFolder(model: SmallModel, tensors: readonly NamedTensor[]) {
  const half = tensors.length >> 1;
  const parts = [tensors.slice(0, half), tensors.slice(half)];
  return await writeFolder({
    "config.json": configOf(model),
    "model.safetensors.index.json": index(parts.map((part) => part.map(({ name }) => name))),
    "part-0.safetensors": safetensorsBytes(parts[0]),
    "part-1.safetensors": safetensorsBytes(parts[1]),
    ...tokenizerFiles(),
  });
}

async function logitsOf(path: string): Promise<Float32Array> {
  await using model = await loadModel(path, { exact: true, contextLength: 64, maxSequences: 1 });
  return await model.logits(randomTokens());
}

for (const model of SMALL_MODELS) {
  Deno.test(`convertSafetensors() keeps the logits of a ${model.transformersName}`, async () => {
    const original = await writeSmallModel(model);
    const tensors = await transformersTensors(original, model.undoing);
    const folder = await writeModelFolder(model, tensors);
    const to = `${folder}/converted.gguf`;
    const progress: [done: number, total: number][] = [];
    await convertSafetensors({ folder, to, onProgress: (...step) => progress.push(step) });

    const bytes = tensors.reduce((sum, { values }) => sum + values.byteLength, 0);
    assertEquals(progress.at(-1), [bytes, bytes]);
    assert(progress.every(([done], i) => i === 0 || done > progress[i - 1][0]));
    const [before, after] = [await readGguf(original), await readGguf(to)];
    for (const [key, value] of Object.entries(before.metadata)) {
      assertEquals(after.metadata[key], value, key);
    }
    assertEquals([...after.tensors.keys()].sort(), [...before.tensors.keys()].sort());
    assertEquals(await logitsOf(to), await logitsOf(original));
  });
}
