// Anthropic's own client, unmodified, against the application: with the model in the box where
// something is said, with random weights where an answer has to be what was asked for whatever it is.

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { createLog } from "../../../../../server/log.ts";
import { BOX, name, passage, sum, weather } from "../../../box_talk.ts";
import { until } from "../../../../until.ts";
import { createTinyApp } from "../../../tiny_app.ts";

const lines: string[] = [];
const log = createLog({ write: (line) => void lines.push(line) });
const { app } = await createTinyApp("anthropic", { log, maxQueue: 1 });
const client = new Anthropic({
  apiKey: "any",
  baseURL: "http://127.0.0.1",
  maxRetries: 0,
  fetch: async (input, init) => await app.fetch(new Request(input as string, init as RequestInit)),
});

type Body = Anthropic.MessageCreateParamsNonStreaming;

/** A body; its seed is of ours, and its temperature not among the newest client's types. */
function ask(extras: Partial<Body> & { temperature?: number } = {}, more: object = {}): Body {
  const options = { seed: 7, ...more };
  const messages: Body["messages"] = [{ role: "user", content: "Hi" }];
  return { model: "tools", max_tokens: 60, temperature: 1, messages, ...extras, options } as Body;
}

const forecast: Anthropic.Tool = {
  name: "weather",
  description: "Tells the weather",
  input_schema: {
    type: "object",
    properties: { city: { enum: ["Rome", "Paris"] } },
    required: ["city"],
    additionalProperties: false,
  },
};
const now: Anthropic.Tool = {
  name: "now",
  input_schema: { type: "object", properties: {}, additionalProperties: false },
};

const callable: Anthropic.Tool = {
  name: weather.name,
  description: weather.description,
  input_schema: weather.parameters,
};

/** A body for the model in the box. */
function toBox(extras: Partial<Body>): Body {
  return ask({ model: BOX, temperature: 0, max_tokens: 120, ...extras });
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => block.type === "text" ? block.text : "").join("");
}

function callsOf({ content }: Anthropic.Message): Anthropic.ToolUseBlock[] {
  return content.filter((block) => block.type === "tool_use");
}

/** The blocks of an answer, calls without their ids, which are never the same. */
function nameless({ content }: Anthropic.Message): unknown[] {
  return content.map((block) => block.type === "tool_use" ? { ...block, id: "" } : block);
}

Deno.test("the client chats: counts are exact, and count_tokens says the same before", async () => {
  const body = ask({ system: [{ type: "text", text: "Be brief." }], tools: [forecast] });
  const { max_tokens: _, ...counted } = body;
  const { input_tokens } = await client.messages.countTokens(counted);
  const { usage, content, stop_reason, role, type, model } = await client.messages.create(body);
  assertEquals([role, type, model], ["assistant", "message", "tools"]);
  assertEquals(usage.input_tokens + usage.cache_read_input_tokens!, input_tokens);
  assert(input_tokens > 100 && usage.output_tokens > 0 && usage.output_tokens <= 60);
  assert(content.length > 0);
  assertMatch(stop_reason!, /^(max_tokens|end_turn|tool_use)$/);
});

Deno.test("the client's stream comes to the same message as an answer in one piece", async () => {
  const called = { tools: [forecast], tool_choice: { type: "any" } as const, max_tokens: 90 };
  for (const extras of [{}, called]) {
    const whole = await client.messages.create(ask(extras));
    const stream = client.messages.stream(ask(extras));
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const streamed = await stream.finalMessage();
    assertEquals(nameless(streamed), nameless(whole));
    assertEquals(streamed.stop_reason, whole.stop_reason);
    assertEquals(streamed.usage.output_tokens, whole.usage.output_tokens);
    assertEquals([types[0], types.at(-2), types.at(-1)], [
      "message_start",
      "message_delta",
      "message_stop",
    ]);
  }
});

