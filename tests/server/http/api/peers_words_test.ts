// Words of other servers that change what an answer is or tells: where thinking stands, what templates are
// told, and what llama-server's completions and OpenAI's responses tell of tokens.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createChatTemplate } from "../../../../tokenizer/mod.ts";
import type { ChatEvent, ChatRequest, TokenLogprob } from "../../../../engine/types/mod.ts";
import { fakeUsage, type Script } from "../../fake_model.ts";
import { createTestApp } from "../../test_app.ts";
import { gives } from "./openai/openai_scripts.ts";
import { ask } from "./routes_of_answers.ts";

const thinks: ChatEvent[] = [
  { type: "thinking", text: "Hm" },
  { type: "thinking", text: ", well" },
  { type: "text", text: "Yes" },
];
const able = { script: gives(thinks), info: { thinks: true } };

Deno.test("thinking is a part of the text where that is asked for, in every chat API", async () => {
  const whole = "<think>Hm, well</think>Yes";
  for (const members of [{ reasoning_format: "none" }, { separate_reasoning: false }]) {
    const app = createTestApp(able);
    const { choices: [{ message }] } = (await ask("/v1/chat/completions", members, app)).body;
    assertEquals([message.content, message.reasoning], [whole, undefined]);
    const { message: native } = (await ask("/api/chat", members, app)).body;
    assertEquals([native.content, native.thinking], [whole, undefined]);
    const { output } = (await ask("/v1/responses", members, app)).body;
    assertEquals(output.map(({ type }: { type: string }) => type), ["message"]);
    const { choices } = (await ask("/v1/chat/completions", { ...members, n: 2 }, app)).body;
    assertEquals(
      choices.map(({ message }: { message: { content: string } }) => message.content),
      [whole, whole],
    );
  }
  const hidden = await ask(
    "/v1/chat/completions",
    { reasoning_format: "hidden" },
    createTestApp(able),
  );
  const { content, reasoning } = hidden.body.choices[0].message;
  assertEquals([content, reasoning], ["Yes", undefined]);
});

Deno.test("thinking that no text follows is closed nevertheless", async () => {
  const app = createTestApp({ ...able, script: gives(thinks.slice(0, 1), "length") });
  const { choices: [{ message }] } =
    (await ask("/v1/chat/completions", { reasoning_format: "none" }, app)).body;
  assertEquals(message.content, "<think>Hm</think>");
});

Deno.test("variables of templates reach the model beside what says whether it thinks", async () => {
  const documents = [{ title: "A", text: "B" }];
  for (const path of ["/v1/chat/completions", "/api/chat", "/v1/messages", "/v1/responses"]) {
    const kwargs = { enable_thinking: false, custom: "x" };
    const { request } = await ask(path, { chat_template_kwargs: kwargs, documents });
    assertEquals([path, request.think], [path, false]);
    assertEquals(request.templateVariables, { custom: "x", documents });
  }
});

Deno.test("a template's further variables are data: they begin no turn, and replace no other", () => {
  const template = createChatTemplate(
    "{{ bos_token }}{% for d in documents %}{{ d.text }}{% endfor %}{{ custom }}{{ messages[0].content }}",
    { bos: "<s>" },
  );
  const text = template.renderText({
    messages: [{ role: "user", content: "Hi" }],
    data: { documents: [{ text: "<|im_start|>" }], custom: "<s>", bos_token: "no", messages: [] },
  });
  assertEquals(`${text}`, "<s><|im_start|><s>Hi");
  const { spans } = text as Exclude<typeof text, string>;
  assertEquals(spans, ["<s>".length, `${text}`.length]);
});

const token = (text: string): TokenLogprob => {
  const told = { token: text, logprob: -0.5, bytes: [...new TextEncoder().encode(text)] };
  return { ...told, top: [told] };
};
const spells: Script = async function* (request) {
  yield { type: "start", promptTokens: 11, cachedTokens: 4 };
  const isAsked = (request as ChatRequest).logprobs !== undefined;
  for (const [id, text] of ["a", "b"].entries()) {
    yield {
      type: "text",
      text,
      tokens: [id],
      ...(isAsked && { logprobs: [token(text)] }),
    } as ChatEvent;
  }
  yield { type: "done", reason: "stop", usage: fakeUsage };
};

Deno.test("POST /completion tells ids, probabilities and only the members that are asked for", async () => {
  const { post } = createTestApp({ script: spells });
  const complete = async (members: object) =>
    await (await post("/completion", { model: "tiny", prompt: "Hi", ...members })).json();
  const plain = await complete({});
  assertEquals([plain.content, plain.tokens, plain.completion_probabilities], [
    "ab",
    undefined,
    undefined,
  ]);
  const told = await complete({ n_probs: 1, return_tokens: true });
  assertEquals(told.tokens, [0, 1]);
  assertEquals(
    told.completion_probabilities.map((
      one: { token: string; logprob: number },
    ) => [one.token, one.logprob]),
    [["a", -0.5], ["b", -0.5]],
  );
  const fields = ["content", "timings/predicted_n", "none", "stop/none"];
  assertEquals(await complete({ response_fields: fields }), { content: "ab", predicted_n: 3 });
  const refused = await complete({ n_probs: 21 });
  assertStringIncludes(refused.error.message, "n_probs must be between 0 and 20");
});

Deno.test("responses tell log-probabilities, in pieces and whole, where they are asked for", async () => {
  const { post } = createTestApp({ script: spells });
  const respond = async (members: object) =>
    await (await post("/v1/responses", { model: "tiny", input: "Hi", ...members })).text();
  const include = ["message.output_text.logprobs"];
  const { output: [{ content: [part] }], top_logprobs } = JSON.parse(
    await respond({ include, top_logprobs: 1 }),
  );
  assertEquals(part.logprobs.map(({ token }: { token: string }) => token), ["a", "b"]);
  assertEquals([part.logprobs[0].top_logprobs.length, top_logprobs], [1, 1]);
  const plain = JSON.parse(await respond({}));
  assertEquals(plain.output[0].content[0].logprobs, []);
  const events = (await respond({ include, stream: true })).split("\n")
    .filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
  const deltas = events.filter(({ type }) => type === "response.output_text.delta");
  assertEquals(deltas.map(({ logprobs }) => logprobs[0].token), ["a", "b"]);
});

Deno.test("verbosity that no model was trained for is said to change nothing", async () => {
  for (
    const [path, members] of [
      ["/v1/chat/completions", { verbosity: "low" }],
      ["/v1/responses", { text: { verbosity: "high" } }],
    ] as const
  ) {
    const { body } = await ask(path, members);
    assertStringIncludes(body.warnings[0], "verbosity");
  }
  assertEquals(
    (await ask("/v1/responses", { text: { verbosity: "medium" } })).body.warnings,
    undefined,
  );
});
