// Bodies of the Messages API as the engine gets them: conversations, tools, thinking, formats.

import { assertEquals } from "@std/assert";
import type { ChatMessage, ChatRequest } from "../../../../../engine/types/mod.ts";
import {
  translateCount,
  translateMessages,
} from "../../../../../server/http/api/anthropic/body.ts";
import type { AnthropicRequest } from "../../../../../server/http/api/anthropic/schema.ts";
import { fakeInfo } from "../../../fake_model.ts";

const info = { ...fakeInfo, callsTools: true, thinks: true };
const messages = [{ role: "user", content: "Hi" }];

function translationOf(members: object) {
  return translateMessages(
    { model: "m", max_tokens: 9, messages, ...members } as AnthropicRequest,
    info,
  );
}

function requestOf(members: object): Partial<ChatRequest> {
  return translationOf(members).request;
}

function turnsOf(members: object): ChatMessage[] {
  return translationOf(members).request.messages;
}

const text = (text: string) => ({ type: "text", text });

Deno.test("limits and sampling go to the engine, and null is not given", () => {
  const defaults = { temperature: 1, topP: 1 };
  const rest = { messages: [{ role: "user", content: "Hi" }], truncate: false, ...defaults };
  assertEquals(requestOf({}), { ...rest, maxTokens: 9 } as ChatRequest);
  const given = { temperature: 0, top_p: 0.5, top_k: 3, stop_sequences: ["a", "b"] };
  const engine = { temperature: 0, topP: 0.5, topK: 3, stop: ["a", "b"] };
  assertEquals(requestOf(given), { ...rest, ...engine, maxTokens: 9 } as ChatRequest);
  const nothing = {
    temperature: null,
    top_p: null,
    top_k: null,
    stop_sequences: [],
    system: null,
    tools: [],
    tool_choice: null,
    thinking: null,
    output_config: { format: null },
    metadata: { user_id: "u" },
    service_tier: "auto",
    context_management: { edits: [] },
  };
  assertEquals(requestOf(nothing), { ...rest, maxTokens: 9 } as ChatRequest);
});

Deno.test("a model's own temperature goes before that of this API", () => {
  const { temperature, topP } = requestOf({ options: { temperature: 0.3 } });
  assertEquals([temperature, topP], [0.3, 1]);
});

Deno.test("options and keep_alive reach what this API has no words for, and give way to its own", () => {
  const translation = translationOf({
    options: { seed: 5, num_ctx: 2048, num_predict: 3, temperature: 1 },
    keep_alive: "10m",
    temperature: 0.25,
  });
  const { seed, maxTokens, temperature } = translation.request;
  assertEquals([seed, maxTokens, temperature], [5, 9, 0.25]);
  assertEquals([translation.contextLength, translation.keepAlive], [2048, 600_000]);
});

Deno.test("count_tokens needs no limit and sets none", () => {
  const { request } = translateCount({ model: "m", messages }, info);
  assertEquals("maxTokens" in request, false);
});

Deno.test("system comes first, its blocks joined, without the line that changes every time", () => {
  const systems: [unknown, string][] = [
    ["Be brief.", "Be brief."],
    [[text("Be"), text(" brief.")], "Be brief."],
    [[text("One."), text("Two.")], "One.\nTwo."],
    [[text("x-anthropic-billing-header: cc_version=1; cch=af3;"), text("One.")], "One."],
    ["x-anthropic-billing-header: cch=1;\nOne.", "One."],
    [[{ ...text("One."), cache_control: { type: "ephemeral" } }], "One."],
  ];
  for (const [system, content] of systems) {
    assertEquals(turnsOf({ system }), [{ role: "system", content }, messages[0]!] as ChatMessage[]);
  }
  const none = [text("x-anthropic-billing-header: cc_version=1;")];
  assertEquals(turnsOf({ system: none }), messages as ChatMessage[]);
});

Deno.test("instructions among the messages stay where they are, or join system at the front", () => {
  const instruction = { role: "system", content: "Two." };
  const reply = { role: "assistant", content: "Yes" };
  assertEquals(
    turnsOf({ system: "One.", messages: [instruction, messages[0], reply, instruction] }),
    [{ role: "system", content: "One.\nTwo." }, messages[0]!, reply, instruction] as ChatMessage[],
  );
});

Deno.test("messages of one role that follow each other are one turn", () => {
  const answer = (content: string) => ({ role: "assistant", content });
  assertEquals(
    turnsOf({ messages: [...messages, ...messages, answer("A"), answer("B"), messages[0]] }),
    [{ role: "user", content: "Hi\nHi" }, answer("A\nB"), messages[0]!] as ChatMessage[],
  );
});

Deno.test("results of tools come before the text of their turn, with the names of their tools", () => {
  const turns = turnsOf({
    messages: [
      { role: "user", content: [text("Weather?")] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm", signature: "s" },
          { type: "redacted_thinking", data: "??" },
          text("I look"),
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
          { type: "tool_use", id: "toolu_call_1", name: "weather", input: { city: "Rome" } },
          { type: "tool_use", id: "toolu_b", name: "now" },
        ],
      },
      {
        role: "user",
        content: [
          text("And "),
          { type: "tool_result", tool_use_id: "toolu_call_1", content: "22 C" },
          {
            type: "tool_result",
            tool_use_id: "toolu_b",
            content: [text("no"), text("clock")],
            is_error: true,
          },
          text("now?"),
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "own", name: "now", input: {} }] },
      {
        role: "user",
        content: [{
          type: "tool_result",
          tool_use_id: "own",
          is_error: true,
          content: "Error: none",
        }],
      },
    ],
  });
  assertEquals(turns, [
    { role: "user", content: "Weather?" },
    {
      role: "assistant",
      content: "I look",
      thinking: "Hm",
      toolCalls: [
        { id: "call_1", function: { name: "weather", arguments: { city: "Rome" } } },
        { id: "b", function: { name: "now", arguments: {} } },
      ],
    },
    { role: "tool", content: "22 C", toolCallId: "call_1", toolName: "weather" },
    { role: "tool", content: "Error: no\nclock", toolCallId: "b", toolName: "now" },
    { role: "user", content: "And now?" },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "own", function: { name: "now", arguments: {} } }],
    },
    { role: "tool", content: "Error: none", toolCallId: "own", toolName: "now" },
  ]);
});

