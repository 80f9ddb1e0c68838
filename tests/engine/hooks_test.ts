// Hooks: the values of points are those of plain references, changes reach what follows and nobody
// else, and what does not fit a model is refused.

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type CapturedPoint,
  type DeviceOptions,
  type GenerateRequest,
  type HookOptions,
  loadModel,
  type Model,
  RequestError,
} from "../../engine/mod.ts";
import { CpuDevice } from "../../kernels/cpu/device.ts";
import { webGpuTest } from "../adapter.ts";
import { nmse } from "../numbers.ts";
import { writeTinyLlama } from "../tiny_model.ts";
import { folder } from "./harness.ts";
import { randomTokens, writeReference } from "./reference/file.ts";
import { gemma3 } from "./reference/gemma.ts";
import { gptOss } from "./reference/gpt_oss.ts";
import { llama } from "./reference/llama.ts";
import { miMo2 } from "./reference/mimo2.ts";
import { record } from "./reference/recording.ts";
import { qwen3 } from "./reference/qwen3.ts";
import { qwen3Next } from "./reference/qwen3_next.ts";
import { RandomWeights } from "./reference/weights.ts";

const DEVICES: Record<string, DeviceOptions> = {
  CPU: { kind: "cpu", threads: 2 },
  WebGPU: { kind: "webgpu" },
};

/** Registers a test per device. */
function deviceTest(name: string, run: (device: DeviceOptions) => Promise<void>): void {
  for (const [on, device] of Object.entries(DEVICES)) {
    const test = device.kind === "cpu" ? Deno.test : webGpuTest;
    test(`${name} (${on})`, () => run(device));
  }
}

const ALL = [
  ...["residual.pre", "residual.post", "attention.queries", "attention.keys"],
  ...["attention.values", "attention.pattern", "attention.z", "residual.mid", "attention.out"],
];

for (const reference of [llama, qwen3, gemma3, gptOss, miMo2, qwen3Next]) {
  const { architecture } = reference;
  Deno.test(`the points of ${architecture} have the values of its reference`, async () => {
    const weights = new RandomWeights();
    const tokens = randomTokens();
    let expected = new Float32Array();
    const { rows } = record(() => {
      expected = Float32Array.from(reference.run(weights, tokens).flat());
    });
    const path = await writeReference(reference, weights);
    const limits = { contextLength: 64, maxSequences: 2, prefillChunk: 16 };
    const device = DEVICES["CPU"]!;
    await using model = await loadModel(path, { ...limits, exact: true, device });
    const { captured, tokens: ran } = await model.run({
      prompt: tokens,
      capture: [...ALL, "logits"],
    });
    assertEquals(ran, tokens);
    let compared = 0;
    for (const { point, values } of captured) {
      const other = rows.get(point);
      if (point === "logits") assert(nmse(values, expected) <= 1e-9, point);
      if (!other) continue;
      const error = nmse(values, Float32Array.from(other.flat()));
      assert(error <= 1e-9, `${point}: ${error}`);
      compared++;
    }
    assert(compared >= 20, `${compared} points were compared`);
    addsUp(captured);
  });
}

/** What heads give is the weighted sum of their values, and blocks add to the stream. */
function addsUp(captured: readonly CapturedPoint[], most = 1e-9): void {
  const of = new Map(captured.map((one) => [one.point, one]));
  for (const { point, values } of captured) {
    const layer = /\[\d+\]$/.exec(point)?.[0];
    if (!point.startsWith("attention.out")) continue;
    const [pre, mid] = [of.get(`residual.pre${layer}`)!, of.get(`residual.mid${layer}`)!];
    const sum = pre.values.map((value, i) => value + values[i]!);
    assert(nmse(sum, mid.values) <= most, `${point} is what was added`);
  }
}

const path = `${folder}/hooked.gguf`;
await writeTinyLlama(path, { type: "Q8_0", layers: 3 });
const PROMPT = Array.from({ length: 40 }, (_, i) => (i * 37 + 11) % 200);
const [WIDTH, HEADS, HEAD] = [64, 4, 16];

