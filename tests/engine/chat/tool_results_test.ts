// Results of parallel calls in the prompt: bound to their calls by ids, and not by their arrival.

import { bindResults } from "../../../engine/chat/chat_tools.ts";
import type { ChatMessage } from "../../../engine/mod.ts";
import { CHATML, promptOf } from "./scripted_model.ts";
import { assertEquals } from "@std/assert";

const user: ChatMessage = { role: "user", content: "Where is it warmer?" };

/** A message with calls, each an id and a name. */
function calling(...calls: [id: string | undefined, name: string][]): ChatMessage {
  return {
    role: "assistant",
    content: "",
    toolCalls: calls.map(([id, name]) => ({
      ...(id !== undefined && { id }),
      function: { name, arguments: {} },
    })),
  };
}

function result(content: string, binding: Partial<ChatMessage> = {}): ChatMessage {
  return { role: "tool", content, ...binding };
}

const texts = (messages: ChatMessage[]) => bindResults(messages).map(({ content }) => content);

Deno.test("results stand in the order of the calls that they name", () => {
  const calls = calling(["a", "weather"], ["b", "weather"], ["c", "clock"]);
  const [a, b, c] = ["a", "b", "c"].map((id) => result(id, { toolCallId: id }));
  for (const order of [[a, b, c], [c, b, a], [b, a, c], [c, a, b]]) {
    assertEquals(texts([user, calls, ...order, user]).slice(2, -1), ["a", "b", "c"]);
  }
  assertEquals(texts([user, calls, c, a]).slice(2), ["a", "c"]);
  const [bound] = bindResults([calls, c]).slice(1);
  assertEquals(bound.toolName, "clock");
});

Deno.test("each round of calls has its own results", () => {
  const [a, b] = ["a", "b"].map((id) => result(id, { toolCallId: id }));
  const round = [calling(["a", "weather"], ["b", "clock"]), b, a];
  assertEquals(texts([user, ...round, ...round]), [
    user.content,
    "",
    "a",
    "b",
    "",
    "a",
    "b",
  ]);
  const parts = [calling(["a", "weather"]), calling(["b", "clock"]), b, a];
  assertEquals(texts([user, ...parts]).slice(3), ["a", "b"]);
});

Deno.test("results without ids are bound by their tools, and else by arrival", () => {
  const calls = calling([undefined, "weather"], [undefined, "clock"], ["x", "weather"]);
  const clock = result("clock", { toolName: "clock" });
  const weather = result("weather", { toolName: "weather" });
  const x = result("x", { toolCallId: "x" });
  assertEquals(texts([calls, x, clock, weather]).slice(1), ["weather", "clock", "x"]);
  assertEquals(texts([calls, result("1"), clock, x]).slice(1), ["1", "clock", "x"]);
  const stray = [result("1", { toolCallId: "unknown" }), result("2"), result("3"), result("4")];
  assertEquals(texts([calls, ...stray]).slice(1), ["1", "2", "3", "4"]);
  assertEquals(texts([user, ...stray]).slice(1), ["1", "2", "3", "4"]);
  const twice = [result("x1", { toolCallId: "x" }), result("x2", { toolCallId: "x" })];
  assertEquals(texts([calling(["x", "weather"]), ...twice]).slice(1), ["x1", "x2"]);
});

Deno.test("prompts of both kinds of templates show results in the order of the calls", () => {
  const messages = [
    user,
    calling(["a", "weather"], ["b", "weather"]),
    result("second", { toolCallId: "b" }),
    result("first", { toolCallId: "a" }),
  ];
  const go = "{{ range .Messages }}{{ .Role }}: {{ .ToolName }} {{ .Content }}\n{{ end }}";
  assertEquals(
    promptOf({ messages, template: go }),
    `user:  ${user.content}\nassistant:  \ntool: weather first\ntool: weather second\n`,
  );
  const prompt = promptOf({ messages }, { template: CHATML });
  assertEquals(prompt.indexOf("first") < prompt.indexOf("second"), true);
});

Deno.test("many calls and results are bound in time that grows with their number", () => {
  const count = 50_000;
  const ids = Array.from({ length: count }, (_, i) => `${i}`);
  const messages = [
    calling(...ids.map((id): [string, string] => [id, "f"])),
    ...ids.toReversed().map((id) => result(id, { toolCallId: id })),
  ];
  assertEquals(texts(messages).slice(1), ids);
});
