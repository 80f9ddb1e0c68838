// The official clients send pictures to a model that really sees, with random weights: whatever it
// says of them, its answers are what was asked for, and every token of its prompts is counted.

import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Ajv } from "ajv";
import { Ollama } from "ollama";
import { OpenAI } from "openai";
import { readAnswer } from "../../../engine/harness.ts";
import { handlerWay } from "../../tiny_app.ts";
import {
  countEncoded,
  createVisionApp,
  loadVisionModel,
  picture,
  PICTURE_MARKERS,
  PICTURE_ROWS,
  PICTURE_TILES,
  TEXT_MODEL,
  VISION_MODEL as model,
} from "./vision_app.ts";

const world = await createVisionApp("vision-clients");
const { url, fetch } = handlerWay(world);
const ollama = new Ollama({ host: url, fetch });
const anthropic = new Anthropic({ apiKey: "any", baseURL: url, maxRetries: 0, fetch });
const openai = new OpenAI({ apiKey: "any", baseURL: `${url}/v1`, maxRetries: 0, fetch });

const options = { temperature: 0, num_predict: 60 };
const animal = {
  type: "object",
  properties: { name: { enum: ["cat", "dog"] }, legs: { type: "integer", minimum: 0, maximum: 8 } },
  required: ["name", "legs"],
  additionalProperties: false,
};
const isAnimal = new Ajv().compile(animal);

function assertAnimal(text: string): void {
  assert(isAnimal(JSON.parse(text)), text);
}

/** A picture as a block of Anthropic's. */
function imageBlock(seed: number): Anthropic.ImageBlockParam {
  const data = picture(seed).toBase64();
  return { type: "image", source: { type: "base64", media_type: "image/png", data } };
}

/** A picture as a part of OpenAI's. */
function imagePart(seed: number): OpenAI.ChatCompletionContentPartImage {
  const image = picture(seed).toBase64();
  return { type: "image_url", image_url: { url: `data:image/png;base64,${image}` } };
}

type Counted = Omit<Anthropic.MessageCountTokensParams, "model">;

/** Tokens that are read around the rows of a picture. */
const MARKERS = PICTURE_MARKERS.match(/<[^>]+>|\n/g)!.length;

/**
 * Tokens of a prompt with what is read around pictures, but for their rows. What a person writes is
 * never a control token, so each picture's markers are counted as one letter, and then as what they are.
 */
async function countText(body: Counted): Promise<number> {
  const pieces = JSON.stringify(body).split(JSON.stringify(PICTURE_MARKERS).slice(1, -1));
  const { input_tokens: tokens } = await anthropic.messages.countTokens({
    model: TEXT_MODEL,
    ...JSON.parse(pieces.join("x")),
  });
  return tokens + (pieces.length - 1) * (MARKERS - 1);
}

/** Tokens of a conversation's prompt, as countText() has it. */
function countTurns(...contents: string[]): Promise<number> {
  const roles = ["user", "assistant"] as const;
  return countText({
    messages: contents.map((content, i) => ({ role: roles[i % 2]!, content })),
  });
}

Deno.test("the ollama client shows one picture, streaming and not", async () => {
  const ask = (seed: number) => ({
    model,
    messages: [{ role: "user", content: "Which?", images: [picture(seed)] }],
    options,
  });
  const whole = await ollama.chat(ask(1));
  const tokens = await countTurns(`${PICTURE_MARKERS}Which?`) + PICTURE_ROWS;
  assertEquals(whole.prompt_eval_count, tokens);
  let text = "";
  for await (const { message, ...rest } of await ollama.chat({ ...ask(1), stream: true })) {
    text += message.content;
    if (rest.done) assertEquals(rest.prompt_eval_count, tokens);
  }
  assertEquals(text, whole.message.content);
  const generated = await ollama.generate({
    model,
    prompt: "Which?",
    images: [picture(1).toBase64()],
    options,
  });
  assertEquals([generated.response, generated.prompt_eval_count], [text, tokens]);
  const other = await ollama.chat(ask(2));
  assertEquals(other.prompt_eval_count, tokens);
  assertNotEquals(other.message.content, text);
});

