// LoRA by request: sequences with different adapters, and none, in the same steps, each as a model with
// merged weights answers; none reads another's keys and values; and steps without adapters run the
// operations of a model that has none.

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type GenerateRequest,
  loadModel,
  type LocalLoadOptions,
  type LoraChoice,
  type Model,
  RequestError,
  UnsupportedModelError,
} from "../../../engine/mod.ts";
import { MemoryStore } from "../../../engine/block_store/mod.ts";
import { OperationList } from "../../../engine/nn/operation_list.ts";
import { readAnswer } from "../harness.ts";
import { randomTokens, writeReference } from "../reference/file.ts";
import { llama } from "../reference/llama.ts";
import { VOCABULARY } from "../reference/model.ts";
import { RandomWeights } from "../reference/weights.ts";
import { ALPHA, merge, OF_LLAMA, pairsFor, writeAdapter } from "../weights/lora_case.ts";

const RANKS = [6, 4];

const base = new RandomWeights("F32");
llama.run(base, [0]);
const path = await writeReference(llama, base);
const pairs = RANKS.map((rank) => pairsFor(OF_LLAMA, rank));
const [first, second] = await Promise.all(pairs.map((pair) => writeAdapter(llama, pair)));
const adapters = [
  { path: first!, name: "formal", scale: 0 },
  { path: second!, name: "brief", scale: 0 },
];

/** What requests have, and the weights that are the same. */
const CHOICES: readonly { lora: readonly LoraChoice[]; scales: readonly [number, number] }[] = [
  { lora: [{ id: "formal" }], scales: [1, 0] },
  { lora: [], scales: [0, 0] },
  { lora: [{ id: 1, scale: -0.5 }], scales: [0, -0.5] },
  { lora: [{ id: 1, scale: 0.7 }, { id: 0, scale: 0.3 }], scales: [0.3, 0.7] },
];

function merged(scales: readonly number[]): RandomWeights {
  return pairs.reduce(
    (weights, pair, i) => merge(weights, pair, scales[i]! * ALPHA / RANKS[i]!),
    base,
  );
}

function load(options: LocalLoadOptions = {}): Promise<Model> {
  return loadModel(path, {
    contextLength: 128,
    maxSequences: 4,
    exact: true,
    adapters,
    ...options,
  });
}

interface Told {
  readonly token: number;
  /** Of all tokens, the most likely first. */
  readonly logprobs: readonly number[];
}

/** The tokens of an answer, with the log-probabilities of all that might have come. */
async function answer(
  model: Model,
  request: Partial<GenerateRequest>,
  see = () => {},
): Promise<Told[]> {
  const told: Told[] = [];
  const events = model.generate({
    prompt: randomTokens(),
    maxTokens: 8,
    temperature: 0,
    ignoreEnd: true,
    logprobs: VOCABULARY,
    ...request,
  });
  for await (const event of events) {
    if (event.type !== "text") continue;
    see();
    event.logprobs?.forEach(({ top }, i) =>
      told.push({ token: event.tokens[i]!, logprobs: top.map(({ logprob }) => logprob) })
    );
  }
  return told;
}

/** Largest difference of an answer's log-probabilities from those of merged weights. */
function differenceOf(told: readonly Told[], scales: readonly number[]): number {
  const prompt = randomTokens();
  const tokens = [...prompt, ...told.map(({ token }) => token)];
  const rows = llama.run(merged(scales), tokens);
  let most = 0;
  for (const [i, { logprobs }] of told.entries()) {
    const logits = rows[prompt.length - 1 + i]!;
    const normalizer = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
    logits.toSorted((a, b) => b - a).forEach((logit, rank) =>
      most = Math.max(most, Math.abs(logprobs[rank]! - (logit - normalizer)))
    );
  }
  return most;
}

Deno.test("sequences of one batch have different adapters, or none", async () => {
  await using model = await load();
  const counts: number[] = [];
  const count = () => counts.push(model.occupancy!.slots.used);
  const answers = await Promise.all(CHOICES.map(({ lora }) => answer(model, { lora }, count)));
  assertEquals(Math.max(...counts), CHOICES.length, "sequences at the same time");
  for (const [i, { scales }] of CHOICES.entries()) {
    assertEquals(answers[i]!.length, 8);
    const difference = differenceOf(answers[i]!, scales);
    assert(difference <= 1e-4, `${scales}: ${difference}`);
    const alone = await answer(model, CHOICES[i]!);
    assertEquals(alone.map(({ token }) => token), answers[i]!.map(({ token }) => token));
  }
  const others = differenceOf(answers[0]!, [0, 0]);
  assert(others >= 0.01, `the adapters change nothing: ${others}`);
});

Deno.test("a model's own adapters are those of requests that name none", async () => {
  await using model = await load({
    adapters: [{ path: first!, scale: 0.5 }, { path: second!, name: "brief", scale: 2 }],
  });
  const [own, none] = await Promise.all([answer(model, {}), answer(model, { lora: [] })]);
  assert(differenceOf(own, [0.5, 2]) <= 1e-4);
  assert(differenceOf(none, [0, 0]) <= 1e-4);
  const name = /[^/]+(?=\.gguf$)/.exec(first!)![0];
  assertEquals(model.info.adapters!.map(({ id, name, scale }) => ({ id, name, scale })), [
    { id: 0, name, scale: 0.5 },
    { id: 1, name: "brief", scale: 2 },
  ]);
});

