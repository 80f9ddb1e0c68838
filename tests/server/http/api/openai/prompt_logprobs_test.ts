// POST /v1/completions with log-probabilities of prompts, as evaluation harnesses ask for them, and the best
// of several answers, by the model in the box: against a softmax of its logits.

import { assert, assertEquals } from "@std/assert";
import { BOX_MODEL } from "../../../../../engine/box/mod.ts";
import { loadModel } from "../../../../../engine/mod.ts";
import { tinyLoad } from "../../../../engine/harness.ts";
import { createBoxApp } from "../../../tiny_app.ts";
import { readEvents } from "./openai_scripts.ts";

const { app } = await createBoxApp();
const model = await loadModel(BOX_MODEL.path, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());
const { tokenizer } = model;
const text = "Quern runs models. Müller asks:";
const ids = tokenizer.encode(text);

const post = (body: object) =>
  app.request("/v1/completions", {
    method: "POST",
    body: JSON.stringify({ model: "quern:tiny", ...body }),
  });
const complete = async (body: object) => await (await post(body)).json();

/** The log-probabilities of all tokens after each token. */
async function logprobsAfter(tokens: readonly number[]): Promise<number[][]> {
  const logits = await model.logits([...tokens]);
  const size = tokenizer.vocabularySize;
  return tokens.map((_, position) => {
    const row = logits.subarray(position * size, (position + 1) * size);
    const greatest = row.reduce((a, b) => Math.max(a, b));
    const sum = row.reduce((sum, logit) => sum + Math.exp(logit - greatest), 0);
    return Array.from(row, (logit) => logit - greatest - Math.log(sum));
  });
}

function assertNear(actual: readonly (number | null)[], expected: readonly (number | null)[]) {
  assertEquals(actual.length, expected.length);
  for (const [index, value] of actual.entries()) {
    const other = expected[index]!;
    assert(
      value === other || Math.abs(value! - other!) < 2e-4,
      `${index}: ${value} is not ${other}`,
    );
  }
}

Deno.test("echo with logprobs tells those of the prompt, without an answer and before one", async () => {
  const rows = await logprobsAfter(ids);
  const expected = ids.slice(1).map((id, index) => rows[index]![id]!);
  for (const max_tokens of [0, 1]) {
    for (const prompt of [ids, [ids]]) {
      const { choices: [choice], usage } = await complete({
        ...{ prompt, max_tokens, echo: true, logprobs: 2, temperature: 0 },
      });
      const { tokens, token_logprobs: all, top_logprobs: top, text_offset } = choice.logprobs;
      assertEquals(choice.text.startsWith(text), true);
      const shown = tokens.slice(0, ids.length).map((one: string) =>
        one.startsWith("bytes:") ? "\uFFFD" : one
      );
      assertEquals(shown, ids.map((id) => tokenizer.decode([id])));
      assertEquals(all[0], null);
      assertEquals(top[0], null);
      assertNear(all.slice(1, ids.length), expected);
      assertEquals(usage.completion_tokens, max_tokens);
      assertEquals(all.length, ids.length + max_tokens);
      assertEquals(text_offset[1], [...tokenizer.decode([ids[0]!])].length);
      for (const [index, told] of top.slice(1, ids.length).entries()) {
        const best = Math.max(...rows[index]!);
        assert(Object.values<number>(told).some((value) => Math.abs(value - best) < 2e-4));
      }
      const whole = choice.text.slice(text.length);
      assertEquals(tokens.slice(ids.length).join(""), whole);
    }
  }
});

Deno.test("an answer that ends at once has a log-probability too: that of its end", async () => {
  const [end] = tokenizer.endOfGeneration;
  const { choices: [choice] } = await complete({
    ...{ prompt: ids, max_tokens: 1, echo: true, logprobs: 1, temperature: 0 },
    logit_bias: { [end!]: 1000 },
  });
  assertEquals([choice.text, choice.finish_reason], [text, "stop"]);
  assertEquals(choice.logprobs.tokens.length, ids.length + 1);
  const rows = await logprobsAfter(ids);
  // It is the model's own, without the bias.
  assertNear(choice.logprobs.token_logprobs.slice(-1), [rows.at(-1)![end!]!]);
});

Deno.test("the text of a prompt is echoed as it was sent, with its tokens and in streams", async () => {
  const body = { prompt: text, max_tokens: 3, echo: true, logprobs: 1, temperature: 0 };
  const { choices: [choice] } = await complete(body);
  const events = await readEvents(await post({ ...body, stream: true }));
  const told = events.slice(0, -1).flatMap(({ data }) => data.choices);
  assertEquals(told.map((one: { text: string }) => one.text).join(""), choice.text);
  const all = told.flatMap((one: { logprobs?: { tokens: string[] } }) =>
    one.logprobs?.tokens ?? []
  );
  assertEquals(all, choice.logprobs.tokens);
  assertEquals(choice.text.slice(0, text.length), text);
  const { tokens, text_offset: offsets } = choice.logprobs;
  for (const [index, offset] of offsets.entries()) {
    if (!tokens[index].startsWith("bytes:")) {
      assert(
        [...choice.text].slice(offset).join("").startsWith(tokens[index].trimStart()) ||
          [...choice.text].slice(offset).join("").startsWith(tokens[index]),
      );
    }
  }
  const { choices: [plain] } = await complete({ ...body, prompt: ids, logprobs: undefined });
  assertEquals([plain.text, plain.logprobs], [choice.text, null]);
});

Deno.test("prompt_logprobs tells every token of the prompt by its id, with its rank", async () => {
  const rows = await logprobsAfter(ids);
  const { choices } = await complete({
    ...{ prompt: [ids, ids.slice(0, 3)], max_tokens: 1, prompt_logprobs: 3, temperature: 0 },
  });
  assertEquals(choices.length, 2);
  assertEquals(choices[1].prompt_logprobs.length, 3);
  const [{ prompt_logprobs: told, logprobs, text: answer }] = choices;
  assertEquals([told[0], logprobs, answer.startsWith(text)], [null, null, false]);
  for (const [index, id] of ids.slice(1).entries()) {
    const own = told[index + 1][id];
    const row = rows[index]!;
    assertNear([own.logprob], [row[id]!]);
    assertEquals(own.decoded_token, tokenizer.decode([id]));
    assertEquals(own.rank, 1 + row.filter((value) => value > row[id]!).length);
    assertEquals(Object.keys(told[index + 1]).length, own.rank > 3 ? 4 : 3);
  }
});

Deno.test("best_of gives the answers whose tokens are the likeliest on average", async () => {
  const ask = { prompt: [text, "Once"], max_tokens: 6, temperature: 1.5, seed: 5 };
  const all = await complete({ ...ask, n: 5, logprobs: 0 });
  const best = await complete({ ...ask, n: 2, best_of: 5 });
  const mean = ({ logprobs: { token_logprobs: values } }: {
    logprobs: { token_logprobs: number[] };
  }) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const expected = [all.choices.slice(0, 5), all.choices.slice(5)].flatMap((some) =>
    some.sort((a: never, b: never) => mean(b) - mean(a)).slice(0, 2)
  );
  assertEquals(
    best.choices.map(({ text, index }: { text: string; index: number }) => [index, text]),
    expected.map(({ text }: { text: string }, index: number) => [index, text]),
  );
  assertEquals(
    best.choices.map(({ logprobs }: { logprobs: unknown }) => logprobs),
    Array(4).fill(null),
  );
  assertEquals(best.usage.completion_tokens, all.usage.completion_tokens);
});
