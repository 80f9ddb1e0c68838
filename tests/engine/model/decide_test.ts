// Decisions: the probabilities of options are those of all continuations of the prompt, added up one by
// one over small vocabularies; and what is asked wrongly is refused with its place.

import {
  ContextLengthError,
  type DecisionQuestion,
  loadModel,
  type Model,
  RequestError,
} from "../../../engine/mod.ts";
import { share } from "../../share.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

const model = await loadModel(tinyPath, { ...tinyLoad, contextLength: 256, exact: true });
globalThis.addEventListener("unload", () => void model.close());

/** Whole numbers below a bound. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2654435761 >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

const LETTERS = ["a", "b", "c"];

function word(random: (below: number) => number, most: number): string {
  return Array.from({ length: 1 + random(most) }, () => LETTERS[random(3)]).join("");
}

/** A model of some words over three letters, whose prompts are always the same. */
async function wordModel(random: (below: number) => number, seed: number): Promise<Model> {
  const words = new Set([
    "<unk>",
    "<s>",
    "</s>",
    "▁",
    ...LETTERS,
    ...LETTERS.map((one) => `▁${one}`),
  ]);
  while (words.size < 13) words.add(`${["", "▁"][random(2)]}${word(random, 3)}`);
  const tokens = [...words];
  const path = `${folder}/words-${seed}.gguf`;
  await writeTinyLlama(path, {
    seed,
    vocabulary: tokens.length,
    template: "{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }}" +
      "{% else %}ab</s>{% endif %}{% endfor %}",
    metadata: {
      "tokenizer.ggml.model": "llama",
      "tokenizer.ggml.tokens": tokens,
      "tokenizer.ggml.scores": Float32Array.from(
        tokens,
        (token) => token.length - random(100) / 99,
      ),
      "tokenizer.ggml.token_type": Int32Array.from(
        tokens,
        (_, id) => id === 0 ? 2 : id < 3 ? 3 : 1,
      ),
      "tokenizer.ggml.bos_token_id": { uint32: 1 },
      "tokenizer.ggml.eos_token_id": { uint32: 2 },
      "tokenizer.ggml.unknown_token_id": { uint32: 0 },
    },
  });
  return await loadModel(path, { ...tinyLoad, contextLength: 64, exact: true });
}

/** The probabilities of every token after a prompt and each of its continuations of `length` tokens. */
async function continuations(model: Model, prompt: number[], length: number) {
  const size = model.tokenizer.vocabularySize;
  let strings = [{ tokens: [] as number[], probability: 1 }];
  for (let step = 0; step < length; step++) {
    const rows = await model.batchLogits(strings.map(({ tokens }) => [...prompt, ...tokens]));
    strings = strings.flatMap(({ tokens, probability }, i) => {
      const weights = Array.from(rows[i].slice(-size), Math.exp);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      return weights.map((weight, token) => {
        return { tokens: [...tokens, token], probability: probability * weight / total };
      });
    });
  }
  return strings;
}

const startsWith = (tokens: number[], start: number[]) =>
  start.every((token, i) => tokens[i] === token);

const CASES = share(20, 200);

Deno.test(`the probabilities of ${CASES} random options over small vocabularies are those of brute force`, async () => {
  let nested = 0;
  for (let made = 0; made < CASES;) {
    const random = randomOf(7 + made);
    await using model = await wordModel(random, 7 + made);
    const prompt = model.tokenizer.encode("ab</s>", { bos: true });
    for (let round = 0; round < 10 && made < CASES; round++, made++) {
      const values = new Set<string>();
      while (values.size < 2 + random(4)) values.add(word(random, 3));
      const after = new Map([...values].map((value) =>
        [
          value,
          model.tokenizer.encode(`ab</s>${value}`, { bos: true }).slice(prompt.length),
        ] as const
      ));
      const expected = new Map([...values].map((value) => [value, 0]));
      const most = Math.max(...[...after.values()].map(({ length }) => length));
      for (const { tokens, probability } of await continuations(model, prompt, most)) {
        const begun = [...after].filter(([, own]) => startsWith(tokens, own));
        if (begun.length > 1) nested++;
        const longest = begun.sort((a, b) => b[1].length - a[1].length)[0]?.[0];
        if (longest) expected.set(longest, expected.get(longest)! + probability);
      }
      const mass = [...expected.values()].reduce((sum, one) => sum + one, 0);
      const choices = [...values].map((value) => ({ value }));
      const { answers: [answer] } = await model.decide({
        input: "a",
        questions: [{ type: "choice", instructions: "b", choices }],
      });
      assert(answer.type === "choice");
      assert(Math.abs(answer.mass - mass) < 1e-5, `mass ${answer.mass}, not ${mass}`);
      for (const { value, probability } of answer.probabilities) {
        const wanted = expected.get(value as string)! / mass;
        assert(Math.abs(probability - wanted) < 1e-5, `${value}: ${probability}, not ${wanted}`);
      }
      const sum = answer.probabilities.reduce((sum, { probability }) => sum + probability, 0);
      assert(Math.abs(sum - 1) < 1e-12);
      const best = Math.max(...answer.probabilities.map(({ probability }) => probability));
      assertEquals(answer.confidence, best);
    }
  }
  assert(nested > 0, "no option was the beginning of another");
});