/** Registers a test of the tiny model, whose activations are int8 groups, per device. */
function modelTest(name: string, run: (model: Model) => Promise<void>): void {
  deviceTest(name, async (device) => {
    const limits = { contextLength: 128, maxSequences: 4, prefillChunk: 48 };
    await using model = await loadModel(path, { ...limits, device });
    await run(model);
  });
}

async function runOf(model: Model, options: HookOptions = {}, prompt = PROMPT) {
  const { captured } = await model.run({ prompt, ...options });
  return Object.fromEntries(captured.map((one) => [one.point, one]));
}

modelTest("heads add up their values, where activations are int8 too", async (model) => {
  const all = await runOf(model, { capture: [...ALL, "mlp.hidden", "mlp.out"] });
  addsUp(Object.values(all));
  for (const layer of [0, 1, 2]) {
    const pattern = all[`attention.pattern[${layer}]`]!;
    const values = all[`attention.values[${layer}]`]!;
    const z = all[`attention.z[${layer}]`]!;
    assertEquals(pattern.shape, [HEADS, 40, 40]);
    assertEquals(values.shape, [40, 2, HEAD]);
    assertEquals(z.shape, [40, HEADS, HEAD]);
    assertEquals(all[`mlp.hidden[${layer}]`]!.shape, [40, 160]);
    const sums = new Float32Array(z.values.length);
    for (let head = 0; head < HEADS; head++) {
      for (let t = 0; t < 40; t++) {
        const weights = pattern.values.subarray((head * 40 + t) * 40, (head * 40 + t + 1) * 40);
        assert(Math.abs(weights.reduce((a, b) => a + b) - 1) < 1e-5);
        assert(
          weights.subarray(t + 1).every((weight) => weight === 0),
          "later tokens are not seen",
        );
        weights.forEach((weight, p) => {
          for (let d = 0; d < HEAD; d++) {
            const value = values.values[(p * 2 + Math.floor(head / 2)) * HEAD + d]!;
            sums[(t * HEADS + head) * HEAD + d]! += weight * value;
          }
        });
      }
    }
    const error = nmse(sums, z.values); // The cache is f16.
    assert(error <= 1e-5, `layer ${layer}: ${error}`);
  }
});

modelTest("a run that is patched with its own values stays as it is", async (model) => {
  const points = [
    "embedding",
    "residual.mid[1]",
    "attention.z[1]",
    "mlp.hidden[2]",
    "residual.post[0]",
  ];
  const before = await runOf(model, { capture: [...points, "logits"] });
  for (const point of points) {
    const { positions, values } = before[point]!;
    const changes = [{ point, positions, replace: values }];
    const after = await runOf(model, { capture: ["logits"], changes });
    assertEquals(after["logits"]!.values, before["logits"]!.values, point);
  }
  const changes = [{ point: "residual.post[1]", positions: [3], scale: -1 }];
  const after = await runOf(model, { capture: ["logits", "residual.pre[2]"], changes });
  const logitsAt = (all: typeof before, t: number) =>
    all["logits"]!.values.subarray(t * 300, (t + 1) * 300);
  const isSame = (t: number) =>
    logitsAt(before, t).every((value, i) => value === logitsAt(after, t)[i]);
  assertEquals([0, 1, 2, 3].map(isSame), [true, true, true, false]);
  assert(PROMPT.some((_, t) => t > 3 && !isSame(t)), "later positions see the change");
});

modelTest("what is captured is what was asked for", async (model) => {
  const capture = ["residual.post[-1]", "attention.pattern[0]", "logits"];
  const all = await runOf(model, { capture, positions: [-1, 0] });
  assertEquals(Object.keys(all), ["residual.post[2]", "attention.pattern[0]", "logits"]);
  assertEquals(all["residual.post[2]"]!.positions, [0, 39]);
  assertEquals(all["residual.post[2]"]!.shape, [2, WIDTH]);
  assertEquals(all["attention.pattern[0]"]!.shape, [HEADS, 2, 40]);
  assertEquals(all["logits"]!.shape, [2, 300]);
  const last = await runOf(model, { capture: ["logits"], positions: "last" });
  assertEquals(last["logits"]!.values, all["logits"]!.values.subarray(300));
  const selected = await runOf(model, { capture: ["mlp.out[0:2]", "residual.mid[0,2]"] });
  assertEquals(
    Object.keys(selected),
    ["mlp.out[0]", "mlp.out[1]", "residual.mid[0]", "residual.mid[2]"],
  );
});

