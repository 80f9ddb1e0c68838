// Answers by Mirostat from the tiny model: without a bound they are those of the device's sampler, with the
// same seed; with one, log-probabilities, formats, biases and ends are as elsewhere.

import { loadModel, RequestError } from "../../../engine/mod.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";

const model = await loadModel(tinyPath, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());

const prompt = model.tokenizer.encode("hello");
const drawn = { prompt, temperature: 1.2, topK: 0, topP: 1, maxTokens: 40, ignoreEnd: true };
const tokensOf = async (request: object) =>
  (await readAnswer(model.generate({ ...drawn, ...request }))).tokens;

Deno.test("Mirostat without a bound draws what the device draws, by the same seed", async () => {
  const steered = [
    {},
    { repeatPenalty: 1.5, presencePenalty: 0.5, repeatLastN: 20 },
    { logitBias: [["e", 3]], badWords: ["a"], dryMultiplier: 2 },
    { format: { pattern: "[a-z]{3}(foo|bar)[aeiou]*" }, maxTokens: 14, ignoreEnd: false },
  ];
  for (const more of steered) {
    for (const seed of [1, 2, 3]) {
      const device = await tokensOf({ ...more, seed, draftTokens: 0 });
      for (const mirostat of [1, 2]) {
        const unbound = { mirostat, mirostatTau: 500, mirostatEta: 0 };
        // The filters do not choose.
        assertEquals(await tokensOf({ ...more, seed, ...unbound, topK: 1 }), device);
      }
    }
  }
});

Deno.test("Mirostat's answers differ with tau, and are the same again, alone or beside others", async () => {
  for (const mirostat of [1, 2]) {
    const low = { mirostat, mirostatTau: 1, mirostatEta: 0.5, seed: 5 };
    const alone = await tokensOf(low);
    const [again, other, told] = await Promise.all([
      tokensOf(low),
      tokensOf({ ...low, mirostatTau: 6 }),
      tokensOf({ ...low, logprobs: 2 }),
    ]);
    assertEquals([again, told], [alone, alone]);
    assert(`${other}` !== `${alone}`);
  }
});

Deno.test("an answer's surprise comes near to tau", async () => {
  for (const mirostat of [1, 2]) {
    const request = { ...drawn, temperature: 1, maxTokens: 110, logprobs: 0, seed: 3 };
    const greedy = await tokensOf({ mirostat, temperature: 0 });
    assertEquals(greedy, await tokensOf({ temperature: 0 }));
    const means = [];
    for (const mirostatTau of [1, 3]) {
      const events = model.generate({ ...request, mirostat, mirostatTau, mirostatEta: 0.5 });
      const logprobs: number[] = [];
      for await (const event of events) {
        if (event.type === "text") logprobs.push(...event.logprobs!.map(({ logprob }) => logprob));
      }
      // Log-probabilities are those before tokens were dropped, so they surprise more.
      means.push(-logprobs.reduce((sum, one) => sum + one, 0) / logprobs.length / Math.LN2);
    }
    assert(means[0]! < means[1]! - 0.5, `${means}`);
  }
});

Deno.test("Mirostat's options out of range are refused by name", () => {
  const refused = (options: object, message: string) =>
    assertThrows(() => model.generate({ ...drawn, ...options }), RequestError, message);
  refused({ mirostat: 3 }, "mirostat is 3, it must be 0, 1 or 2");
  refused({ mirostat: 1.5 }, "mirostat is 1.5, it must be 0, 1 or 2");
  refused({ mirostat: 2, mirostatTau: -1 }, "mirostatTau is -1, it must be at least 0");
  refused({ mirostat: 2, mirostatEta: NaN }, "mirostatEta is NaN, it must be a finite number");
});

Deno.test("an answer by Mirostat that runs out of tokens is led to the end of its format", async () => {
  const format = { pattern: "([a-z]{4},)*[a-z]{4}z" };
  for (const seed of [1, 2, 3, 4]) {
    const request = { ...drawn, ignoreEnd: false, mirostat: 2, format, maxTokens: 24, seed };
    const { text } = await readAnswer(model.generate(request));
    assert(/^([a-z]{4},)*[a-z]{4}z$/.test(text), text);
  }
});
