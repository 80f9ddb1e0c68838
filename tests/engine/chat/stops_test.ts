// Stop strings in chats end the text of an answer and nothing else, however it comes in tokens: not
// its thinking, its marks or the arguments of its calls. What a limit cuts off is no call.

import { type ChatRequest, loadModel } from "../../../engine/mod.ts";
import { TOOL_TEMPLATE, writeTinyLlama } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad } from "../harness.ts";
import { answerOf, CHATML, eventsOf, type Script } from "./scripted_model.ts";
import { assert, assertEquals } from "@std/assert";

const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
};

const tools: ChatRequest["tools"] = [{
  type: "function",
  function: { name: "weather", parameters },
}];

const messages: ChatRequest["messages"] = [{ role: "user", content: "Why?" }];

/** Families by their templates, and an answer of each with thinking, text and a call. */
const FAMILIES: Record<string, Script & { thinks: string; lead: string; call: string }> = {
  hermes: {
    thinks: "<think>\nI weigh it. END\n\nSo?\n</think>\n\n",
    lead: "Let me look.\n",
    call: '<tool_call>\n{"name": "weather", "arguments": {"city": "Ulm", "days": 2}}\n</tool_call>',
  },
  mistral: {
    template: "[TOOL_CALLS][ARGS][THINK][/THINK]{% for m in messages %}{{ m.content }}{% endfor %}",
    thinks: "[THINK]I weigh it. END\n\nSo?[/THINK]",
    lead: "Let me look.",
    call: '[TOOL_CALLS]weather[ARGS]{"city": "Ulm", "days": 2}',
  },
  coder: {
    template: "<think></think><tool_call><function=<parameter={{ messages[0].content }}",
    thinks: "<think>I weigh it. END\n\nSo?</think>\n\n",
    lead: "Let me look.\n\n",
    call: "<tool_call>\n<function=weather>\n<parameter=city>\nUlm\n</parameter>\n" +
      "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
  },
  harmony: {
    template: "{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>" +
      "{% endfor %}{# <|channel|> #}<|start|>assistant",
    thinks: "<|channel|>analysis<|message|>I weigh it. END\n\nSo?<|end|><|start|>assistant",
    lead: "<|channel|>commentary<|message|>Let me look.<|end|><|start|>assistant",
    call: "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>" +
      '{"city": "Ulm", "days": 2}',
  },
};

/** A text in tokens of some characters. */
const cut = (text: string, size: number) =>
  Array.from(
    { length: Math.ceil(text.length / size) },
    (_, i) => text.slice(i * size, (i + 1) * size),
  );

/** Texts that occur in thinking, marks, calls and between them, and not in text. */
const ELSEWHERE = [
  "END",
  "\n",
  "\n\n",
  "So?",
  "think>",
  "</think>",
  "\n\nLet",
  ">Let",
  "look.<",
  "look.\n\n<",
  "tool",
  "[TOOL_CALLS]",
  "[ARGS]",
  "<|end|>",
  "<|message|>",
  "channel",
  "name",
  "weather",
  "city",
  "Ulm",
  "{",
  "}",
  '"',
  "2",
  "</parameter>",
];

for (const [family, { thinks, lead, call, template }] of Object.entries(FAMILIES)) {
  const script = (text: string, size: number): Script => ({
    ...(template !== undefined && { template }),
    says: cut(text, size),
  });

  Deno.test(`no stop string ends thinking, marks or calls of ${family}`, async () => {
    for (const size of [1, 3, 6, 1000]) {
      for (const stop of [[], ELSEWHERE]) {
        const request = { messages, tools, stop };
        const answer = await answerOf(request, script(thinks + lead + call, size));
        assertEquals(answer.thinking.trim(), "I weigh it. END\n\nSo?", `${stop}`);
        assertEquals(answer.text.trim(), "Let me look.", `${stop}`);
        const calls = [{ name: "weather", arguments: { city: "Ulm", days: 2 } }];
        assertEquals(answer.calls, calls, `${stop}`);
        assertEquals([answer.done!.reason, answer.done!.stopString], ["stop", undefined]);
      }
    }
  });

  Deno.test(`a stop string ends the text of ${family}, across tokens and before calls`, async () => {
    for (const size of [1, 3, 6, 1000]) {
      for (const stop of ["me", "Let me", "et me lo", "ok.", "L", " "]) {
        const request = { messages, tools, stop: ["never", stop] };
        const answer = await answerOf(request, script(thinks + lead + call, size));
        assertEquals(answer.text, "Let me look.".split(stop)[0]);
        assertEquals([answer.calls, answer.thinking.trim()], [[], "I weigh it. END\n\nSo?"]);
        assertEquals([answer.done!.reason, answer.done!.stopString], ["stop", stop]);
      }
    }
  });

  Deno.test(`what a limit leaves of an answer of ${family} is no half call`, async () => {
    const whole = thinks + lead + call;
    for (let maxTokens = 1; maxTokens < cut(whole, 5).length; maxTokens++) {
      let [text, json, started, ended] = ["", "", 0, 0];
      // A mask that leads to an end would have other tokens.
      const request = { messages, tools, maxTokens, finish: false };
      for await (const event of eventsOf(request, script(whole, 5))) {
        if (event.type === "text") text += event.text;
        if (event.type === "callStart") started++;
        if (event.type === "callArguments") json += event.json;
        if (event.type === "callEnd") ended++;
        if (event.type === "done") assertEquals(event.reason, "length");
      }
      assert("Let me look.".startsWith(text.trim()), text);
      assertEquals(started, ended, `${maxTokens} tokens: ${json}`);
      if (ended > 0) assertEquals(JSON.parse(json), { city: "Ulm", days: 2 });
    }
  });
}