modelTest("a change of a head, by a function too, reaches only what follows", async (model) => {
  const ablate: HookOptions = {
    capture: ["attention.z[1]", "residual.post[0]", "residual.post[1]"],
    changes: [{ point: "attention.z[1]", heads: [2], scale: 0 }],
  };
  const plain = await runOf(model, { capture: ablate.capture! });
  const ablated = await runOf(model, ablate);
  assertEquals(ablated["residual.post[0]"]!.values, plain["residual.post[0]"]!.values);
  const headOf = (i: number) => Math.floor(i / HEAD) % HEADS;
  plain["attention.z[1]"]!.values.forEach((value, i) => {
    const kept = ablated["attention.z[1]"]!.values[i]!;
    assertEquals(kept + 0, headOf(i) === 2 ? 0 : value);
  });
  assert(nmse(ablated["residual.post[1]"]!.values, plain["residual.post[1]"]!.values) > 1e-4);
  const places: number[] = [];
  const byFunction = await runOf(model, {
    capture: ablate.capture!,
    changes: [{
      point: "attention.z[1]",
      apply(values, { position, point, layer, shape }) {
        assertEquals([point, layer, shape], ["attention.z[1]", 1, [HEADS, HEAD]]);
        places.push(position);
        values.fill(0, 2 * HEAD, 3 * HEAD);
      },
    }],
  });
  assertEquals(places, PROMPT.map((_, i) => i));
  for (const [point, { values }] of Object.entries(byFunction)) {
    assertEquals(values.map((value) => value + 0), ablated[point]!.values.map((v) => v + 0), point);
  }
});

modelTest(
  "requests of one batch are steered, ablated and left alone as each would be",
  async (model) => {
    const vector = Float32Array.from({ length: WIDTH }, (_, i) => Math.sin(i));
    const wishes: (HookOptions | undefined)[] = [
      { changes: [{ point: "residual.post[0:2]", add: vector }], capture: ["residual.post[2]"] },
      { changes: [{ point: "attention.z[*]", heads: [0, 3], scale: 0 }] },
      undefined,
    ];
    const answer = async (hooks: HookOptions | undefined, index: number) => {
      const tokens: number[] = [];
      const prompt = PROMPT.map((token) => (token + index) % 200);
      const request = {
        prompt,
        maxTokens: 12,
        temperature: 0,
        ignoreEnd: true,
        ...(hooks && { hooks }),
      };
      let captured: CapturedPoint[] | undefined;
      for await (const event of model.generate(request)) {
        if (event.type === "text") tokens.push(...event.tokens);
        if (event.type === "done") captured = event.captured;
      }
      return { tokens, captured };
    };
    const alone = [];
    for (const [i, hooks] of wishes.entries()) alone.push(await answer(hooks, i));
    const plain = await Promise.all(wishes.map((_, i) => answer(undefined, i)));
    const together = await Promise.all(wishes.map(answer));
    assertEquals(together.map(({ tokens }) => tokens), alone.map(({ tokens }) => tokens));
    assert(plain[0]!.tokens.join() !== alone[0]!.tokens.join(), "steering changes the answer");
    assert(plain[1]!.tokens.join() !== alone[1]!.tokens.join(), "so does ablation");
    assertEquals(plain[2]!.tokens, alone[2]!.tokens);
    const [kept] = together[0]!.captured!;
    assertEquals(kept!.positions, Array.from({ length: 51 }, (_, i) => i)); // The last token is not fed.
    assertEquals(together[2]!.captured, undefined);
  },
);

