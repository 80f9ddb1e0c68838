// A last message that the answer continues: the prompt ends with exactly its text, in every kind of
// template, and the answer is what comes after it, in any format.

import { type ChatMessage, type ChatRequest, RequestError } from "../../../engine/mod.ts";
import { renderChat } from "../../../engine/chat/mod.ts";
import { answerOf, CHATML, promptOf, scripted } from "./scripted_model.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";

const question: ChatMessage = { role: "user", content: "Why?" };

const HEADER = "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n";

function continuing(last: Partial<ChatMessage>, more: Partial<ChatRequest> = {}): ChatRequest {
  return { messages: [question, { role: "assistant", content: "", ...last }], ...more };
}

/** Text that templates like to change. */
const TEXTS = ["Sure, it ", "\n  Sure", "\n", "a</think>b", "<b>&", "<|im_end|>\n", "é漢😀"];

const JINJA: Record<string, string> = {
  "shows messages as they are": CHATML.replaceAll(" | trim", ""),
  "trims messages": CHATML,
  "leaves out what looks like thinking": CHATML.replace(
    "{{ m.content | trim }}",
    "{{ m.content.split('</think>')[-1].lstrip('\\n') }}",
  ),
  "rewrites answers": CHATML.replace(
    "m.content | trim",
    "(m.content | upper).split('.')[0] if m.role == 'assistant' else m.content",
  ),
  "always begins an answer": CHATML.replace("{% if add_generation_prompt %}", "{% if true %}"),
};

for (const [what, template] of Object.entries(JINJA)) {
  Deno.test(`a prompt ends with the text to continue where a template ${what}`, () => {
    for (const content of TEXTS) {
      assertEquals(promptOf(continuing({ content }), { template }), HEADER + content);
    }
  });
}

const GO: Record<string, string> = {
  "ends every message": "{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n" +
    "{{ end }}<|im_start|>assistant\n",
  "leaves the last answer open": "{{ range $i, $_ := .Messages }}" +
    "{{- $last := eq (len (slice $.Messages $i)) 1 }}<|im_start|>{{ .Role }}\n{{ .Content }}" +
    '{{ if not (and $last (eq .Role "assistant")) }}<|im_end|>\n{{ end }}{{ end }}',
  "knows a prompt and a response": "<|im_start|>user\n{{ .Prompt }}<|im_end|>\n" +
    "<|im_start|>assistant\n{{ .Response }}<|im_end|>\n",
};

for (const [what, template] of Object.entries(GO)) {
  Deno.test(`a prompt ends with the text to continue where a Go template ${what}`, () => {
    for (const content of TEXTS) {
      assertEquals(promptOf(continuing({ content }, { template })), HEADER + content);
    }
    const earlier: ChatMessage[] = [question, { role: "assistant", content: "So." }, question];
    const messages: ChatMessage[] = [...earlier, { role: "assistant", content: "And" }];
    const prompt = promptOf({ messages, template });
    assertStringIncludes(prompt, "So.<|im_end|>");
    assert(prompt.endsWith("<|im_start|>assistant\nAnd"), prompt);
  });
}

Deno.test("a prompt ends with the thinking to continue, whether the template shows thinking or not", () => {
  const shown = promptOf(continuing({ thinking: " Let me " }));
  assertEquals(shown, `${HEADER}<think>\n Let me `);
  const both = continuing({ thinking: "Hm.", content: "It " });
  assertEquals(promptOf(both), `${HEADER}<think>\nHm.\n</think>\n\nIt `);
  const hides = CHATML.replace("m.thinking", "false");
  for (const enable of ["enable_thinking", "false"]) {
    const template = hides.replace("if enable_thinking", `if ${enable}`);
    assertEquals(promptOf(continuing({ thinking: " Let me " }), { template }), shown);
    assertEquals(promptOf(both, { template }), `${HEADER}<think>\nHm.\n</think>\n\nIt `);
  }
  const template = "{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ if .Thinking }}<think>" +
    "{{ .Thinking }}</think>{{ end }}{{ .Content }}<|im_end|>\n{{ end }}";
  const go = promptOf(continuing({ thinking: " Let me " }, { template }));
  assertEquals(go, `${HEADER}<think> Let me `);
});