Deno.test("arguments come in pieces where there is room for all of them", async () => {
  const { thinks, lead, call } = FAMILIES.hermes;
  const pieces: string[] = [];
  const says = cut(thinks + lead + call, 5);
  for await (const event of eventsOf({ messages, tools, maxTokens: 500 }, { says })) {
    if (event.type === "callArguments") pieces.push(event.json);
  }
  assert(pieces.length > 3, pieces.join("|"));
});

Deno.test("a document follows thinking in which the stop string occurs", async () => {
  const format = { schema: parameters };
  const { thinks } = FAMILIES.hermes;
  const document = '{"city": "Ulm"}';
  for (const size of [1, 4, 1000]) {
    const answer = await answerOf(
      { messages, format, stop: ["END", "\n", "So?"] },
      { says: cut(thinks + document, size) },
    );
    assertEquals([answer.text, answer.done!.stopString], [document, undefined]);
    const stopped = await answerOf(
      { messages, format, stop: ["Ul"] },
      { says: cut(thinks + document, size) },
    );
    assertEquals([stopped.text, stopped.done!.stopString], ['{"city": "', "Ul"]);
  }
});

Deno.test("text before and after a call is not one text for a stop string", async () => {
  const call = (text: string) =>
    `${text}<tool_call>\n{"name": "weather", "arguments": {"city": "U"}}\n</tool_call>`;
  const says = cut(`${call("ab")}cd`, 3);
  const joined = await answerOf({ messages, tools, stop: ["bc"] }, { says });
  assertEquals([joined.text, joined.calls.length], ["abcd", 1]);
  const after = await answerOf({ messages, tools, stop: ["d"] }, { says });
  assertEquals([after.text, after.calls.length, after.done!.stopString], ["abc", 1, "d"]);
});

Deno.test("white space that a stop string ends is searched once it is sure to be text", async () => {
  for (const size of [1, 3, 1000]) {
    const text = "One.\nTwo.";
    const request = { messages, tools, stop: ["\n"] };
    const more = await answerOf(request, { says: cut(text, size) });
    assertEquals([more.text, more.done!.stopString], ["One.", "\n"]);
    const last = await answerOf(request, { says: cut("One.\n", size) });
    assertEquals([last.text, last.done!.stopString], ["One.", "\n"]);
  }
});

Deno.test("the beginning of a stop string that does not come is given out at the end", async () => {
  const request = { messages, tools, stop: ["look.!", "<tool_call>?"] };
  const { text, done } = await answerOf(request, { says: cut("Let me look.", 4) });
  assertEquals([text, done!.stopString], ["Let me look.", undefined]);
});

Deno.test("a stop string that is a control token ends an answer where it is a token", async () => {
  const template = "{% for m in messages %}{{ m.content }}{% endfor %}";
  for (
    const [says, text, stopString] of [
      [["Hi.", "<|im_start|>", "user"], "Hi.", "<|im_start|>"],
      [["Hi.", "<|other|>", "user"], "Hi.user", undefined],
      [["Hi <|im_", "start|>", "user"], "Hi ", "<|im_start|>"],
    ] as [string[], string, string | undefined][]
  ) {
    const script = { template, says, controls: ["<|other|>"] };
    const answer = await answerOf({ messages, stop: ["<|im_start|>"] }, script);
    assertEquals([answer.text, answer.done!.stopString], [text, stopString]);
    const thinks = { ...script, template: CHATML };
    const chat = await answerOf({ messages, stop: ["<|im_start|>"] }, thinks);
    assertEquals(chat.done!.stopString, stopString);
  }
});

Deno.test("a model that gives several tokens at a time thinks the same with stop strings", async () => {
  const path = `${folder}/stops.gguf`;
  await writeTinyLlama(path, { template: TOOL_TEMPLATE, context: 1024 });
  await using model = await loadModel(path, { ...tinyLoad, contextLength: 1024 });
  const request = { messages, temperature: 0, maxTokens: 60, ignoreEnd: true };
  const ask = (more: Partial<ChatRequest>) => readAnswer(model.chat({ ...request, ...more }));
  const thought = await ask({ think: true });
  assert(thought.thinking.length > 30);
  const stop = [thought.thinking.slice(3, 6), thought.thinking.slice(12, 14), "\n"];
  assertEquals((await ask({ think: true, stop })).thinking, thought.thinking);
  const budget = await ask({ think: true, thinkBudget: 20 });
  const late = await ask({ think: true, thinkBudget: 20, stop: [budget.text.slice(5, 9)] });
  assertEquals(late.thinking, budget.thinking);
  assertEquals(late.text, budget.text.slice(0, budget.text.indexOf(budget.text.slice(5, 9))));
  const said = await ask({ think: false });
  const ended = await ask({ think: false, stop: [said.text.slice(20, 23)] });
  assertEquals(ended.text, said.text.slice(0, said.text.indexOf(said.text.slice(20, 23))));
  assert(ended.done!.usage.completionTokens < 60);
});

Deno.test("log-probabilities stay with the text that is given out", async () => {
  const says = cut("<think>\nHm.</think>\n\nOne two. Three", 3);
  for (const stop of [[], ["Hm"], ["o."], [" Thr"]]) {
    let [text, told] = ["", ""];
    for await (const event of eventsOf({ messages, stop, logprobs: 0 }, { says })) {
      if (event.type !== "text") continue;
      text += event.text;
      told += event.logprobs!.map(({ token }) => token).join("");
    }
    assert(told.includes(text), `${text} of ${told}`);
  }
});
