// Makes the GGUF file of the box from the folder that make.ts and train.py filled: the conversion and
// the quantization are those of `create`. deno run -A engine/box/export.ts FOLDER OUTPUT.gguf

import { convertSafetensors, quantizeModel } from "../create/mod.ts";

if (import.meta.main) {
  const [folder, output] = Deno.args;
  if (!folder || !output) throw new Error("Cannot export the model: name a folder and a file");
  const whole = `${folder}/model.gguf`;
  await convertSafetensors({ folder, to: whole });
  await quantizeModel({ from: whole, to: output, type: "Q8_0" });
}