Deno.test("drafts, hooks and scores see the adapters of their request", async () => {
  await using model = await load();
  const repeating = [...randomTokens(12), ...randomTokens(12), ...randomTokens(12)];
  const request = { prompt: repeating, maxTokens: 24, temperature: 0, ignoreEnd: true };
  const lora = [{ id: 0, scale: 0.8 }];
  const tokens = async (options: Partial<GenerateRequest>) =>
    (await readAnswer(model.generate({ ...request, lora, ...options }))).tokens;
  assertEquals(await tokens({ draftTokens: 4 }), await tokens({ draftTokens: 0 }));
  const { captured } = await model.run({ prompt: randomTokens(), capture: ["logits"], lora });
  const expected = llama.run(merged([0.8, 0]), randomTokens()).flat();
  const off = Math.max(...captured[0]!.values.map((value, i) => Math.abs(value - expected[i]!)));
  assert(off <= 1e-4, `${off}`);
  const [scores] = await model.score({ inputs: [{ text: randomTokens(), from: 1 }], lora });
  const rows = llama.run(merged([0.8, 0]), randomTokens());
  for (const [i, { id, logprob }] of scores!.entries()) {
    const normalizer = Math.log(rows[i]!.reduce((sum, logit) => sum + Math.exp(logit), 0));
    assert(Math.abs(logprob! - (rows[i]![id]! - normalizer)) <= 1e-4);
  }
});

Deno.test("a prompt shares blocks only with those of the same adapters and factors", async () => {
  const blockStore = { memory: new MemoryStore(2 ** 26) };
  const usageOf = async (model: Model, lora: readonly LoraChoice[] | undefined) => {
    const request = { prompt: randomTokens(70), maxTokens: 1, ...lora && { lora } };
    return (await readAnswer(model.generate(request))).done!.usage;
  };
  const some = [[], [{ id: 0 }], [{ id: 0, scale: 0.5 }], [{ id: 1 }]];
  {
    await using model = await load({ blockStore });
    const cached = async (lora?: readonly LoraChoice[]) =>
      (await usageOf(model, lora)).cachedTokens;
    for (const lora of some) {
      assertEquals(await cached(lora), 0, JSON.stringify(lora));
      assertEquals(await cached(lora), 64, JSON.stringify(lora));
    }
    assertEquals(await cached(undefined), 64, "the same as none");
    assertEquals(await cached([{ id: 1, scale: 0 }, { id: "formal", scale: 1 }]), 64);
  }
  // What left the first load's cache is found by its adapters, whatever those of requests without are.
  await using model = await load({
    blockStore,
    adapters: adapters.map((adapter) => ({ ...adapter, scale: 1 })),
  });
  assertEquals((await usageOf(model, undefined)).fromMemoryTokens, undefined, "both");
  assertEquals((await usageOf(model, [{ id: 1, scale: 0.25 }])).fromMemoryTokens, undefined);
  for (const lora of some) assertEquals((await usageOf(model, lora)).fromMemoryTokens, 64);
});

Deno.test("a preempted sequence goes on with its adapters", async () => {
  // Each of the sequences begins with two blocks, and ends with three, which are more than there are.
  await using model = await load({ cacheWindows: 1, contextLength: 160 });
  const { free, cached, used } = model.occupancy!.blocks;
  assert(free + cached + used < 3 * CHOICES.length);
  const request = { prompt: randomTokens(20), maxTokens: 70 };
  const together = await Promise.all(
    CHOICES.map(({ lora }) => answer(model, { ...request, lora })),
  );
  for (const [i, { lora }] of CHOICES.entries()) {
    const alone = await answer(model, { ...request, lora });
    assertEquals(together[i]!.map(({ token }) => token), alone.map(({ token }) => token));
  }
});

Deno.test("adapters that a model does not have, or at such factors, are refused", async () => {
  await using model = await load();
  const wrong: [readonly LoraChoice[], string][] = [
    [[{ id: 2 }], 'Cannot apply adapter 2: the model has 0 ("formal"), 1 ("brief")'],
    [[{ id: "Formal" }], 'Cannot apply adapter "Formal": the model has'],
    [[{ id: 0 }, { id: "formal" }], 'Cannot apply adapter "formal" twice'],
    [[{ id: 0, scale: 101 }], "its scale is 101, it must be from -100 to 100"],
    [[{ id: 0, scale: NaN }], "its scale is NaN"],
  ];
  for (const [lora, state] of wrong) {
    await assertRejects(() => answer(model, { lora }), RequestError, state);
  }
  await using plain = await load({ adapters: [] });
  await assertRejects(() => answer(plain, { lora: [{ id: 0 }] }), RequestError, "has none");
  const twice = [{ path: first!, name: "a" }, { path: second!, name: "a" }];
  await assertRejects(() => load({ adapters: twice }), RequestError, 'two adapters as "a"');
  const many = Array.from({ length: 33 }, (_, i) => ({ path: first!, name: `${i}` }));
  await assertRejects(
    () => load({ adapters: many }),
    UnsupportedModelError,
    "it has 33 adapters, at most 32",
  );
});

/** The operations that steps without adapters run, by name. */
async function plainOperations(options: LocalLoadOptions): Promise<string[]> {
  const { allocate } = OperationList.prototype;
  const lists: OperationList[] = [];
  OperationList.prototype.allocate = function () {
    lists.push(this);
    allocate.call(this);
  };
  try {
    await using _ = await load(options);
    return lists[0]!.operations("logits").map(({ name }) => name);
  } finally {
    OperationList.prototype.allocate = allocate;
  }
}

Deno.test("steps without adapters run the operations of a model that has none", async () => {
  for (const exact of [true, false]) {
    const plain = await plainOperations({ exact, adapters: [] });
    assertEquals(await plainOperations({ exact }), plain);
  }
});
