// The model in the box can be trained further from its file alone: what import.ts takes out of it is
// what make.ts and export.ts put into it.

import { assertEquals, assertRejects } from "@std/assert";
import { exportModel } from "../../../bench/box/export.ts";
import { BOX_MODEL } from "../../../engine/box/mod.ts";
import { make } from "../../../bench/box/make.ts";
import { importModel } from "../../../bench/box/import.ts";
import { readGguf, TensorReader } from "../../../engine/gguf/mod.ts";

/** The metadata and the tensors of a file, whatever their order. */
async function contentsOf(path: string) {
  const file = await readGguf(path);
  using reader = await TensorReader.open(file);
  const tensors = [...file.tensors.values()].map((tensor) => {
    const bytes = new Uint8Array(tensor.byteLength);
    reader.read(tensor, 0, bytes);
    return [tensor.name, { type: tensor.typeName, shape: tensor.shape, bytes }] as const;
  });
  return { metadata: file.metadata, tensors: Object.fromEntries(tensors) };
}

Deno.test("the file in the box, imported and exported again, is the same model", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await importModel(BOX_MODEL.path, folder);
    await make(folder, 10);
    await exportModel(folder, `${folder}/again.gguf`);
    assertEquals(await contentsOf(`${folder}/again.gguf`), await contentsOf(BOX_MODEL.path));

    await Deno.writeTextFile(`${folder}/checkpoint.pt`, "");
    const refused = importModel(BOX_MODEL.path, folder);
    await assertRejects(() => refused, Error, "has a training already, name a new folder");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