modelTest(
  "a hooked request runs whole, and others share their blocks beside it as ever",
  async (model) => {
    const cachedOf = async (hooks?: HookOptions, meanwhile = () => Promise.resolve()) => {
      const request = { prompt: PROMPT, maxTokens: 8, temperature: 0, ignoreEnd: true };
      let usage: { cachedTokens: number; text: string } | undefined;
      let text = "";
      for await (const event of model.generate({ ...request, ...(hooks && { hooks }) })) {
        if (event.type === "text") text += event.tokens;
        if (event.type === "text") await meanwhile();
        if (event.type === "done") usage = { cachedTokens: event.usage.cachedTokens, text };
      }
      return usage!;
    };
    const changes = [{ point: "residual.post[1]", scale: 1.5 }];
    const changed = await cachedOf({ changes });
    const first = await cachedOf();
    assertEquals([changed.cachedTokens, first.cachedTokens], [0, 0], "nobody gets its blocks");
    assertEquals((await cachedOf({ changes })).cachedTokens, 0, "it gets nobody's");
    const beside: { cachedTokens: number; text: string }[] = [];
    const again = await cachedOf({ changes }, async () => {
      if (beside.length === 0) beside.push(await cachedOf());
    });
    assertEquals(again, changed);
    assert(beside[0]!.cachedTokens > 0, "others share while it runs");
    assertEquals(beside[0]!.text, first.text);
  },
);

const STREAM = ["embedding", "residual.post[*]", "mlp.out[1]", "attention.z[0]", "mlp.hidden[2]"];

modelTest("what is captured of an answer is what a run over its tokens has", async (model) => {
  const capture = [...STREAM, "logits"];
  const answer = async (request: Partial<GenerateRequest>, hooks: HookOptions) => {
    const all = { prompt: PROMPT, maxTokens: 20, temperature: 0, ignoreEnd: true, ...request };
    const tokens: number[] = [];
    for await (const event of model.generate({ ...all, draftTokens: 0, hooks })) {
      if (event.type === "text") tokens.push(...event.tokens);
      if (event.type === "done") return { tokens, captured: event.captured! };
    }
    throw new Error("it never ends");
  };
  const check = async ({ tokens, captured }: Awaited<ReturnType<typeof answer>>) => {
    const all = await runOf(model, { capture }, [...PROMPT, ...tokens.slice(0, -1)]);
    for (const { point, positions, shape, values } of captured) {
      const one = all[point]!;
      // Of a prompt, only the last row has logits.
      const first = point === "logits" ? PROMPT.length - 1 : 0;
      assertEquals(positions, one.positions.slice(first), point);
      assertEquals(shape.slice(1), one.shape.slice(1), point);
      const expected = one.values.subarray(one.values.length - values.length);
      const error = nmse(values, expected);
      assert(error <= 1e-6, `${point}: ${error}`);
    }
  };
  const plain = await answer({}, { capture });
  assertEquals(plain.captured.length, 8);
  await check(plain);
  // Masks, and logits that somebody wants, take a submit for each token.
  await check(await answer({ logprobs: 2 }, { capture }));
  // Beside others: of two that look, one changes something, so that steps run in pieces.
  const changes = [{ point: "residual.post[1]", scale: 1 }];
  const both = await Promise.all([
    answer({}, { capture }),
    answer({ prompt: PROMPT.toReversed() }, { capture: ["residual.post[0]"], changes }),
  ]);
  assertEquals(both[0].tokens, plain.tokens);
  await check(both[0]);
  const two = await Promise.all([
    answer({}, { capture: ["residual.post[*]"] }),
    answer({ prompt: PROMPT.toReversed() }, { capture: ["residual.post[0]", "mlp.hidden[1]"] }),
  ]);
  await check(two[0]);
  assertEquals(two[1].captured[0], both[1].captured[0]);
});

