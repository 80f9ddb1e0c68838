// Text models that read images, on two devices: logits of prompts with images are those of one device,
// whichever layers are on which. Two CPU devices stand for a GPU and the CPU.

import { assert, assertEquals } from "@std/assert";
import { loadModel } from "../../../engine/mod.ts";
import { conformanceTest, DATA } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { readAnswer } from "../harness.ts";
import { GRADIENT, pngFile } from "./image_files.ts";
import { FIXTURES, readVisionFixture } from "./prompt_fixtures.ts";

const ONE = { kind: "cpu", threads: 1 } as const;
const LOAD = { contextLength: 512, maxSequences: 2, exact: true, device: ONE, beside: ONE };

for (const name of FIXTURES) {
  conformanceTest(
    `prompts with images have the known logits in ${name} on two devices`,
    async () => {
      const { model, images } = await readVisionFixture(name);
      const [{ prompt, logits }] = Object.values(images);
      for (const gpuLayers of [0, 1, 2]) {
        await using split = await loadModel(model, { ...LOAD, gpuLayers });
        const whole = nmse(await split.logits(prompt), logits);
        assert(whole <= 1e-5, `${gpuLayers} layers on the first device: NMSE ${whole}`);
      }
    },
  );
}

conformanceTest("an image's file is read and answered on two devices as on one", async () => {
  const path = (file: string) => new URL(`vision/gemma3/${file}`, DATA).pathname;
  const image = pngFile({ data: GRADIENT });
  const ask = async (gpuLayers: number) => {
    const load = { ...LOAD, projector: path("mmproj.gguf"), gpuLayers };
    await using model = await loadModel(path("text.gguf"), load);
    const request = { prompt: "What is it?", images: [image] };
    const limits = { temperature: 0, maxTokens: 8, ignoreEnd: true };
    return (await readAnswer(model.generate({ ...request, ...limits }))).tokens;
  };
  const whole = await ask(-1);
  for (const gpuLayers of [0, 1, 2]) assertEquals(await ask(gpuLayers), whole);
});
