// Steps that somebody watches: traces of what each operation takes, and taps that read and change what
// operations write.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type DeviceOptions,
  loadModel,
  type LocalLoadOptions,
  type Model,
  RequestError,
  type StepTrace,
  TapError,
  type TapOutput,
} from "../../../engine/mod.ts";
import { webGpuTest } from "../../adapter.ts";
import { folder } from "../harness.ts";
import { writeTinyLlama } from "../../tiny_model.ts";

const [layers, width] = [2, 64];
const path = `${folder}/observed.gguf`;
await writeTinyLlama(path, { type: "Q8_0", layers, embedding: width });

/** A prompt that fills a block of the KV cache, so that the prefix cache knows it. */
const PROMPT = Array.from({ length: 40 }, (_, i) => (i * 37 + 11) % 200);

const DEVICES: Record<string, DeviceOptions> = {
  "CPU": { kind: "cpu", threads: 1 },
  "CPU, 2 threads": { kind: "cpu", threads: 2 },
  "WebGPU": { kind: "webgpu" },
  "WebGPU without timestamps": { kind: "webgpu", without: ["timestamps"] },
};

/** Registers a test per device. */
function modelTest(
  name: string,
  run: (model: Model) => Promise<void>,
  options: LocalLoadOptions = {},
): void {
  for (const [on, device] of Object.entries(DEVICES)) {
    const test = device.kind === "cpu" ? Deno.test : webGpuTest;
    test(`${name} (${on})`, async () => {
      const limits = { contextLength: 128, maxSequences: 2 };
      await using model = await loadModel(path, { ...limits, ...options, device });
      await run(model);
    });
  }
}

async function tokensOf(model: Model, prompt = PROMPT, maxTokens = 6): Promise<number[]> {
  const tokens: number[] = [];
  const request = { prompt, maxTokens, temperature: 0, ignoreEnd: true };
  for await (const event of model.generate(request)) {
    if (event.type === "text") tokens.push(...event.tokens);
  }
  return tokens;
}

modelTest("a trace has every operation of every step, and changes no token", async (model) => {
  const expected = await tokensOf(model);
  const fresh = PROMPT.map((token) => token + 1);
  const steps: StepTrace[] = [];
  {
    using _trace = model.trace((step) => steps.push(step));
    assertEquals(await tokensOf(model), expected);
    await tokensOf(model, fresh, 3);
  }
  const rows = steps.map((step) => step.rows);
  assertEquals(rows, [8, 1, 1, 1, 1, 1, 40, 1, 1]); // the first 32 were known
  for (const { outputs, seconds, operations } of steps) {
    assertEquals(outputs, 1);
    assertEquals(
      operations.map(({ name, layer }) => ({ name, layer })),
      [
        ...model.operations.map(({ name, layer }) => ({ name, layer })),
        { name: "sample", layer: undefined },
      ],
    );
    const sum = operations.reduce((sum, { seconds }) => sum + seconds, 0);
    assert(sum > 0 && sum <= seconds, `${sum} of ${seconds} s`);
    assert(operations.every(({ seconds, hostSeconds }) => hostSeconds <= seconds));
  }
  const work = (step: StepTrace, name: string, layer: number) =>
    step.operations.find((operation) => operation.name === name && operation.layer === layer)!;
  const [one, all] = [steps[1]!, steps[6]!].map((step) => work(step, "linear Q8_0", 0));
  assertEquals(all!.flops, 40 * one!.flops);
  assert(all!.bytesRead < 40 * one!.bytesRead, "weights are read once for all rows");
  const cached = steps.slice(1, 3).map((step) => work(step, "attention", 1).bytesRead);
  assert(cached[1]! > cached[0]!, "attention reads one position more");
  const before = steps.length;
  await tokensOf(model);
  assertEquals(steps.length, before);
});

modelTest("a tap receives rows with their tokens, positions and slots", async (model) => {
  const seen: TapOutput[] = [];
  const [first] = await tokensOf(model);
  using _tap = model.tap({ layer: 1, output: "residual" }, (output) => void seen.push(output));
  const tokens = await tokensOf(model, PROMPT, 2);
  // Both blocks of the layer add to the stream, in the prompt's step and in that of the first token.
  assertEquals(seen.map(({ rows }) => rows.length), [40, 40, 1, 1]);
  for (const { operation, columns, values, rows } of seen) {
    assertEquals([operation.layer, operation.output, columns], [1, "residual", width]);
    assertEquals(values.length, rows.length * width);
    assert(values.every(Number.isFinite) && values.some((value) => value !== 0));
  }
  assertEquals(seen[0]!.rows.map(({ token }) => token), PROMPT);
  assertEquals(seen[0]!.rows.map(({ position }) => position), PROMPT.map((_, i) => i));
  assertEquals(seen[2]!.rows, [{ token: first!, position: 40, slot: seen[0]!.rows[0]!.slot }]);
  assertEquals(tokens[0], first);
});

modelTest("a tap of the logits sees what the model computes", async (model) => {
  const expected = await model.logits(PROMPT);
  const seen: Float32Array[] = [];
  using _tap = model.tap({ output: "logits" }, ({ values }) => void seen.push(values));
  await tokensOf(model, PROMPT, 1);
  const last = expected.subarray(expected.length - seen[0]!.length);
  last.forEach((logit, i) => assert(Math.abs(logit - seen[0]![i]!) < 2e-3, `${i}`));
});

