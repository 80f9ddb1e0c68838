// What the largest image takes is known before a model is loaded, though room for it is made when it
// comes.

import { assert, assertEquals } from "@std/assert";
import { estimateMemory } from "../../../engine/memory/mod.ts";
import { loadModel, type LoadOptions } from "../../../engine/mod.ts";
import { conformanceTest, DATA } from "../../conformance/logits.ts";
import { pngFile } from "../vision/image_files.ts";

conformanceTest("an estimate is what a load takes once the largest image came", async () => {
  const pathOf = (file: string) => new URL(`vision/qwen25vl/${file}.gguf`, DATA).pathname;
  const [columns, rows, side] = [20, 15, 28];
  const options: LoadOptions = {
    contextLength: 512,
    maxSequences: 1,
    projector: pathOf("mmproj"),
    imageMaxTokens: columns * rows,
  };
  const { memory } = await estimateMemory(pathOf("text"), options);
  await using model = await loadModel(pathOf("text"), options);
  assert(model.memory.scratch < memory.scratch);
  const [width, height] = [columns * side, rows * side];
  const image = pngFile({ width, height, data: new Array(3 * width * height).fill(7) });
  const { tokens } = await model.embedImage(image);
  assertEquals(tokens, columns * rows);
  const { scratch, ...rest } = model.memory;
  assertEquals({ ...rest, scratch: memory.scratch }, memory);
  // Products are bound to kernels when these are first used: 16 bytes for each.
  const bound = scratch - memory.scratch;
  assert(bound >= 0 && bound < 1024, `${bound} bytes more than estimated`);
});