Deno.test("the ollama client shows two pictures in one conversation, with a schema", async () => {
  const first = { role: "user", content: "Which?", images: [picture(11)] };
  const ask = (messages: object[]) =>
    ollama.chat({ model, messages: messages as [typeof first], format: animal, options });
  let answer = "";
  const shown = await countEncoded(async () => {
    answer = (await ask([first])).message.content;
  });
  assertAnimal(answer);
  const said = { role: "assistant", content: answer };
  const second = { role: "user", content: "And this?", images: [picture(12)] };
  const shownNext = await countEncoded(async () => {
    const { message, prompt_eval_count: tokens } = await ask([first, said, second]);
    assertAnimal(message.content);
    const turns = [`${PICTURE_MARKERS}Which?`, answer, `${PICTURE_MARKERS}And this?`];
    assertEquals(tokens, await countTurns(...turns) + 2 * PICTURE_ROWS);
  });
  const both = { role: "user", content: "Both?", images: [picture(12), picture(11)] };
  const shownAgain = await countEncoded(async () => {
    const { message, prompt_eval_count: tokens } = await ask([both]);
    assertAnimal(message.content);
    const text = await countTurns(`${PICTURE_MARKERS}${PICTURE_MARKERS}Both?`);
    assertEquals(tokens, text + 2 * PICTURE_ROWS);
  });
  // A picture that the model has seen is not encoded again.
  assertEquals([shown, shownNext, shownAgain], [PICTURE_TILES, PICTURE_TILES, 0]);
});

const system = "Say in one word what is in the picture that you are shown.";
const weather: Anthropic.Tool = {
  name: "weather",
  description: "Tells the weather",
  input_schema: {
    type: "object",
    properties: { city: { enum: ["Rome", "Paris"] } },
    required: ["city"],
    additionalProperties: false,
  },
};

/** Tokens of a prompt, those included that were in the cache. */
function allTokens({ input_tokens: own, cache_read_input_tokens: cached }: Anthropic.Usage) {
  return own + (cached ?? 0);
}

Deno.test("Anthropic's client shows a picture: counts agree, streaming and not", async () => {
  const content = [imageBlock(1), { type: "text" as const, text: "Which?" }, imageBlock(2)];
  const counted = { model, system, messages: [{ role: "user" as const, content }] };
  const body = { ...counted, max_tokens: 20, temperature: 0 };
  const { input_tokens: tokens } = await anthropic.messages.countTokens(counted);
  const whole = await anthropic.messages.create(body);
  const shown = `${PICTURE_MARKERS}Which?${PICTURE_MARKERS}`;
  const text = await countText({ system, messages: [{ role: "user", content: shown }] });
  assertEquals([tokens, allTokens(whole.usage)], [text + 2 * PICTURE_ROWS, tokens]);
  const streamed = await anthropic.messages.stream(body).finalMessage();
  assertEquals([streamed.content, allTokens(streamed.usage)], [whole.content, tokens]);
});

Deno.test("Anthropic's client shows two pictures in one conversation, with a schema", async () => {
  const output_config = { format: { type: "json_schema" as const, schema: animal } };
  const ask = async (messages: Anthropic.MessageParam[]) => {
    const rest = { max_tokens: 60, temperature: 0, output_config };
    const { content: [block], usage } = await anthropic.messages.create(
      { model, system, messages, ...rest },
    );
    const counted = await anthropic.messages.countTokens({ model, system, messages });
    assertEquals(allTokens(usage), counted.input_tokens);
    const { text } = block as Anthropic.TextBlock;
    assertAnimal(text);
    return { text, cached: usage.cache_read_input_tokens! };
  };
  const begin = (seed: number) => ({ role: "user" as const, content: [imageBlock(seed)] });
  const { text } = await ask([begin(21)]);
  const rest: Anthropic.MessageParam[] = [
    { role: "assistant", content: text },
    { role: "user", content: [imageBlock(22), { type: "text", text: "And this?" }] },
  ];
  const again = await ask([begin(21), ...rest]);
  const other = await ask([begin(23), ...rest]);
  // The conversation goes on behind the first picture; with another one, only up to it.
  assert(other.cached > 0, "the system prompt was not in the cache");
  assert(again.cached >= other.cached + PICTURE_ROWS, `${again.cached}, ${other.cached}`);
});