const ASKED: DecisionQuestion[] = [
  { type: "predicate", name: "a", instructions: "It is so." },
  { type: "choice", instructions: "Which?", choices: [{ value: true }, { value: "true" }] },
  {
    type: "score",
    name: "c",
    instructions: "How much?",
    levels: [{ label: "little" }, { label: "some", description: "more" }, { label: "much" }],
  },
];

Deno.test("each question is answered as it is alone, and the input is read once", async () => {
  const input = "a text that all of them are about";
  const together = await model.decide({ input, questions: ASKED });
  assertEquals(together.answers.map(({ type, name }) => [type, name]), [
    ["predicate", "a"],
    ["choice", null],
    ["score", "c"],
  ]);
  let alone = 0;
  for (const [i, question] of ASKED.entries()) {
    const { answers: [answer], promptTokens } = await model.decide({
      input,
      questions: [question],
    });
    alone += promptTokens;
    const flat = (one: unknown) =>
      JSON.stringify(one, (_, value) => {
        return typeof value === "number" ? Number(value.toFixed(4)) : value;
      });
    assertEquals(flat(together.answers[i]), flat(answer));
  }
  assert(together.promptTokens < alone - 2 * input.length);
  const score = together.answers[2];
  assert(score.type === "score");
  assertEquals(score.probabilities.map(({ label, value }) => [label, value]), [
    ["little", 0],
    ["some", 1],
    ["much", 2],
  ]);
  const mean = score.probabilities.reduce((sum, one) => sum + one.value * one.probability, 0);
  assert(Math.abs(score.score - mean) < 1e-12);
});

Deno.test("a conversation is an input, and two turns of a user in a row become one", async () => {
  const question = ASKED[0];
  const messages = ["one", "two"].map((content) => ({ role: "user" as const, content }));
  const [joined, text] = await Promise.all(
    [messages, "one\n\ntwo"].map((input) => model.decide({ input, questions: [question] })),
  );
  assertEquals(joined.answers, text.answers);
});

Deno.test("what cannot be decided is refused with its place", async () => {
  const refused = async (questions: DecisionQuestion[], text: string) => {
    const decided = () => model.decide({ input: "x", questions });
    const error = await assertRejects(decided, RequestError);
    assert(error.message.includes(text), error.message);
  };
  const choose = (...values: (string | boolean)[]): DecisionQuestion => {
    return { type: "choice", instructions: "?", choices: values.map((value) => ({ value })) };
  };
  await refused([], "questions is empty");
  await refused([{ type: "predicate", instructions: " " }], "questions[0].instructions is empty");
  await refused([ASKED[0], choose("a")], "questions[1].choices needs at least two");
  await refused([choose("a", "b", "a")], "questions[0].choices[2] is the same as choices[0]");
  await refused([choose("a", "")], "questions[0].choices[1] is empty");
  const narrow = () =>
    model.decide({ input: "x", questions: [choose("a", "b")], contextLength: 10 });
  await assertRejects(narrow, ContextLengthError);
  const image = { role: "user" as const, content: "x", images: [new Uint8Array(1)] };
  const decided = () => model.decide({ input: [image], questions: [ASKED[0]] });
  await assertRejects(decided, RequestError, "images");
});
