// Prompts that are more than a text: what was said before as tokens, a gap between two texts, and
// templates of a request.

import { ContextLengthError, inspectModel, loadModel, RequestError } from "../../../engine/mod.ts";
import { findFillInMiddleTokens } from "../../../engine/prompt/fill_in_middle.ts";
import { encodePrompt } from "../../../engine/prompt/prompt.ts";
import { BEGIN_TOKEN, GAP_TOKENS, writeTinyLlama } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";

const fillerPath = `${folder}/filler.gguf`;

await writeTinyLlama(fillerPath, {
  metadata: { ...GAP_TOKENS, "tokenizer.ggml.add_bos_token": true },
});

const model = await loadModel(tinyPath, tinyLoad);

const filler = await loadModel(fillerPath, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());
globalThis.addEventListener("unload", () => void filler.close());

const greedy = { temperature: 0, maxTokens: 8 };

const messages = [{ role: "user" as const, content: "Hi" }];

Deno.test("an answer ends with its context, from which the next one goes on", async () => {
  const first = await readAnswer(model.generate({ prompt: "one", context: [], ...greedy }));
  const { context, usage } = first.done!;
  assertEquals(context, [...model.tokenizer.encode("one"), ...first.tokens]);
  assertEquals(context!.length, usage.promptTokens + usage.completionTokens);
  const next = await readAnswer(model.generate({ prompt: "two", context: context!, ...greedy }));
  const whole = await readAnswer(
    model.generate({ prompt: [...context!, ...model.tokenizer.encode("two")], ...greedy }),
  );
  assertEquals(next.tokens, whole.tokens);
  assertEquals(whole.done!.context, undefined);
});

Deno.test("a chat goes on from a context too, before its own prompt", async () => {
  const context = model.tokenizer.encode("before ");
  const prompt = model.tokenizer.encode(await model.renderChat({ messages }));
  const chat = await readAnswer(model.chat({ messages, context, ...greedy }));
  const plain = await readAnswer(model.generate({ prompt: [...context, ...prompt], ...greedy }));
  assertEquals(chat.text, plain.text);
  assertEquals(chat.done!.context, [...context, ...prompt, ...plain.tokens]);
  assertEquals(await model.countTokens({ messages, context }), context.length + prompt.length);
});

Deno.test("tokens of a context are checked, and count in the window", () => {
  const ask = (context: number[]) => () => model.generate({ prompt: "x", context });
  assertThrows(ask([1, 300]), RequestError, "token 300");
  assertThrows(ask([0.5]), RequestError, "token 0.5");
  const error = assertThrows(ask(Array(200).fill(65)), ContextLengthError);
  assertEquals(error.promptTokens, 201);
});

Deno.test("the context of an answer without tokens is its prompt's", async () => {
  const request = { prompt: "one", context: [65], maxTokens: 0 };
  const { done } = await readAnswer(model.generate(request));
  assertEquals(done!.context, [65, ...model.tokenizer.encode("one")]);
});

Deno.test("BOS begins a prompt once: not behind a context", () => {
  const { tokenizer, contextLength } = filler;
  const encode = (context?: number[]) =>
    encodePrompt({ tokenizer, contextLength }, { prompt: "a", context });
  assertEquals(encode(), [BEGIN_TOKEN, ...tokenizer.encode("a")]);
  assertEquals(encode([7, 8]), [7, 8, ...tokenizer.encode("a")]);
});

Deno.test("a gap is told by the tokens around it, and texts in it are nothing but text", async () => {
  const { tokenizer } = filler;
  const [prompt, suffix] = ["f(<|im_end|>", ")\n"];
  const laidOut = [
    BEGIN_TOKEN,
    297,
    ...tokenizer.encode(prompt, { special: false }),
    298,
    ...tokenizer.encode(suffix),
    299,
  ];
  const filled = await readAnswer(filler.generate({ prompt, suffix, ...greedy }));
  const plain = await readAnswer(filler.generate({ prompt: laidOut, ...greedy }));
  assertEquals(filled.tokens, plain.tokens);
  assertEquals(filled.done!.usage.promptTokens, laidOut.length);
  assertThrows(() => model.generate({ prompt, suffix }), RequestError, "Cannot fill a gap");
  assertEquals((await inspectModel(fillerPath)).fillsInMiddle, true);
  assertEquals((await inspectModel(tinyPath)).fillsInMiddle, false);
});

Deno.test("findFillInMiddleTokens() goes by the header, then by pieces that are known", () => {
  const tokens = ["a", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<PRE>"];
  const pieces = { "tokenizer.ggml.tokens": tokens };
  assertEquals(findFillInMiddleTokens(pieces), { prefix: 1, suffix: 2, middle: 3 });
  const named = { ...pieces, "tokenizer.ggml.fim_pre_token_id": 4 };
  assertEquals(findFillInMiddleTokens(named)!.prefix, 4);
  assertEquals(
    findFillInMiddleTokens({ ...named, "tokenizer.ggml.prefix_token_id": 0 })!.prefix,
    4,
  );
  const none = { ...pieces, "tokenizer.ggml.fim_mid_token_id": 4294967295 };
  assertEquals(findFillInMiddleTokens(none)!.middle, 3);
  const llama = ["▁<PRE>", "▁<MID>", "▁<SUF>"];
  const codeLlama = { "tokenizer.ggml.tokens": llama };
  assertEquals(findFillInMiddleTokens(codeLlama), { prefix: 0, suffix: 2, middle: 1 });
  assertEquals(findFillInMiddleTokens({ "tokenizer.ggml.tokens": tokens.slice(0, 3) }), undefined);
  assertEquals(findFillInMiddleTokens({}), undefined);
});

Deno.test("a template of the request takes the place of the model's", async () => {
  const template = "{{ if .System }}[{{ .System }}] {{ end }}Q: {{ .Prompt }}\nA:";
  const asked = [{ role: "system" as const, content: "Be brief" }, ...messages];
  const rendered = await model.renderChat({ messages: asked, template });
  assertEquals(rendered, "[Be brief] Q: Hi\nA:");
  const chat = await readAnswer(model.chat({ messages: asked, template, ...greedy }));
  const plain = await readAnswer(model.generate({ prompt: rendered, ...greedy }));
  assertEquals([chat.text, chat.done!.usage.promptTokens], [plain.text, rendered.length]);
});

Deno.test("a template that does not parse or run is refused with its line", () => {
  for (const template of ["a\n{{ .Prompt", "a\n{{ end }}", "a\n{{ index .Prompt 99 }}"]) {
    const error = assertThrows(() => model.chat({ messages, template }), RequestError);
    assertMatch(error.message, /line 2/);
    assert(error.cause instanceof Error);
  }
});