Deno.test("documents and search results that are text are read as such", () => {
  const [turn] = turnsOf({
    messages: [{
      role: "user",
      content: [
        { type: "document", source: { type: "text", media_type: "text/plain", data: "One." } },
        { type: "document", source: { type: "content", content: [text("Two.")] } },
        { type: "search_result", source: "a.example", title: "T", content: [text("Three.")] },
        { type: "document", source: { type: "content", content: "Four." } },
      ],
    }],
  });
  assertEquals(turn!.content, "One.\nTwo.\nTitle: T\nSource: a.example\nThree.\nFour.");
});

Deno.test("the model sees what is known of documents and search results, in results of tools as well", () => {
  const source = { type: "text", media_type: "text/plain", data: "It is blue." };
  const document = { type: "document", title: "Sky", context: "From 1999", source };
  const found = { type: "search_result", source: "https://a.example/b", title: "Sea" };
  const result = { type: "tool_result", tool_use_id: "toolu_1" };
  const [answer, user] = turnsOf({
    messages: [{
      role: "user",
      content: [
        { ...result, content: [{ ...found, content: [text("Wet."), text("Deep.")] }] },
        document,
      ],
    }],
  });
  assertEquals(user!.content, "Title: Sky\nContext: From 1999\nIt is blue.");
  assertEquals(answer!.content, "Title: Sea\nSource: https://a.example/b\nWet.\nDeep.");
});

Deno.test("an answer says that it has no citations where they are enabled", () => {
  const found = (citations: object) => ({
    type: "search_result",
    source: "a.example",
    title: "T",
    content: [text("x")],
    citations,
  });
  const warningsOf = (...content: object[]) =>
    translationOf({ messages: [{ role: "user", content }] }).warnings ?? [];
  const result = { type: "tool_result", tool_use_id: "toolu_1" };
  for (
    const asked of [found({ enabled: true }), { ...result, content: [found({ enabled: true })] }]
  ) {
    const [warning, ...others] = warningsOf(asked);
    assertEquals([warning?.startsWith("citations: none are made"), others], [true, []]);
  }
  assertEquals(warningsOf(found({ enabled: false }), { ...text("y"), citations: [] }), []);
});

const schema = { type: "object", properties: { city: { type: "string", minLength: 2 } } };
const tool = { name: "weather", description: "Tells", input_schema: schema };
const engineTool = {
  type: "function",
  function: { name: "weather", description: "Tells", parameters: schema },
};

Deno.test("tools keep their schemas as they are", () => {
  const extras = { type: "custom", cache_control: { type: "ephemeral" }, strict: true };
  const plain = { name: "now", input_schema: { type: "object" } };
  assertEquals(requestOf({ tools: [tool, { ...tool, ...extras }, plain] }).tools as unknown[], [
    engineTool,
    { ...engineTool, function: { ...engineTool.function, strict: true } },
    { type: "function", function: { name: "now", parameters: { type: "object" } } },
  ]);
});

Deno.test("every tool_choice has its counterpart", () => {
  const choices: [object, object][] = [
    [{ type: "auto" }, { toolChoice: "auto" }],
    [{ type: "any" }, { toolChoice: "required" }],
    [{ type: "none" }, { toolChoice: "none" }],
    [{ type: "tool", name: "weather" }, { toolChoice: { name: "weather" } }],
    [{ type: "auto", disable_parallel_tool_use: false }, { toolChoice: "auto" }],
    [
      { type: "any", disable_parallel_tool_use: true },
      { toolChoice: "required", parallelToolCalls: false },
    ],
  ];
  for (const [choice, expected] of choices) {
    const { toolChoice, parallelToolCalls } = requestOf({ tools: [tool], tool_choice: choice });
    assertEquals(
      { toolChoice, ...(parallelToolCalls !== undefined && { parallelToolCalls }) } as object,
      expected,
    );
  }
});

Deno.test("thinking is on, off, at a level, or as the model does", () => {
  const cases: [object, ChatRequest["think"]][] = [
    [{}, undefined],
    [{ thinking: { type: "adaptive" } }, undefined],
    [{ thinking: { type: "enabled", budget_tokens: 1024 } }, true],
    [{ thinking: { type: "disabled" } }, false],
    [{ thinking: { type: "disabled" }, output_config: { effort: "high" } }, false],
    [{ thinking: { type: "adaptive" }, output_config: { effort: "low" } }, "low"],
    [{ thinking: { type: "enabled" }, output_config: { effort: "medium" } }, "medium"],
    [{ output_config: { effort: "xhigh" } }, "high"],
    [{ output_config: { effort: "max" } }, "max"],
    [{ output_config: { effort: "some new one" } }, undefined],
  ];
  for (const [members, think] of cases) assertEquals(requestOf(members).think, think);
  const body = { model: "m", max_tokens: 1, messages, thinking: { type: "enabled" } as const };
  assertEquals("think" in translateMessages(body, { ...info, thinks: false }).request, false);
});

Deno.test("output_config.format is the schema of the answer", () => {
  const format = { type: "json_schema", schema };
  assertEquals(requestOf({ output_config: { format } }).format, { schema });
});