Deno.test("text of an answer is never taken for thinking that a template begins before it", async () => {
  const template = CHATML.replace("{% if m.thinking %}", "{% if m.role == 'assistant' %}<think>\n")
    .replace("<think>\n{{ m.thinking | trim }}\n</think>\n\n", "");
  const prompt = promptOf(continuing({ content: "It " }), { template });
  assertEquals(prompt, `${HEADER}<think>\n\n</think>\n\nIt `);
  const { text } = await answerOf(continuing({ content: "It " }), { template, says: ["is."] });
  assertEquals(text, "is.");
});

Deno.test("calls, results and images may come before what is continued", () => {
  const call = { id: "1", function: { name: "now", arguments: {} } };
  const messages: ChatMessage[] = [
    question,
    { role: "assistant", content: "Let me look.", toolCalls: [call] },
    { role: "tool", content: "noon", toolCallId: "1" },
    { role: "assistant", content: "It is " },
  ];
  const prompt = promptOf({ messages });
  assert(prompt.endsWith("noon<|im_end|>\n<|im_start|>assistant\nIt is "), prompt);
});

Deno.test("images stay where they are before what is continued", () => {
  const images = [new Uint8Array(1)];
  const messages: ChatMessage[] = [
    { role: "user", content: "What is [img] here?", images },
    { role: "assistant", content: "A " },
  ];
  const prompt = renderChat(scripted(), { messages });
  const shown = "What is [img-0] here?<|im_end|>\n<|im_start|>assistant\nA ";
  assertEquals(prompt, `<|im_start|>user\n${shown}`);
});

Deno.test("continueFinalMessage decides, by default whether an assistant spoke last", () => {
  const said = continuing({ content: "Sure" });
  assertEquals(
    promptOf({ ...said, continueFinalMessage: false }),
    `${HEADER}Sure<|im_end|>\n<|im_start|>assistant\n`,
  );
  const messages = [question];
  assertEquals(promptOf({ messages }), HEADER);
  const prompt = promptOf({ messages, continueFinalMessage: true });
  assertEquals(prompt, "<|im_start|>user\nWhy?");
  assertEquals(promptOf(continuing({})), HEADER);
  const toolCalls = [{ function: { name: "now", arguments: {} } }];
  const called = continuing({ content: "Let me look.", toolCalls });
  assert(promptOf(called).endsWith("</tool_call><|im_end|>\n<|im_start|>assistant\n"));
  const refused = (request: ChatRequest, reason: string, template = CHATML) =>
    assertThrows(() => promptOf(request, { template }), RequestError, reason);
  refused({ ...called, continueFinalMessage: true }, "it ends with tool calls");
  refused({ messages: [], continueFinalMessage: true }, "there is none");
  refused(said, "the chat template leaves its text out", CHATML.replace("m.content", "'Hi'"));
  // The rest would have to be escaped.
  refused(said, "the chat template leaves its text out, or changes it", "{{ messages | tojson }}");
  refused(continuing({ thinking: "Hm" }), "its thinking", "{{ messages[0].content }}");
});

Deno.test("an answer is what is new, with the white space at its beginning", async () => {
  for (
    const [content, says] of [
      ["Sure", [" it", " is."]],
      ["Sure ", ["  it", "\n"]],
      ["\n", ["\n", "x"]],
      ["a <thi", ["nk> b"]],
      ["Sure", []],
    ] as [string, string[]][]
  ) {
    const { text, thinking, done } = await answerOf(continuing({ content }), { says });
    assertEquals([text, thinking], [says.join(""), ""]);
    assertEquals(done!.reason, "stop");
    const tool = { type: "function" as const, function: { name: "now" } };
    const offered = await answerOf(continuing({ content }, { tools: [tool] }), { says });
    assertEquals([offered.text, offered.thinking], [says.join(""), ""]);
  }
});

