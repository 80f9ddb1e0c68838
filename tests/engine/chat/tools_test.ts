// Tools, thinking and formats together, on a model with random weights: whatever it would say, its
// answers are what the request asks for.

import { ChatTools } from "../../../engine/chat/chat_tools.ts";
import { type ChatRequest, loadModel, SchemaError, type Tool } from "../../../engine/mod.ts";
import { TOOL_TEMPLATE, writeTinyLlama } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad } from "../harness.ts";
import { JsonNumber } from "../../../tokenizer/mod.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";

const path = `${folder}/tools.gguf`;

await writeTinyLlama(path, { template: TOOL_TEMPLATE, context: 1024 });

const model = await loadModel(path, { ...tinyLoad, contextLength: 1024 });
globalThis.addEventListener("unload", () => void model.close());

const city = { type: "string", maxLength: 12 };

const weather: Tool = {
  type: "function",
  function: {
    name: "weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city }, required: ["city"] },
  },
};

const clock: Tool = {
  type: "function",
  function: {
    name: "clock",
    parameters: {
      type: "object",
      properties: { zone: { enum: ["UTC", "CET"] }, seconds: { type: "boolean" } },
      required: ["zone"],
      additionalProperties: false,
    },
  },
};

function ask(seed: number, request: Partial<ChatRequest>) {
  const messages: ChatRequest["messages"] = [{ role: "user", content: "Hi" }];
  return readAnswer(
    model.chat({ messages, temperature: 1, maxTokens: 160, think: false, seed, ...request }),
  );
}

function checkCall({ name, arguments: values }: { name: string; arguments: object }): void {
  if (name === "weather") assert("city" in values && typeof values.city === "string", name);
  else assertMatch(JSON.stringify(values), /^\{"zone":"(UTC|CET)"(,"seconds":(true|false))?\}$/);
}

Deno.test("the file tells that the model calls tools and thinks", () => {
  assertEquals([model.info.callsTools, model.info.thinks], [true, true]);
});

Deno.test("a call that is required comes, with a name and arguments that fit", async () => {
  for (let seed = 1; seed <= 4; seed++) {
    const tools = [weather, clock];
    const some = await ask(seed, { tools, toolChoice: "required", parallelToolCalls: false });
    assertEquals([some.calls.length, some.text, some.done?.reason], [1, "", "stop"]);
    checkCall(some.calls[0]);
    const named = await ask(seed, {
      tools,
      toolChoice: { name: "clock" },
      parallelToolCalls: false,
    });
    assertEquals(named.calls.map(({ name }) => name), ["clock"]);
    checkCall(named.calls[0]);
  }
  assertThrows(
    () => model.chat({ messages: [], tools: [clock], toolChoice: { name: "cloak" } }),
    Error,
    '"cloak": no tool of that name',
  );
});

Deno.test("with tools and a format an answer is calls or a document", async () => {
  let documents = 0;
  for (let seed = 1; seed <= 8; seed++) {
    const schema = {
      type: "object",
      properties: { ok: { type: "boolean" } },
      required: ["ok"],
      additionalProperties: false,
    };
    const { text, calls } = await ask(seed, {
      tools: [clock],
      format: { schema },
      parallelToolCalls: false,
    });
    calls.forEach(checkCall);
    assertEquals(calls.length, text === "" ? 1 : 0);
    if (calls.length === 0) documents++;
    if (calls.length === 0) assertMatch(text, /^\{"ok": ?(true|false)\}$/);
  }
  assert(documents > 0 && documents < 8, `${documents} of 8 answers were documents`);
});

Deno.test("thinking is free, and the format holds after it", async () => {
  const format = { schema: { type: "integer", minimum: 10, maximum: 99 } };
  const { text, thinking } = await ask(3, { think: true, format, maxTokens: 60 });
  assertMatch(text, /^[1-9][0-9]$/);
  assert(thinking.length > 5, thinking);
  const { text: only, thinking: none } = await ask(3, { format });
  assertMatch(only, /^[1-9][0-9]$/);
  assertEquals(none, "");
});

Deno.test("prompts have the numbers that JavaScript writes, and bigints", async () => {
  const parameters = { properties: { id: { maximum: 2n ** 64n, enum: [1e21, 0.5, 1, 2 ** 53] } } };
  const values = { id: 9007199254740993n, list: [1e-7, -0] };
  const messages: ChatRequest["messages"] = [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ function: { name: "f", arguments: values } }],
    },
  ];
  const tools: Tool[] = [{ type: "function", function: { name: "f", parameters } }];
  const prompt = await model.renderChat({ messages, tools });
  assertStringIncludes(
    prompt,
    '{"maximum": 18446744073709551616, "enum": [1e+21, 0.5, 1, 9007199254740992]}',
  );
  assertStringIncludes(prompt, '{"id": 9007199254740993, "list": [1e-07, 0]}');
});