Deno.test("tool_choice is obeyed: any, a tool by name, none", async () => {
  // A call takes 80 tokens, since each byte is one.
  const limited = { tools: [forecast, now], max_tokens: 90 };
  for (const seed of [1, 2, 3]) {
    const any = await client.messages.create(
      ask({ ...limited, tool_choice: { type: "any" } }, { seed }),
    );
    assertMatch(callsOf(any)[0]!.id, /^toolu_/);
    const choice = { type: "tool", name: "weather", disable_parallel_tool_use: true } as const;
    const named = await client.messages.create(ask({ ...limited, tool_choice: choice }, { seed }));
    const [call, ...others] = callsOf(named);
    assertEquals([call!.name, others.length], ["weather", 0]);
    assertMatch((call!.input as { city: string }).city, /^(Rome|Paris)$/);
    const none = await client.messages.create(
      ask({ ...limited, tool_choice: { type: "none" } }, { seed }),
    );
    assertEquals(callsOf(none), []);
  }
});

Deno.test("a call and its result go back into the conversation, and are told", async () => {
  const able = { tools: [callable] };
  const messages: Body["messages"] = [{ role: "user", content: weather.question }];
  for (const tool_choice of [{ type: "auto" }, { type: "any" }] as const) {
    const called = await client.messages.create(toBox({ ...able, tool_choice, messages }));
    assertEquals(called.stop_reason, "tool_use");
    const [call, ...others] = callsOf(called);
    assertEquals([call!.name, call!.input, others], [weather.name, weather.arguments, []]);
    const tool_use_id = call!.id;
    const result = { type: "tool_result" as const, tool_use_id, content: weather.result };
    const answer = await client.messages.create(toBox({
      ...able,
      messages: [
        ...messages,
        { role: "assistant", content: called.content },
        { role: "user", content: [result] },
      ],
    }));
    assertMatch(textOf(answer), weather.told);
    const all = (counts: Anthropic.Usage) => counts.input_tokens + counts.cache_read_input_tokens!;
    assert(all(answer.usage) > all(called.usage) + 10);
  }
});

Deno.test("the client's tool runner goes round until there is an answer", async () => {
  const asked: unknown[] = [];
  const run = (values: unknown) => (asked.push(values), weather.result);
  const { name, description, parameters: inputSchema } = weather;
  const answer = await client.beta.messages.toolRunner({
    ...toBox({ messages: [{ role: "user", content: weather.question }] }),
    max_iterations: 3,
    tools: [betaTool({ name, description, inputSchema, run })],
  });
  assertEquals([asked, answer.stop_reason], [[weather.arguments], "end_turn"]);
  assertMatch(textOf(answer as Anthropic.Message), weather.told);
});

Deno.test("a conversation is held", async () => {
  const messages: Body["messages"] = [{ role: "user", content: name.told }];
  const { content } = await client.messages.create(toBox({ messages }));
  messages.push({ role: "assistant", content }, { role: "user", content: name.question });
  assertMatch(textOf(await client.messages.create(toBox({ messages }))), name.answer);
});

Deno.test("the structured output helper reads the facts", async () => {
  const format = jsonSchemaOutputFormat(passage.schema);
  const messages: Body["messages"] = [{ role: "user", content: passage.question }];
  const body = { ...toBox({ messages }), output_config: { format } };
  const { parsed_output } = await client.messages.parse(body);
  assertEquals(parsed_output as unknown, passage.facts);
});

Deno.test("the structured output helper reads what the schema promises, whatever the model would say", async () => {
  const format = jsonSchemaOutputFormat({
    type: "object",
    properties: { name: { type: "string", enum: ["Ada", "Bob"] }, adult: { type: "boolean" } },
    required: ["name", "adult"],
    additionalProperties: false,
  });
  for (const model of ["tools", "plain"]) {
    const { parsed_output } = await client.messages.parse({
      ...ask({ model }),
      output_config: { format },
    });
    assertMatch(parsed_output!.name, /^(Ada|Bob)$/);
    assertEquals(typeof parsed_output!.adult, "boolean");
  }
  const broken = { type: "json_schema", schema: { type: "string", pattern: "(" } } as const;
  const error = await assertRejects(
    () => client.messages.create(ask({ output_config: { format: broken } })),
    Anthropic.BadRequestError,
  );
  assertStringIncludes(error.message, "pattern");
});

