// Tools for models whose template has none: what they are told, and that their calls are held by the
// mask, on a model with random weights.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type ChatMessage, loadModel, type Tool } from "../../../engine/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad } from "../harness.ts";
import { scripted } from "./scripted_model.ts";
import { renderChat } from "../../../engine/chat/mod.ts";

const path = `${folder}/generic.gguf`;
await writeTinyLlama(path, { context: 2048 });
const model = await loadModel(path, { ...tinyLoad, contextLength: 2048 });
globalThis.addEventListener("unload", () => void model.close());

const clock: Tool = {
  type: "function",
  function: {
    name: "clock",
    description: "The time of a zone",
    parameters: {
      type: "object",
      properties: { zone: { enum: ["UTC", "CET"] } },
      required: ["zone"],
      additionalProperties: false,
    },
  },
};
const hello: ChatMessage = { role: "user", content: "What time is it?" };
const call = { id: "1", function: { name: "clock", arguments: { zone: "UTC" } } };
const turns: ChatMessage[] = [
  hello,
  { role: "assistant", content: "I look.", toolCalls: [call, { ...call, id: "2" }] },
  { role: "tool", content: "12:00", toolCallId: "2" },
  { role: "tool", content: "11:00", toolCallId: "1" },
];

Deno.test("the file tells that tools are explained to the model", () => {
  assertEquals(model.info.callsTools, "generic");
});

Deno.test("the system prompt tells of the tools, after what it says itself", async () => {
  const alone = await model.renderChat({ messages: [hello], tools: [clock] });
  assertMatch(alone, /^<\|im_start\|>system\nYou can call tools\./);
  assertStringIncludes(
    alone,
    '{"name":"clock","description":"The time of a zone","parameters":{"type"',
  );
  assert(alone.endsWith("user\nWhat time is it?<|im_end|>\n<|im_start|>assistant\n"));
  const messages: ChatMessage[] = [{ role: "system", content: "Be kind." }, hello];
  const both = await model.renderChat({ messages, tools: [clock] });
  assertMatch(both, /^<\|im_start\|>system\nBe kind\.\n\nYou can call tools\./);
  assertEquals(both.split("<|im_start|>").length, alone.split("<|im_start|>").length);
});

Deno.test("calls and results of earlier turns are text, results in the order of the calls", async () => {
  const prompt = await model.renderChat({ messages: [...turns, hello], tools: [clock] });
  const said = prompt.slice(prompt.indexOf("<|im_start|>assistant"));
  const written = '<tool_call>\n{"name": "clock", "arguments": {"zone":"UTC"}}\n</tool_call>';
  assertEquals(
    said,
    `<|im_start|>assistant\nI look.\n${written}\n${written}<|im_end|>\n` +
      "<|im_start|>user\n<tool_response>\n11:00\n</tool_response>\n" +
      "<tool_response>\n12:00\n</tool_response>\nWhat time is it?<|im_end|>\n" +
      "<|im_start|>assistant\n",
  );
  // Without tools they are text as well, and nothing is explained.
  const plain = await model.renderChat({ messages: turns });
  assert(!plain.includes("You can call tools") && plain.includes("<tool_response>\n11:00"));
});

Deno.test("a template that refuses system messages has the tools in the first message", () => {
  const template = "{% for m in messages %}{% if m.role == 'system' %}" +
    "{{ raise_exception('System role not supported') }}{% endif %}[{{ m.role }}]{{ m.content }}" +
    "{% endfor %}";
  const shown = renderChat(scripted({ template }), { messages: [hello], tools: [clock] });
  assertMatch(shown, /^\[user\]You can call tools\.[^]*in words\.\n\nWhat time is it\?$/);
});

Deno.test("calls fit their tool whatever the model would say", async () => {
  for (let seed = 1; seed <= 3; seed++) {
    const { calls, text, done } = await readAnswer(
      model.chat({
        messages: turns,
        tools: [clock],
        toolChoice: "required",
        parallelToolCalls: false,
        temperature: 1.5,
        maxTokens: 200,
        seed,
      }),
    );
    assertEquals([calls.length, text, done!.reason], [1, "", "stop"]);
    assertEquals(calls[0]!.name, "clock");
    assertMatch(JSON.stringify(calls[0]!.arguments), /^\{"zone":"(UTC|CET)"\}$/);
  }
});

Deno.test("without tools such a model has no calls: what looks like one is text", async () => {
  const { done, calls } = await readAnswer(
    model.chat({ messages: [hello], maxTokens: 4, temperature: 0 }),
  );
  assertEquals([calls.length, done!.reason], [0, "length"]);
});
