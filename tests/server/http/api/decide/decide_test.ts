// Decisions over HTTP: what both paths ask a model for, what they answer, and what they refuse, over a
// model without weights; and the model in the box, which decides what it was trained to say.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createTestApp } from "../../../test_app.ts";
import { createBoxApp } from "../../../tiny_app.ts";

const questions = [
  { type: "predicate", name: "late", instructions: "It is late." },
  {
    type: "choice",
    instructions: [{ type: "input_text", text: "Which?" }, { type: "input_json", data: { a: 1 } }],
    choices: [{ value: "one" }, { value: true, description: "yes" }],
  },
  { type: "score", name: "s", instructions: "How?", levels: [{ label: "bad" }, { label: "good" }] },
];

Deno.test("both paths ask the model the same, and answer in OpenAI's form and the native one", async () => {
  const test = createTestApp({});
  const body = { model: "tiny", input: "a text", questions };
  const openAi = await (await test.post("/v1/decisions", body)).json();
  assertEquals(openAi, {
    answers: [
      { type: "predicate", name: "late", probability: 2 / 3 },
      {
        type: "choice",
        name: null,
        choice: "one",
        confidence: 2 / 3,
        probabilities: [
          { value: "one", probability: 2 / 3 },
          { value: true, probability: 1 / 3 },
        ],
      },
      {
        type: "score",
        name: "s",
        score: 0.5,
        confidence: 2 / 3,
        probabilities: [
          { label: "bad", value: 0, probability: 2 / 3 },
          { label: "good", value: 1, probability: 1 / 3 },
        ],
      },
    ],
    model: "tiny",
    usage: {
      input_tokens: 12,
      input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 12,
    },
  });
  const options = { num_ctx: 256 };
  const native = await (await test.post("/api/decide", { ...body, options })).json();
  const answers = openAi.answers.map((answer: object) => ({ ...answer, mass: 0.5 }));
  const { total_duration: total, load_duration: _, ...rest } = native;
  assertEquals(rest, { model: "tiny", answers, prompt_eval_count: 12 });
  assert(total > 0);
  const asked = test.loaded.flatMap(({ decideRequests }) => decideRequests);
  const [{ signal: _one, ...first }, { signal: _other, ...second }] = asked;
  assertEquals(second, { ...first, contextLength: 256 });
  assertEquals(first.input, "a text");
  assertEquals(first.questions[1].instructions, 'Which?\n{"a":1}');
  assertMatch(test.lines.at(-1)!, /^POST \/api\/decide 200 - tiny - in 12 - /);
});

Deno.test("messages, calls and their outputs become a conversation of texts", async () => {
  const test = createTestApp({});
  const input = [
    { role: "developer", content: [{ type: "input_text", text: "Be brief." }] },
    { type: "message", role: "user", content: "What is the weather?" },
    { type: "function_call", call_id: "c", name: "weather", arguments: '{"city":"Bern"}' },
    { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "rain" }] },
    { type: "custom_tool_call", call_id: "d", name: "note", input: "take an umbrella" },
    { type: "custom_tool_call_output", call_id: "d", output: "noted" },
    { role: "assistant", content: [{ type: "output_text", text: "It rains." }], phase: null },
  ];
  const response = await test.post("/v1/decisions", { model: "tiny", input, questions });
  assertEquals(response.status, 200);
  assertEquals(test.loaded[0].decideRequests[0].input, [
    { role: "system", content: "Be brief." },
    { role: "user", content: "What is the weather?" },
    { role: "assistant", content: 'Call of weather: {"city":"Bern"}' },
    { role: "user", content: "Result: rain" },
    { role: "assistant", content: "Call of note: take an umbrella" },
    { role: "user", content: "Result: noted" },
    { role: "assistant", content: "It rains." },
  ]);
});

Deno.test("what cannot be decided is refused with the member at fault", async () => {
  const { post } = createTestApp({});
  const [predicate, choice, score] = questions;
  const refused = async (param: string, members: object, words = "") => {
    const body = { model: "tiny", input: "x", questions, ...members };
    const response = await post("/v1/decisions", body);
    const { error } = await response.json();
    assertEquals([response.status, error.param], [400, param], error.message);
    assert(error.message.startsWith(param) && error.message.includes(words), error.message);
    const native = await post("/api/decide", body);
    assertEquals([native.status, await native.json()], [400, { error: error.message }]);
  };
  await refused("input", { input: undefined }, "is missing");
  await refused("input", { input: [] }, "is missing");
  await refused("input[0].role", { input: [{ content: "x" }] }, "is missing");
  await refused("input[0].type", { input: [{ type: "reasoning" }] }, "reasoning");
  const lost = { type: "function_call_output", call_id: "a", output: "x" };
  await refused("input[0].call_id", { input: [lost] }, "no such call");
  const image = [{ type: "input_image", image_url: "data:," }];
  await refused("input[0].content[0]", { input: [{ role: "user", content: image }] }, "image");
  await refused("questions", { questions: undefined }, "at least one");
  await refused("questions", { questions: Array(401).fill(predicate) }, "400");
  const ask = (question: object) => ({ questions: [predicate, question] });
  await refused("questions[1].instructions", ask({ type: "predicate" }), "is missing");
  await refused("questions[1].choices", ask({ ...choice, choices: [{ value: "a" }] }), "two");
  await refused("questions[1].choices", ask({ ...choice, choices: undefined }), "two");
  const same = [{ value: "a" }, { value: true }, { value: "a" }];
  await refused("questions[1].choices[2]", ask({ ...choice, choices: same }), "choices[0]");
  await refused("questions[1].levels", ask({ ...choice, levels: [{ label: "a" }] }), '"score"');
  await refused("questions[1].choices", ask({ ...score, choices: same }), '"choice"');
  await refused(
    "questions[1].levels[0]",
    ask({ ...score, levels: [{ label: " " }, { label: "b" }] }),
  );
  for (const wrong of [{ ...predicate, type: "guess" }, { ...choice, choices: [{ value: 1 }] }]) {
    assertEquals(
      (await post("/v1/decisions", { model: "tiny", input: "x", ...ask(wrong) })).status,
      400,
    );
  }
  assertEquals((await post("/v1/decisions", { model: "none", input: "x", questions })).status, 404);
});

Deno.test("the model in the box decides what it was trained to say", async () => {
  const { app } = await createBoxApp();
  const choices = [17, 35, 52].map((value) => ({ value: `${value}` }));
  const body = {
    model: "quern:tiny",
    input: "What is 23 + 12?",
    questions: [{ type: "choice", instructions: "What is 23 + 12?", choices }],
  };
  const response = await app.request("/v1/decisions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { answers: [{ probabilities }] } = await response.json();
  const sum = probabilities.reduce((sum: number, one: { probability: number }) => {
    return sum + one.probability;
  }, 0);
  assert(Math.abs(sum - 1) < 1e-9);
});
