// Traces and taps of models with recurrent states: operations of their layers are among what is watched,
// and states that were made under a tap are nobody else's to go on from.

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { loadModel, type Model, type StepTrace, type TapOutput } from "../../../engine/mod.ts";
import { randomTokens, writeReference } from "../reference/file.ts";
import { mamba2 } from "../reference/mamba2.ts";
import { qwen3Next } from "../reference/qwen3_next.ts";
import { RandomWeights } from "../reference/weights.ts";

/** A prompt that fills a block, at whose end states are copied. */
const PROMPT = randomTokens(70).map((token) => token % 64);

/** The recurrent operations of each, and a value of theirs that is rows of floats. */
const MODELS: readonly [
  reference: typeof mamba2 | typeof qwen3Next,
  operations: readonly string[],
][] = [
  [mamba2, ["convolution", "selective scan"]],
  [qwen3Next, ["convolution", "gated delta rule", "gated norm"]],
];

async function load(reference: typeof mamba2 | typeof qwen3Next): Promise<Model> {
  const weights = new RandomWeights();
  reference.run(weights, randomTokens(2)); // makes them
  const options = { contextLength: 256, maxSequences: 2, exact: true };
  const device = { kind: "cpu", threads: 1 } as const;
  return await loadModel(await writeReference(reference, weights), { ...options, device });
}

async function tokensOf(model: Model, maxTokens = 6): Promise<number[]> {
  const tokens: number[] = [];
  const request = { prompt: PROMPT, maxTokens, temperature: 0, ignoreEnd: true };
  for await (const event of model.generate(request)) {
    if (event.type === "text") tokens.push(...event.tokens);
  }
  return tokens;
}

/** The tokens of the prompt whose rows were seen; a step ends where states are copied. */
function promptOf(seen: readonly TapOutput[]): (number | undefined)[] {
  const tokens: (number | undefined)[] = [];
  for (const { token, position } of seen.flatMap(({ rows }) => rows)) {
    if (position < PROMPT.length) tokens[position] = token;
  }
  return tokens;
}

for (const [reference, names] of MODELS) {
  Deno.test(`a trace of ${reference.architecture} has its recurrent operations`, async () => {
    await using model = await load(reference);
    const expected = await tokensOf(model);
    const steps: StepTrace[] = [];
    {
      using _trace = model.trace((step) => steps.push(step));
      assertEquals(await tokensOf(model), expected);
    }
    for (const { operations } of steps) {
      for (const name of names) {
        const own = operations.filter((operation) => operation.name === name);
        assert(own.length > 0, `${name} is none of ${operations.map(({ name }) => name)}`);
        assert(own.every(({ bytesRead, flops }) => bytesRead > 0 && flops > 0), name);
      }
    }
    assert(steps[0]!.rows < PROMPT.length, "it went on from copied states");
    assertEquals(steps.slice(1).map(({ rows }) => rows), [1, 1, 1, 1, 1]);
  });

  Deno.test(`a tap of ${reference.architecture} sees all rows, and its states stay with it`, async () => {
    await using model = await load(reference);
    const seen: TapOutput[] = [];
    const noisy = async () => {
      // The stream into layer 1 comes through the states of layer 0, and goes into its own.
      using _tap = model.tap({ layer: 0, output: "residual" }, (output) => {
        seen.push(output);
        return output.values.map((value, i) => value + (i % 3 - 1));
      });
      return await tokensOf(model);
    };
    const changed = await noisy();
    assertEquals(promptOf(seen), PROMPT);
    const expected = await tokensOf(model);
    assertNotEquals(changed, expected);
    // Now states without the tap are known: with it, nothing may go on from them.
    seen.length = 0;
    assertEquals(await noisy(), changed);
    assertEquals(promptOf(seen), PROMPT);
    assertEquals(await tokensOf(model), expected);
  });
}