Deno.test("thinking that is continued ends at its mark, even at one that was begun", async () => {
  for (
    const [thinking, says, thought] of [
      ["Let me", [" see.", "\n</think>\n\n", "It", " is"], " see.\n"],
      [" Let me ", ["see", "</th", "ink>It is"], "see"],
      ["Let me </th", ["ink>", "It is"], ""],
      ["Let me </th", ["e", "</think>It is"], "e"],
    ] as [string, string[], string][]
  ) {
    const answer = await answerOf(continuing({ thinking }), { says });
    assertEquals([answer.thinking, answer.text], [thought, "It is"]);
    const content = `<think>\n${thinking}`;
    const marked = await answerOf(continuing({ content }), { says });
    assertEquals([marked.thinking, marked.text], [thought, "It is"]);
  }
});

const schema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false,
};

Deno.test("a format holds for what was begun and what is new together", async () => {
  const format = { schema };
  for (
    const [content, says] of [
      ['{"city": "Pa', ['ris", "', "days", '": ', "3", "}"]],
      ['{"city":"Paris","days":1', ["2", "}"]],
      ['{"city": "Paris", "days": 3}', []],
      ["{", ['"city": "', '"', ', "days": -1}']],
    ] as [string, string[]][]
  ) {
    const { text } = await answerOf(continuing({ content }, { format }), { says });
    assertEquals(text, says.join(""));
    JSON.parse(content + text);
  }
  for (const content of ["Sure", '{"city": 1', '{"town', '{"city": "Paris", "days": 3}.', " {"]) {
    assertThrows(
      () => void answerOf(continuing({ content }, { format }), {}),
      RequestError,
      "Cannot continue the last message: the format has no answer that begins so",
    );
  }
  const pattern = { format: { pattern: "^[0-9]{3}-[0-9]{4}$" } };
  const phone = await answerOf(continuing({ content: "555-" }, pattern), { says: ["12", "34"] });
  assertEquals(phone.text, "1234");
  const grammar = { format: { grammar: 'root ::= "yes" | "no"' } };
  assertEquals((await answerOf(continuing({ content: "ye" }, grammar), { says: ["s"] })).text, "s");
});

Deno.test("a document follows thinking that is continued", async () => {
  const says = ["Paris.", "\n</think>\n\n", '{"city": "Paris', '", "days": 1}'];
  const request = continuing({ thinking: "Perhaps " }, { format: { schema } });
  const { thinking, text } = await answerOf(request, { says });
  assertEquals([thinking, text], ["Paris.\n", '{"city": "Paris", "days": 1}']);
});

const tools: ChatRequest["tools"] = [{
  type: "function",
  function: { name: "weather", parameters: schema },
}];

Deno.test("a call may follow, or end, what is continued", async () => {
  const call = ['<tool_call>\n{"name": "weather", "arguments": ', '{"city": "Ulm", "days": 1}}'];
  const calls = [{ name: "weather", arguments: { city: "Ulm", days: 1 } }];
  const after = await answerOf(continuing({ content: "Let me look. " }, { tools }), {
    says: ["So: ", ...call, "\n</tool_call>"],
  });
  assertEquals([after.text, after.calls], ["So:", calls]);
  const begun = await answerOf(continuing({ content: `So: ${call[0]}` }, { tools }), {
    says: [call[1], "\n</tool_call>"],
  });
  assertEquals([begun.text, begun.calls], ["", calls]);
  assertThrows(
    () =>
      void answerOf(continuing({ content: "Let me look." }, { tools, toolChoice: "required" }), {}),
    RequestError,
    "the format has no answer that begins so",
  );
});