Deno.test("the arguments of a call are exact in its text, and doubles in its object", async () => {
  const parameters = {
    properties: { id: { const: 9007199254740993n }, x: { const: new JsonNumber("1.50") } },
    required: ["id", "x"],
  };
  const tools: Tool[] = [{ type: "function", function: { name: "f", parameters } }];
  const messages: ChatRequest["messages"] = [{ role: "user", content: "Hi" }];
  const events = await Array.fromAsync(model.chat({ messages, tools, toolChoice: "required" }));
  const end = events.find((event) => event.type === "callEnd");
  assertEquals(end?.arguments, { id: 9007199254740992, x: 1.5 });
  const pieces = events.filter((event) => event.type === "callArguments" && event.id === end?.id);
  const json = pieces.map((event) => event.type === "callArguments" ? event.json : "").join("");
  assertEquals(json.replaceAll(" ", ""), '{"id":9007199254740993,"x":1.50}');
});

Deno.test("calls stream: the start, pieces of JSON, then all arguments", async () => {
  const messages: ChatRequest["messages"] = [{ role: "user", content: "Hi" }];
  const request: ChatRequest = { messages, tools: [weather], toolChoice: "required", think: false };
  let json = "";
  let pieces = 0;
  let ended: unknown;
  for await (
    const event of model.chat({ ...request, seed: 5, maxTokens: 120, parallelToolCalls: false })
  ) {
    if (event.type === "callStart") assertEquals([event.name, json], ["weather", ""]);
    if (event.type === "callArguments") {
      json += event.json;
      pieces++;
    }
    if (event.type === "callEnd") ended = event.arguments;
  }
  assertEquals(JSON.parse(json), ended);
  assert(pieces > 2, `${pieces} pieces`);
});

Deno.test("what is left out of a tool's schema leaves the rest as it was", () => {
  // JSON Schema looks at neither of these members.
  let deep: unknown = [];
  for (let i = 0; i < 400; i++) deep = [deep];
  const pattern = "^(a+)\\1$";
  const parameters = {
    properties: { a: { type: "string", pattern }, b: { type: "integer" } },
    "x-deep": deep,
  };
  const tool = { type: "function" as const, function: { name: "f", parameters } };
  const tools = new ChatTools([tool], model.tokenizer);
  assertEquals(tools.notes.length > 0, true);
  const { properties } = tools.callable[0].parameters as typeof parameters;
  assertEquals<unknown>(properties, { a: { type: "string" }, b: { type: "integer" } });
  assertEquals(parameters.properties.a.pattern, pattern);
});

Deno.test("of several patterns of keys, only the one that the mask cannot hold is left out", () => {
  const repeated = "^(a+)\\1/~$";
  const digits = { type: "string", pattern: "^[0-9]$" };
  const patternProperties = { "^b": digits, [repeated]: { type: "integer" }, "^c": digits };
  for (const place of ["additionalProperties", "unevaluatedProperties"]) {
    const inner = { type: "object", patternProperties, [place]: false };
    const parameters = { properties: { map: inner }, required: ["map"] };
    const tool = { type: "function" as const, function: { name: "f", parameters } };
    const { callable, notes } = new ChatTools([tool], model.tokenizer);
    assertEquals<unknown>(callable[0]?.parameters, {
      type: "object",
      ...parameters,
      properties: { map: { ...inner, patternProperties: { "^b": digits, "^c": digits } } },
    });
    assertEquals(notes.length, 1);
    assertStringIncludes(
      notes[0]!,
      `tool "f" at /properties/map/patternProperties ("${repeated}"): `,
    );
    const { function: { name } } = tool;
    const strict = { type: "function" as const, function: { name, parameters, strict: true } };
    const error = assertThrows(() => new ChatTools([strict], model.tokenizer), SchemaError);
    assertEquals([error.pointer, error.keyword], ["/properties/map/patternProperties", repeated]);
  }
});

Deno.test("formats that nobody knows are told with the answer, by tool and place", async () => {
  const when = { type: "string", format: "stardate", maxLength: 4 };
  const parameters = { type: "object", properties: { when }, required: ["when"] };
  const tool: Tool = { type: "function", function: { name: "dial", parameters } };
  const format = { schema: { ...parameters, properties: { when: { ...when, format: "ray" } } } };
  const called = await ask(1, { tools: [tool], toolChoice: "required" });
  assertEquals(called.done?.notes, [
    'Cannot enforce the schema of tool "dial" at /properties/when ("format"): ' +
    'no format "stardate" is known, so it restricts nothing; a "pattern" would',
  ]);
  // A document is told about itself, beside tools, too.
  const { done } = await ask(1, { tools: [tool], format });
  assertEquals(done?.notes?.length, 2);
  assertMatch(done!.notes![1]!, /^Cannot enforce the schema at \/properties\/when .*"ray"/);
  assertEquals((await ask(1, { tools: [weather], format: "json" })).done?.notes, undefined);
});

