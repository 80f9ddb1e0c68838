// Whole models against results computed elsewhere, from the conformance data beside the project:
// a trained model's greedy text, and logits of one Llama in every quantization.

import { loadModel, type LoadOptions } from "../../../engine/mod.ts";
import { conformanceTest, DATA, readFloats } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { readAnswer } from "../harness.ts";
import { assert, assertEquals } from "@std/assert";

/** Tokens that the greedy text has. */
const GREEDY_TOKENS = 200;

conformanceTest("stories260K says the known text, once and eight times at once", async () => {
  const expected = await Deno.readTextFile(new URL("stories260K.greedy.txt", DATA));
  await using model = await loadModel(new URL("stories260K.gguf", DATA), {
    contextLength: 256,
    maxSequences: 8,
  });
  const greedy = { prompt: "", temperature: 0, maxTokens: GREEDY_TOKENS };
  assertEquals((await readAnswer(model.generate(greedy))).text, expected);
  const streams = Array.from({ length: 8 }, () => readAnswer(model.generate(greedy)));
  for (const { text } of await Promise.all(streams)) assertEquals(text, expected);
});

async function quantizedLogits(type: string, options: LoadOptions): Promise<Float32Array> {
  const tokens = JSON.parse(
    await Deno.readTextFile(new URL("quantizations/tokens.json", DATA)),
  );
  const path = new URL(`quantizations/${type}.gguf`, DATA);
  await using model = await loadModel(path, { contextLength: 64, maxSequences: 1, ...options });
  return await model.logits(tokens);
}

function expectedLogits(type: string): Promise<Float32Array> {
  return readFloats(`quantizations/${type}.logits.f32`);
}

const TYPES = [
  ...["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K"],
  ...["Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K"],
  ...["IQ3_S", "IQ3_M", "IQ4_NL", "IQ4_XS", "Q1_0", "Q2_0", "TQ1_0", "TQ2_0", "MXFP4_MOE"],
];

/** Token by token on WebGPU, because software drivers compile that in a third of the time. */
const CHUNKS: LoadOptions = Deno.env.get("QUERN_DEVICE") === "cpu" ? {} : { prefillChunk: 1 };

for (const type of TYPES) {
  conformanceTest(`a Llama in ${type} has the known logits`, async () => {
    const expected = await expectedLogits(type);
    const exact = await quantizedLogits(type, { ...CHUNKS, exact: true });
    const fast = await quantizedLogits(type, CHUNKS);
    const [exactError, fastError] = [nmse(exact, expected), nmse(fast, expected)];
    assert(exactError <= 1e-6, `exact: NMSE ${exactError}`);
    assert(fastError <= 2e-3, `default: NMSE ${fastError}`);
  });
}

conformanceTest(
  "a prompt whole, in chunks of 7 and token by token has the same logits",
  async () => {
    const expected = await expectedLogits("Q4_0");
    for (const [exact, toExpected, toWhole] of [[true, 1e-6, 1e-8], [false, 2e-3, 1e-6]] as const) {
      const whole = await quantizedLogits("Q4_0", { exact });
      assert(nmse(whole, expected) <= toExpected);
      for (const prefillChunk of [7, 1]) {
        const parts = await quantizedLogits("Q4_0", { exact, prefillChunk });
        const error = nmse(parts, whole);
        assert(error <= toWhole, `exact ${exact}, chunks of ${prefillChunk}: NMSE ${error}`);
      }
    }
  },
);
