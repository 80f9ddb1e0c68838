// Weights that are no numbers: whichever matrix has one, and whether activations are floats or int8, the
// request ends with an error that says so, and the model goes on.

import { readGguf } from "../../../engine/gguf/mod.ts";
import { loadModel, NotFiniteError } from "../../../engine/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad } from "../harness.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

const prompt = "hello there";

/** Vectors are looked at as they are loaded. */
const MATRICES = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
  .map((name) => `blk.0.${name}.weight`);

/** Writes a model whose tensor begins with NaN; of Q8_0, in the scale of its first block. */
async function writeBroken(path: string, type: string, name: string): Promise<void> {
  await writeTinyLlama(path, { type, layers: 1 });
  const { offset, typeName } = (await readGguf(path)).tensors.get(name)!;
  const bytes = await Deno.readFile(path);
  const view = new DataView(bytes.buffer);
  if (typeName === "F32") view.setFloat32(offset, NaN, true);
  else view.setFloat16(offset, NaN, true);
  await Deno.writeFile(path, bytes);
}

const OUTPUT = "output.weight";

for (
  const [type, names] of [["F32", ["blk.0.attn_k.weight", OUTPUT]], ["Q8_0", [
    ...MATRICES,
    OUTPUT,
  ]]] as const
) {
  Deno.test(`a NaN in a matrix of a ${type} ends the request with an error that says so`, async () => {
    const path = `${folder}/broken-${type}.gguf`;
    for (const name of names) {
      await writeBroken(path, type, name);
      await using model = await loadModel(path, tinyLoad);
      const ask = () => readAnswer(model.generate({ prompt, temperature: 0, maxTokens: 4 }));
      await assertRejects(ask, NotFiniteError, "logits are not finite");
    }
  });
}

Deno.test("a NaN that one prompt meets ends its request in every way of choosing, and no other", async () => {
  const path = `${folder}/broken-token.gguf`;
  // The embedding of token 0 alone, which the output does not share.
  await writeBroken(path, "F32", "token_embd.weight");
  await using model = await loadModel(path, tinyLoad);
  const sound = { prompt, temperature: 0, maxTokens: 12, ignoreEnd: true };
  const expected = (await readAnswer(model.generate(sound))).tokens;
  const ways = [
    { temperature: 0 },
    { temperature: 1, topK: 40, topP: 0.9, minP: 0.1 },
    { temperature: 0.5, repeatPenalty: 1.3 },
    { format: "json" as const },
    { logprobs: 2 },
  ];
  const others = [1, 2].map(() => readAnswer(model.generate(sound)));
  for (const way of ways) {
    const broken = { ...way, prompt: [70, 0, 71] };
    await assertRejects(() => readAnswer(model.generate(broken)), NotFiniteError);
  }
  for (const { tokens } of await Promise.all(others)) assertEquals(tokens, expected);
  // What the broken ones left in the KV cache is nobody's.
  assertEquals((await readAnswer(model.generate(sound))).tokens, expected);
  await assertRejects(() => model.embed([[70, 0, 71]]), NotFiniteError, "hidden states of text 0");
  assertEquals((await model.embed([prompt])).length, 1);
  await assertRejects(() => model.logits([70, 0, 71]), NotFiniteError, "logits are not finite");
  assert((await model.logits([70, 71])).every(Number.isFinite));
});