Deno.test("thinking comes in a block of its own, signed, and goes back", async () => {
  const thinking = { type: "enabled", budget_tokens: 1024 } as const;
  const messages: Body["messages"] = [{ role: "user", content: sum.question }];
  const stream = client.messages.stream(toBox({ thinking, messages, max_tokens: 200 }));
  const signatures: string[] = [];
  for await (const event of stream) {
    if (event.type !== "content_block_delta") continue;
    if (event.delta.type === "signature_delta") signatures.push(event.delta.signature);
  }
  const { content } = await stream.finalMessage();
  assertEquals(content.map(({ type }) => type), ["thinking", "text"]);
  const [thought, text] = content as [Anthropic.ThinkingBlock, Anthropic.TextBlock];
  assertMatch(thought.thinking, sum.thought);
  assertMatch(text.text, sum.answer);
  assertEquals(signatures, [thought.signature]);
  messages.push(
    { role: "assistant", content: [...content, { type: "redacted_thinking", data: "x" }] },
    { role: "user", content: "Thank you!" },
  );
  const next = toBox({ messages, thinking: { type: "adaptive" }, max_tokens: 200 });
  assertEquals((await client.messages.create(next)).stop_reason, "end_turn");
  const off = toBox({ thinking: { type: "disabled" }, messages: messages.slice(0, 1) });
  assertEquals((await client.messages.create(off)).content.map(({ type }) => type), ["text"]);
});

Deno.test("a stop sequence ends the answer and is named", async () => {
  const whole = await client.messages.create(ask({ temperature: 0, model: "plain" }));
  const { text } = whole.content[0] as Anthropic.TextBlock;
  const sequence = text.slice(3, 5);
  const cut = await client.messages.create(
    ask({ temperature: 0, model: "plain", stop_sequences: ["never", sequence] }),
  );
  assertEquals([cut.stop_reason, cut.stop_sequence], ["stop_sequence", sequence]);
  assertEquals((cut.content[0] as Anthropic.TextBlock).text, text.slice(0, text.indexOf(sequence)));
});

Deno.test("what is too long for the window is refused with the numbers, and counted", async () => {
  const messages: Body["messages"] = [{ role: "user", content: "x".repeat(2000) }];
  const error = await assertRejects(
    () => client.messages.create(ask({ messages })),
    Anthropic.BadRequestError,
  );
  const [, given, most] = /prompt is too long: (\d+) tokens > (\d+) maximum/.exec(error.message)!;
  const { input_tokens } = await client.messages.countTokens({ model: "tools", messages });
  assertEquals([Number(given), Number(most)], [input_tokens, 1024]);
  assertEquals((error.error as { type: string }).type, "error");
  assertMatch(error.requestID!, /^req_/);
});

Deno.test("errors are the client's own classes", async () => {
  await assertRejects(
    () => client.messages.create(ask({ model: "nope" })),
    Anthropic.NotFoundError,
  );
  const image = { type: "url", url: "http://a.example/x.png" } as const;
  const messages: Body["messages"] = [{
    role: "user",
    content: [{ type: "image", source: image }],
  }];
  const error = await assertRejects(
    () => client.messages.create(ask({ messages })),
    Anthropic.BadRequestError,
  );
  assertStringIncludes(error.message, "invalid image source type: url");
});

Deno.test("the client lists the models", async () => {
  const ids: string[] = [];
  for await (const { id, type } of client.models.list()) {
    assertEquals(type, "model");
    ids.push(id);
  }
  assertEquals(ids.sort(), ["plain:latest", "quern:tiny", "tools:latest"]);
  assertEquals((await client.models.retrieve("tools")).type, "model");
});

Deno.test("aborting the client's stream gives the place back", async () => {
  for (let round = 0; round < 3; round++) {
    lines.length = 0;
    const stream = client.messages.stream(
      // It neither ends by itself nor, in drafts, before the abort is heard.
      ask({ max_tokens: 900, model: "plain" }, { ignore_eos: true, draft_num_predict: 0 }),
    );
    for await (const event of stream) {
      if (event.type === "content_block_delta") break;
    }
    stream.abort();
    await until(() => lines.some((line) => line.includes("canceled")));
  }
  const { usage } = await client.messages.create(ask({ max_tokens: 3 }));
  assert(usage.output_tokens <= 3);
});