Deno.test("Anthropic's client shows a picture beside tools, and in the result of one", async () => {
  const tool_choice = { type: "any", disable_parallel_tool_use: true } as const;
  const body = { model, max_tokens: 100, temperature: 1, tools: [weather], tool_choice };
  const question: Anthropic.MessageParam = { role: "user", content: [imageBlock(1)] };
  const { content, stop_reason } = await anthropic.messages.create(
    { ...body, messages: [question] },
  );
  assertEquals(stop_reason, "tool_use");
  const call = content.find((block) => block.type === "tool_use")!;
  assert(["Rome", "Paris"].includes((call.input as { city: string }).city));
  const result = (content: NonNullable<Anthropic.ToolResultBlockParam["content"]>) => ({
    role: "user" as const,
    content: [{ type: "tool_result" as const, tool_use_id: call.id, content }],
  });
  const text = { type: "text" as const, text: "It looks like this: " };
  const turn = (result: Anthropic.MessageParam, content = question.content) => [
    { role: "user" as const, content },
    { role: "assistant" as const, content: [call] },
    result,
  ];
  const messages = turn(result([text, imageBlock(2)]));
  const { usage } = await anthropic.messages.create({ ...body, messages });
  const asText = turn(result(text.text + PICTURE_MARKERS), PICTURE_MARKERS);
  const tokens = await countText({ tools: [weather], tool_choice, messages: asText });
  assertEquals(allTokens(usage), tokens + 2 * PICTURE_ROWS);
});

Deno.test("the openai client shows pictures, with a schema, streaming and not", async () => {
  const response_format = {
    type: "json_schema" as const,
    json_schema: { name: "animal", strict: true, schema: animal },
  };
  const first: OpenAI.ChatCompletionMessageParam = { role: "user", content: [imagePart(31)] };
  const ask = { model, messages: [first], response_format, temperature: 0, max_tokens: 60 };
  const { choices: [choice], usage } = await openai.chat.completions.create(ask);
  const answer = choice!.message.content!;
  assertAnimal(answer);
  assertEquals(usage!.prompt_tokens, await countTurns(PICTURE_MARKERS) + PICTURE_ROWS);
  const stream = await openai.chat.completions.create({
    ...ask,
    messages: [
      first,
      { role: "assistant", content: answer },
      { role: "user", content: [{ type: "text", text: "And this? " }, imagePart(32)] },
    ],
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let last;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    last = chunk.usage ?? last;
  }
  assertAnimal(text);
  const turns = await countTurns(PICTURE_MARKERS, answer, `And this? ${PICTURE_MARKERS}`);
  assertEquals(last!.prompt_tokens, turns + 2 * PICTURE_ROWS);
  assert(last!.prompt_tokens_details!.cached_tokens! >= PICTURE_ROWS);
});

Deno.test("the openai client shows a picture by the Responses API", async () => {
  const image_url = `data:image/png;base64,${picture(1).toBase64()}`;
  const { output_text, usage } = await openai.responses.create({
    model,
    input: [{ role: "user", content: [{ type: "input_image", image_url, detail: "auto" }] }],
    text: { format: { type: "json_schema", name: "animal", strict: true, schema: animal } },
    max_output_tokens: 60,
    temperature: 0,
  });
  assertAnimal(output_text);
  assertEquals(usage!.input_tokens, await countTurns(PICTURE_MARKERS) + PICTURE_ROWS);
});

Deno.test("embedImage() gives the rows that prompts have, of bytes and of base64", async () => {
  await using local = await loadVisionModel(world);
  const { embeddings, tokens } = await local.embedImage(picture(1));
  assertEquals([tokens, embeddings.length], [
    PICTURE_ROWS,
    PICTURE_ROWS * local.info.embeddingLength,
  ]);
  assertEquals((await local.embedImage(picture(1).toBase64())).embeddings, embeddings);
  assertNotEquals((await local.embedImage(picture(2))).embeddings, embeddings);
  const messages = [{ role: "user" as const, content: "Which?", images: [picture(1)] }];
  const { text } = await readAnswer(local.chat({ messages, temperature: 0, maxTokens: 60 }));
  assertEquals((await ollama.chat({ model, messages, options })).message.content, text);
});
