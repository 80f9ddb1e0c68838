// Log-probabilities beside the tokens of an answer: what they are by the model's logits, with every way
// of choosing tokens, and that they change no answer and get lost in none.

import {
  type GenerateRequest,
  loadModel,
  RequestError,
  type TokenLogprob,
} from "../../../engine/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";

const model = await loadModel(tinyPath, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());

const { tokenizer } = model;

const VOCABULARY = 300;

const hello = tokenizer.encode("hello");

function assertClose(actual: number, expected: number, tolerance: number): void {
  assert(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);
}

/** The tokens of an answer and what was told of each, with the text that their pieces make. */
async function ask(request: Partial<GenerateRequest>) {
  const tokens: number[] = [];
  const logprobs: TokenLogprob[] = [];
  let text = "";
  for await (const event of model.generate({ prompt: hello, maxTokens: 12, ...request })) {
    if (event.type !== "text") continue;
    assertEquals(event.logprobs?.length, event.tokens.length);
    tokens.push(...event.tokens);
    logprobs.push(...event.logprobs!);
    text += event.text;
  }
  return { tokens, logprobs, text };
}

/** Logarithms of the probabilities of all tokens at each position from the last of the prompt on. */
async function reference(tokens: readonly number[]): Promise<number[][]> {
  const logits = await model.logits([...hello, ...tokens]);
  return tokens.map((_, i) => {
    const start = (hello.length - 1 + i) * VOCABULARY;
    const row = [...logits.subarray(start, start + VOCABULARY)];
    const sum = Math.log(row.reduce((total, logit) => total + Math.exp(logit), 0));
    return row.map((logit) => logit - sum);
  });
}

async function checkAgainstLogits(request: Partial<GenerateRequest>, top: number): Promise<void> {
  const { tokens, logprobs } = await ask({ ...request, logprobs: top });
  assert(tokens.length > 5, `${tokens.length} tokens`);
  const rows = await reference(tokens);
  logprobs.forEach(({ logprob, bytes, token, top: others }, i) => {
    const row = rows[i]!;
    assertClose(logprob, row[tokens[i]!]!, 1e-4);
    assertEquals(bytes, [...tokenizer.tokenBytes(tokens[i]!)]);
    assertEquals(token, new TextDecoder().decode(Uint8Array.from(bytes)));
    assertEquals(others.length, top);
    const best = row.toSorted((a, b) => b - a).slice(0, top);
    others.forEach((other, place) => assertClose(other.logprob, best[place]!, 1e-4));
    assert(others.reduce((sum, other) => sum + Math.exp(other.logprob), 0) <= 1 + 1e-9);
  });
}

const ways: [string, Partial<GenerateRequest>][] = [
  ["greedy", { temperature: 0 }],
  ["drawn", { temperature: 1.5, seed: 3, topK: 5 }],
  ["penalized", { temperature: 0, repeatPenalty: 5, presencePenalty: 2, repeatLastN: -1 }],
  ["of a format", { temperature: 1, seed: 4, format: { schema: { type: "array" } } }],
  ["of a format that forces most of it", {
    temperature: 1,
    seed: 5,
    format: { schema: { const: { name: "value" } } },
    maxTokens: 40,
  }],
];

for (const [name, request] of ways) {
  Deno.test(`logprobs of tokens that are ${name} are the model's own`, async () => {
    for (const top of [0, 20]) await checkAgainstLogits(request, top);
  });
}

Deno.test("the probabilities of all tokens sum to 1, and the greedy one leads them", async () => {
  const { logprobs } = await ask({ temperature: 0, logprobs: VOCABULARY });
  for (const { token, logprob, top } of logprobs) {
    assertClose(top.reduce((sum, other) => sum + Math.exp(other.logprob), 0), 1, 1e-9);
    assertEquals([top[0]!.token, top[0]!.logprob], [token, logprob]);
  }
});

Deno.test("logprobs change no answer, alone and beside others", async () => {
  const plain = { prompt: hello, temperature: 1, seed: 7, maxTokens: 24 };
  const format = { schema: { type: "array", items: { type: "boolean" } } };
  const [free, held] = [
    await readAnswer(model.generate(plain)),
    await readAnswer(model.generate({ ...plain, format })),
  ];
  const answers = await Promise.all([
    ask({ ...plain, logprobs: 2 }),
    readAnswer(model.generate(plain)),
    ask({ ...plain, logprobs: 0, format }),
    readAnswer(model.generate({ ...plain, format })),
  ]);
  assertEquals(answers.map(({ text }) => text), [free.text, free.text, held.text, held.text]);
  for (const i of [0, 1]) assertEquals(answers[i]!.tokens, free.tokens);
});

Deno.test("without logprobs nothing is told of tokens, and wrong counts are refused", async () => {
  for await (const event of model.generate({ prompt: hello, maxTokens: 3 })) {
    assertEquals("logprobs" in event, false);
  }
  for (const logprobs of [-1, 1.5, NaN]) {
    assertThrows(() => model.generate({ prompt: hello, logprobs }), RequestError, "logprobs");
  }
});

Deno.test("a chat gives the logprobs of its text and of its thinking", async () => {
  const path = `${folder}/thinker.gguf`;
  const template = "{{ messages[0].content }}<think>";
  await writeTinyLlama(path, { template: `${template}{# <think> </think> #}`, seed: 2 });
  await using thinker = await loadModel(path, tinyLoad);
  // Thinks, says how much it likes that, and speaks.
  const format = { pattern: "[a-c]{3} ?</think>\\n\\nt[a-d]{5}" };
  const [pieces, all]: [Record<string, string>, Record<string, TokenLogprob[]>] = [
    { text: "", thinking: "" },
    { text: [], thinking: [] },
  ];
  const messages = [{ role: "user" as const, content: "Hi" }];
  for await (const event of thinker.chat({ messages, format, logprobs: 1, seed: 1 })) {
    if (event.type !== "text" && event.type !== "thinking") continue;
    pieces[event.type] += event.text;
    all[event.type]!.push(...event.logprobs!);
  }
  const joined = (type: string) => all[type]!.map(({ token }) => token).join("");
  assert(/^t[a-d]{5}$/.test(pieces.text!), JSON.stringify(pieces));
  assertEquals(joined("text"), pieces.text);
  assertEquals(joined("thinking").trim(), pieces.thinking!.trim());
});