Deno.test("those who only look at an answer cost no submits of their own", async () => {
  await using model = await loadModel(path, {
    contextLength: 128,
    maxSequences: 1,
    device: DEVICES["CPU"]!,
  });
  const submits = async (hooks?: HookOptions): Promise<number> => {
    const { submit } = CpuDevice.prototype;
    let count = 0;
    CpuDevice.prototype.submit = function (...commands) {
      count++;
      submit.call(this, ...commands);
    };
    try {
      const request = {
        prompt: [5],
        maxTokens: 33,
        temperature: 0,
        ignoreEnd: true,
        draftTokens: 0,
      };
      for await (const _ of model.generate({ ...request, ...(hooks && { hooks }) }));
      return count;
    } finally {
      CpuDevice.prototype.submit = submit;
    }
  };
  await submits();
  const plain = await submits();
  const looking = await submits({ capture: STREAM });
  const changing = await submits({ changes: [{ point: "residual.post[1]", scale: 1 }] });
  assert(looking <= plain + 2, `${looking} submits beside ${plain}`);
  assert(changing >= 33 * 3, `${changing} submits`);
});

modelTest(
  "patterns have as many keys, whatever the steps in which a prompt is read",
  async (model) => {
    const capture = ["attention.pattern[1]"];
    const prompt = Array.from({ length: 100 }, (_, i) => (i * 37 + 11) % 200);
    const all = await runOf(model, { capture }, prompt);
    const some = await runOf(model, { capture, positions: [0, 7] }, prompt);
    assertEquals(some["attention.pattern[1]"]!.shape, [HEADS, 2, 100]);
    const rowOf = (point: CapturedPoint, head: number, row: number) => {
      const [, rows, keys] = point.shape as [number, number, number];
      return point.values.subarray((head * rows + row) * keys, (head * rows + row + 1) * keys);
    };
    for (const head of Array(HEADS).keys()) {
      for (const [row, position] of [0, 7].entries()) {
        assertEquals(
          rowOf(some["attention.pattern[1]"]!, head, row),
          rowOf(all["attention.pattern[1]"]!, head, position),
        );
      }
    }
  },
);

Deno.test("hooks that do not fit the model are refused by name", async () => {
  await using model = await loadModel(path, {
    contextLength: 64,
    maxSequences: 1,
    device: DEVICES["CPU"]!,
  });
  const cases: [HookOptions, string][] = [
    [
      { capture: ["residual"] },
      'Cannot find the point "residual": points are embedding, residual.pre,',
    ],
    [{ capture: ["residual.post[3]"] }, "layers are 0 to 2"],
    [{ capture: ["residual.post[0:4000000000]"] }, "layers are 0 to 2"],
    [{ capture: ["residual.post[-4:2]"] }, "layers are 0 to 2"],
    [{ capture: ["residual.post[a]"] }, '"a" is no layer'],
    [{ capture: ["residual.post[]"] }, "it names no layer"],
    [{ capture: ["logits[1]"] }, "logits belongs to no layer"],
    [{ capture: ["mixer.out[1]"] }, "layer 1 has no mixer.out"],
    [{ capture: ["experts.scores"] }, "no layer of the model has experts.scores"],
    [
      { capture: ["logits"], positions: [-41] },
      "Cannot hook position -41: the prompt has 40 tokens",
    ],
    [{ changes: [{ point: "attention.pattern[0]", scale: 0 }] }, "it can only be looked at"],
    [{ changes: [{ point: "residual.post[0]" }] }, "none of replace, scale, add and apply"],
    [{ changes: [{ point: "residual.post[0]", add: [1] }] }, "it got 1 values in place of 64"],
    [{ changes: [{ point: "residual.post[0]", heads: [0], scale: 0 }] }, "it has no heads"],
    [
      { changes: [{ point: "attention.z[0]", heads: [4], scale: 0 }] },
      "there is no head 4, heads are 0 to 3",
    ],
    [{ changes: [{ point: "mlp.out[0]", add: Array(64).fill(NaN) }] }, "not all finite"],
  ];
  for (const [hooks, message] of cases) {
    await assertRejects(() => model.run({ prompt: PROMPT, ...hooks }), RequestError, message);
  }
  await assertRejects(() => model.run({ prompt: [] }), RequestError, "the prompt is empty");
  assertEquals((await model.run({ prompt: PROMPT })).captured, []);
});