Deno.test("a tool's reference is a pointer without its #, or refused if it leads nowhere", async () => {
  const parameters = (reference: string) => ({
    properties: { list: { type: "array", items: { $ref: reference }, minItems: 1, maxItems: 2 } },
    required: ["list"],
    $defs: { bit: { type: "integer", minimum: 0, maximum: 1 } },
  });
  const tool = (reference: string): Tool => ({
    type: "function",
    function: { name: "flip", parameters: parameters(reference) },
  });
  const { calls, done } = await ask(1, { tools: [tool("/$defs/bit")], toolChoice: "required" });
  assertMatch(JSON.stringify(calls[0]?.arguments), /^\{"list":\[[01](,[01])?\]\}$/);
  assertEquals(done?.notes, undefined);
  for (const reference of ["/$defs/none", "#/definitions/bit", "bit"]) {
    const error = assertThrows(() => ask(1, { tools: [tool(reference)] }), SchemaError);
    assertEquals([error.pointer, error.keyword], ["/properties/list/items", "$ref"]);
    assertMatch(error.message, /^Cannot enforce the schema of tool "flip" at/);
  }
  // Somebody else may be able to fetch what is not in the document.
  const elsewhere = await ask(1, {
    tools: [tool("https://example.com/x")],
    toolChoice: "required",
  });
  assertMatch(elsewhere.done!.notes!.join(), /"https:\/\/example.com\/x" is not in this document/);
});

Deno.test("what a tool asks for beyond the mask is left out and told, unless it is strict", async () => {
  const parameters = {
    type: "object",
    properties: { digits: { type: "string", pattern: "^(a+)\\1$", maxLength: 4 } },
    required: ["digits"],
  };
  const tool = (strict: boolean): Tool => ({
    type: "function",
    function: { name: "dial", parameters, strict },
  });
  const answer = await ask(1, { tools: [tool(false)], toolChoice: "required" });
  assertEquals(answer.calls[0]?.name, "dial");
  const notes = answer.done?.notes?.join("\n") ?? "";
  assertMatch(notes, /tool "dial" at .*digits.*pattern/);
  const error = assertThrows(
    () => model.chat({ messages: [], tools: [tool(true)], think: false }),
    SchemaError,
  );
  assertEquals([error.pointer, error.keyword], ["/properties/digits", "pattern"]);
});

Deno.test("bare text between tags is what its schema allows, and the rest is told and checked", async () => {
  const tagged = `${folder}/tagged_tools.gguf`;
  const template = TOOL_TEMPLATE.replace(
    '{"name": ..., "arguments": ...}',
    "<function=<parameter=",
  );
  await writeTinyLlama(tagged, { template, context: 1024 });
  await using tags = await loadModel(tagged, { ...tinyLoad, contextLength: 1024 });
  const pin = { type: "string", pattern: "^[a-f]{3}-[0-9]{2}$" };
  const mode = { enum: ["on", null] };
  const tool = (parameters: Record<string, unknown>, strict = false): Tool => ({
    type: "function",
    function: { name: "lock", parameters, strict },
  });
  const call = (request: Partial<ChatRequest>) =>
    readAnswer(tags.chat({
      messages: [{ role: "user", content: "Hi" }],
      ...{ temperature: 1, maxTokens: 250, think: false, parallelToolCalls: false },
      ...{ toolChoice: "required", seed: 3, ...request },
    }));
  const held = { properties: { pin, mode }, required: ["pin", "mode"] };
  const { calls, done } = await call({ tools: [tool(held, true)] });
  const { pin: written, mode: chosen } = calls[0]!.arguments as Record<string, unknown>;
  assertMatch(String(written), new RegExp(pin.pattern));
  assert(chosen === "on" || chosen === null, String(chosen));
  assertEquals(done?.notes, undefined);

  const parameters = { ...held, maxProperties: 1 };
  const { done: told } = await call({ tools: [tool(parameters)] });
  assertEquals(told?.notes?.length, 2);
  assertMatch(
    told!.notes![0]!,
    /^Cannot enforce the schema of tool "lock" at its root \("maxProperties"\): .* checked when/,
  );
  assertMatch(
    told!.notes![1]!,
    /^Tool "lock" was called with arguments that do not fit its schema/,
  );
  const refused = assertThrows(() => call({ tools: [tool(parameters, true)] }), SchemaError);
  assertEquals([refused.pointer, refused.keyword], ["", "maxProperties"]);
});
