// Anthropic's own client, unmodified, against the application and a real model with random weights:
// whatever it would say, its answers are what was asked for.

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
import { createLog } from "../../server/log.ts";
import { until } from "./test_app.ts";
import { createTinyApp } from "./tiny_app.ts";

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
function ask(extras: Partial<Body> & { temperature?: number } = {}, seed = 7): Body {
  const options = { seed };
  const messages: Body["messages"] = [{ role: "user", content: "Hi" }];
  return { model: "tools", max_tokens: 60, temperature: 1, messages, ...extras, options } as Body;
}

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
const now: Anthropic.Tool = {
  name: "now",
  input_schema: { type: "object", properties: {}, additionalProperties: false },
};

function callsOf({ content }: Anthropic.Message): Anthropic.ToolUseBlock[] {
  return content.filter((block) => block.type === "tool_use");
}

/** The blocks of an answer, calls without their ids, which are never the same. */
function nameless({ content }: Anthropic.Message): unknown[] {
  return content.map((block) => block.type === "tool_use" ? { ...block, id: "" } : block);
}

Deno.test("the client chats: counts are exact, and count_tokens says the same before", async () => {
  const body = ask({ system: [{ type: "text", text: "Be brief." }], tools: [weather] });
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
  for (const extras of [{}, { tools: [weather], tool_choice: { type: "any" } as const }]) {
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
  const tools = [weather, now];
  for (const seed of [1, 2, 3]) {
    const any = await client.messages.create(ask({ tools, tool_choice: { type: "any" } }, seed));
    assertEquals(any.stop_reason, "tool_use");
    assertMatch(callsOf(any)[0]!.id, /^toolu_/);
    const choice = { type: "tool", name: "weather", disable_parallel_tool_use: true } as const;
    const named = await client.messages.create(ask({ tools, tool_choice: choice }, seed));
    const [call, ...others] = callsOf(named);
    assertEquals([call!.name, others.length], ["weather", 0]);
    assertMatch((call!.input as { city: string }).city, /^(Rome|Paris)$/);
    const none = await client.messages.create(ask({ tools, tool_choice: { type: "none" } }, seed));
    assertEquals(callsOf(none), []);
  }
});

Deno.test("a call and its result go back into the conversation", async () => {
  const tool_choice = { type: "any", disable_parallel_tool_use: true } as const;
  const body = ask({ tools: [weather], tool_choice });
  const called = await client.messages.create(body);
  const [call] = callsOf(called);
  const messages: Body["messages"] = [
    ...body.messages,
    { role: "assistant", content: called.content },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: call!.id, content: "22 C" }],
    },
  ];
  const answer = await client.messages.create(ask({ tools: [weather], messages }));
  const { usage } = called;
  const all = (counts: Anthropic.Usage) => counts.input_tokens + counts.cache_read_input_tokens!;
  assert(all(answer.usage) > all(usage) + 10);
});

Deno.test("the client's tool runner goes round with the results", async () => {
  let runs = 0;
  const { name, input_schema: inputSchema } = weather;
  const run = ({ city }: { city: string }) => `${city}: ${++runs}`;
  const answer = await client.beta.messages.toolRunner({
    ...ask({ tool_choice: { type: "any", disable_parallel_tool_use: true } }),
    max_iterations: 3,
    tools: [betaTool({ name, description: "", inputSchema: inputSchema as never, run })],
  });
  // The last answer calls too, and its call is run, but not answered.
  assertEquals([runs, answer.stop_reason], [3, "tool_use"]);
});

Deno.test("the structured output helper reads what the schema promises", async () => {
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
  const schema = { const: "done" };
  const output_config = { format: { type: "json_schema", schema } } as const;
  const stream = client.messages.stream(ask({ thinking, output_config, max_tokens: 200 }));
  const signatures: string[] = [];
  for await (const event of stream) {
    if (event.type !== "content_block_delta") continue;
    if (event.delta.type === "signature_delta") signatures.push(event.delta.signature);
  }
  const { content } = await stream.finalMessage();
  assertEquals(content.map(({ type }) => type), ["thinking", "text"]);
  const [thought, text] = content as [Anthropic.ThinkingBlock, Anthropic.TextBlock];
  assert(thought.thinking.length > 3);
  assertEquals([signatures, text.text], [[thought.signature], '"done"']);
  const messages: Body["messages"] = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [...content, { type: "redacted_thinking", data: "x" }] },
    { role: "user", content: "And?" },
  ];
  await client.messages.create(ask({ messages, thinking: { type: "adaptive" }, max_tokens: 5 }));
  const off = ask({ thinking: { type: "disabled" }, output_config });
  assertEquals((await client.messages.create(off)).content.map(({ type }) => type), ["text"]);
});

Deno.test("a stop sequence ends the answer and is named", async () => {
  const whole = await client.messages.create(ask({ temperature: 0, model: "plain" }));
  const { text } = whole.content[0] as Anthropic.TextBlock;
  const sequence = text.slice(3, 5);
  const cut = await client.messages.create(
    ask({ temperature: 0, model: "plain", stop_sequences: ["never", sequence] }),
  );
  assertEquals([cut.stop_reason, cut.stop_sequence], ["end_turn", sequence]);
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
  assertEquals(ids.sort(), ["plain:latest", "tools:latest"]);
  assertEquals((await client.models.retrieve("tools")).type, "model");
});

Deno.test("aborting the client's stream gives the place back", async () => {
  for (let round = 0; round < 3; round++) {
    lines.length = 0;
    const stream = client.messages.stream(ask({ max_tokens: 900, model: "plain" }));
    for await (const event of stream) {
      if (event.type === "content_block_delta") break;
    }
    stream.abort();
    await until(() => lines.some((line) => line.includes("canceled")));
  }
  const { usage } = await client.messages.create(ask({ max_tokens: 3 }));
  assert(usage.output_tokens <= 3);
});