modelTest("what a tap gives back is read by all that follows", async (model) => {
  const expected = await tokensOf(model);
  const wanted = (expected[0]! + 1) % 200;
  {
    using _tap = model.tap({ output: "logits" }, async ({ values, rows, columns }) => {
      await Promise.resolve();
      rows.forEach((_, row) => values[row * columns + wanted] = 1e4);
      return values;
    });
    assertEquals(await tokensOf(model, PROMPT, 3), [wanted, wanted, wanted]);
  }
  {
    using _tap = model.tap(
      { layer: 0, name: "linear", output: "residual" },
      ({ values }) => values,
    );
    assertEquals(await tokensOf(model), expected, "nothing was changed");
  }
  const seen: Float32Array[] = [];
  {
    const selection = { layer: 1, output: "residual" };
    using _first = model.tap(selection, ({ values }) => values.fill(0.5));
    using _second = model.tap(selection, ({ values }) => void seen.push(values));
    await tokensOf(model, PROMPT, 2);
  }
  assert(seen.every((values) => values.every((value) => value === 0.5)));
  // Neither did the prefix cache give a tap what others computed, nor others what a tap had changed.
  assertEquals(await tokensOf(model), expected);
});

modelTest("taps, traces and masks go together", async (model) => {
  const [steps, seen]: [StepTrace[], TapOutput[]] = [[], []];
  using _trace = model.trace((step) => steps.push(step));
  using _tap = model.tap({ name: "linear Q8_0", layer: 0, output: "qkv" }, (output) => {
    seen.push(output);
  });
  const answers = await Promise.all([1, 2].map(async (seed) => {
    let text = "";
    const format = { type: "schema", schema: { enum: ["yes", "no"] } } as const;
    const prompt = PROMPT.map((token) => (token * seed) % 200);
    for await (const event of model.generate({ prompt, maxTokens: 20, format, seed })) {
      if (event.type === "text") text += event.text;
    }
    return text;
  }));
  for (const answer of answers) assert(/^"(yes|no)"$/.test(answer.trim()), answer);
  assertEquals(seen.length, steps.length);
  assert(steps.some(({ rows }) => rows > 40), "prompts share a step");
});

modelTest("a tap that fails ends its requests, and nothing else", async (model) => {
  const expected = await tokensOf(model);
  const tap = model.tap({ layer: 1, output: "residual" }, () => {
    throw new Error("no reason");
  });
  const error = await assertRejects(() => tokensOf(model), TapError, "no reason");
  assert(/tap of "linear Q8_0" of layer 1/.test((error as Error).message));
  assertEquals(await tokensOf(model), expected); // it was taken off
  tap[Symbol.dispose]();
  using _short = model.tap({ output: "logits" }, () => new Float32Array(3));
  await assertRejects(() => tokensOf(model), TapError, "3 floats in place of 1 rows");
  const trace = model.trace(() => {
    throw new Error("nor here");
  });
  await assertRejects(() => model.logits(PROMPT), TapError, "nor here");
  trace[Symbol.dispose]();
  assertEquals(await tokensOf(model), expected);
});

Deno.test("what cannot be tapped is refused with what can", async () => {
  const device: DeviceOptions = { kind: "cpu", threads: 1 };
  await using model = await loadModel(path, { contextLength: 64, maxSequences: 1, device });
  const nothing = () => {};
  assertThrows(
    () => model.tap({ name: "linear", layer: 7 }, nothing),
    RequestError,
    'Cannot tap "linear" of layer 7: the model has none; outputs are residual, normed, qkv',
  );
  const seen: string[] = [];
  using _tap = model.tap({ name: "norm", layer: 0 }, ({ operation }) => {
    seen.push(operation.output!);
  });
  await model.logits(PROMPT);
  assertEquals(seen, ["normed", "normed"]);
});

Deno.test("the operations of a step on a CPU add up to its time", async () => {
  // A step takes a fixed time beside its operations, so that only large ones add up to it.
  const large = `${folder}/observed-large.gguf`;
  await writeTinyLlama(large, { type: "Q8_0", layers, embedding: 1024, feedForward: 3072 });
  const device: DeviceOptions = { kind: "cpu", threads: 1 };
  await using model = await loadModel(large, { contextLength: 256, maxSequences: 1, device });
  const steps: Record<"prefill" | "decode", { seconds: number; outside: number }[]> = {
    prefill: [],
    decode: [],
  };
  using _trace = model.trace(({ rows, seconds, operations }) => {
    const inside = operations.reduce((sum, { seconds }) => sum + seconds, 0);
    steps[rows > 1 ? "prefill" : "decode"].push({ seconds, outside: seconds - inside });
  });
  for (let i = 0; i < 8; i++) await tokensOf(model, PROMPT.map((token) => token + i), 16);
  // Others use the machine between two operations, too: the least disturbed steps of each kind count.
  const least = (values: number[]) => Math.min(...values);
  for (const [phase, of] of Object.entries(steps)) {
    const [outside, seconds] = [
      least(of.map(({ outside }) => outside)),
      least(of.map(({ seconds }) => seconds)),
    ];
    assert(outside >= 0, `${phase}: operations take more than their step`);
    assert(outside < 0.1 * seconds, `${phase}: ${outside} of ${seconds} s, ${of.length} steps`);
  }
});
