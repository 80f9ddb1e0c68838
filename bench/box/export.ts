// Makes the GGUF file of the box from the folder that make.ts and train.py filled: the conversion and
// the quantization are those of `create`. deno run -A bench/box/export.ts FOLDER OUTPUT.gguf

import { convertSafetensors, quantizeModel } from "../../engine/create/mod.ts";

/** Writes the file, and one with the weights as they were trained into the folder. */
export async function exportModel(folder: string, output: string): Promise<void> {
  const whole = `${folder}/model.gguf`;
  await convertSafetensors({ folder, to: whole });
  await quantizeModel({ from: whole, to: output, type: "Q8_0" });
}

if (import.meta.main) {
  const [folder, output] = Deno.args;
  if (!folder || !output) throw new Error("Cannot export the model: name a folder and a file");
  await exportModel(folder, output);
}
