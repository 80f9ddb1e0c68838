// Numbers stay the text that they were: from the body to the model, into its prompt and the mask of its
// tokens, and from its words to the client, in every API, streamed or not.

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { ChatEvent, ChatRequest } from "../../../../engine/types/mod.ts";
import { parseExactJson, writeExactJson } from "../../../../tokenizer/mod.ts";
import { createTestApp } from "../../test_app.ts";
import { createTinyApp } from "../../tiny_app.ts";
import { callEvents, gives } from "./openai/openai_scripts.ts";

const ARGUMENTS = '{"id":9007199254740993,"x":1.0,"list":[1e21,-0,0.1234567890123456789,1e400]}';
const PARAMETERS = '{"type":"object","properties":{"id":{"type":"integer","minimum":' +
  '-9223372036854775808,"maximum":18446744073709551615},"x":{"enum":[1.0,2.50,1e21]},' +
  '"list":{"type":"array"}},"default":{"id":12345678901234567890}}';
const called = JSON.stringify(ARGUMENTS);
const openAiTool = `{"type":"function","function":{"name":"f","parameters":${PARAMETERS}}}`;

/** Bodies in which a call and its tool stand, by path. */
const CONVERSATIONS: Record<string, string> = {
  "/api/chat": `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[
    {"function":{"name":"f","arguments":${ARGUMENTS}}}]},{"role":"tool","content":"1"}],
    "tools":[${openAiTool}]}`,
  "/v1/chat/completions": `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant",
    "tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":${called}}}]},
    {"role":"tool","tool_call_id":"1","content":"1"}],"tools":[${openAiTool}]}`,
  "/v1/responses": `{"input":[{"role":"user","content":"Hi"},{"type":"function_call","call_id":"1",
    "name":"f","arguments":${called}},{"type":"function_call_output","call_id":"1","output":"1"}],
    "tools":[{"type":"function","name":"f","parameters":${PARAMETERS}}]}`,
  "/v1/messages": `{"max_tokens":10,"messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":${ARGUMENTS}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"1"}]}],
    "tools":[{"name":"f","input_schema":${PARAMETERS}}]}`,
};

/** A body's text with more members. */
function withMembers(body: string, members: string): string {
  return body.replace(/\}$/, `,${members}}`);
}

for (const [path, body] of Object.entries(CONVERSATIONS)) {
  Deno.test(`calls and tools of ${path} reach the model with their numbers`, async () => {
    const { post, loaded } = createTestApp({ info: { callsTools: true } });
    const response = await post(path, withMembers(body, '"model":"tiny","stream":false'));
    assertEquals(response.status, 200, await response.text());
    const { tools, messages } = loaded[0]!.requests[0]!.request as ChatRequest;
    // What a worker gets is a copy.
    const copy = structuredClone({ tools, messages });
    assertEquals(writeExactJson(copy.tools![0]!.function.parameters), PARAMETERS);
    const call = copy.messages.flatMap(({ toolCalls = [] }) => toolCalls)[0]!;
    assertEquals(writeExactJson(call.function.arguments), ARGUMENTS);
  });

  for (const stream of [true, false]) {
    Deno.test(`calls reach clients of ${path} as the model wrote them, ${stream ? "streamed" : "whole"}`, async () => {
      const events = [
        ...callEvents("1", "f", [ARGUMENTS.slice(0, 15), ARGUMENTS.slice(15)]),
        ...callEvents("2", "f", [ARGUMENTS]),
      ] as ChatEvent[];
      const { post } = createTestApp({ info: { callsTools: true }, script: gives(events) });
      const response = await post(path, withMembers(body, `"model":"tiny","stream":${stream}`));
      assertEquals(argumentsIn(path, await response.text()), [ARGUMENTS, ARGUMENTS]);
    });
  }
}

/** The JSON texts of the arguments of all calls in an answer. */
function argumentsIn(path: string, answer: string): string[] {
  const lines = answer.split("\n").map((line) => line.replace(/^data: /, ""));
  const records = lines.filter((line) => line.startsWith("{")).map((line) => parseExactJson(line));
  // deno-lint-ignore no-explicit-any
  const found = (records as any[]).flatMap((record): [string, string][] => {
    if (path === "/api/chat") {
      const { tool_calls: calls = [] } = record.message;
      return calls.map((call: { id: string; function: { arguments: unknown } }) => [
        call.id,
        writeExactJson(call.function.arguments),
      ]);
    }
    if (path === "/v1/chat/completions") {
      const { tool_calls: calls = [] } = record.choices[0].delta ?? record.choices[0].message;
      return calls.map((call: { index: number; function: { arguments: string } }) => [
        call.index,
        call.function.arguments,
      ]);
    }
    if (path === "/v1/responses") {
      const { output = [] } = record.response ?? record;
      return output.map((item: { id: string; arguments: string }) => [item.id, item.arguments]);
    }
    if (record.delta?.partial_json) return [[record.index, record.delta.partial_json]];
    const blocks = record.content ?? [];
    return blocks.map((block: { id: string; input: unknown }) => [
      block.id,
      writeExactJson(block.input),
    ]);
  });
  const texts = Map.groupBy(found, ([id]) => id);
  // The last of a response's events repeats all calls.
  const isRepeated = path === "/v1/responses";
  return Array.from(
    texts.values(),
    (pieces) => isRepeated ? pieces.at(-1)![1] : pieces.map(([, text]) => text).join(""),
  );
}

Deno.test("a response repeats its tools and its format, and is kept, with their numbers", async () => {
  const body = `{"model":"tiny","input":"Hi","stream":false,"tools":[{"type":"function","name":"f",
    "parameters":${PARAMETERS}}],"text":{"format":{"type":"json_schema","name":"n",
    "schema":${PARAMETERS}}}}`;
  const { post } = createTestApp({ info: { callsTools: true } });
  const answer = await (await post("/v1/responses", body)).text();
  assertEquals(answer.split(PARAMETERS).length, 3, answer);
});

/** Options as some clients spell them, by path. */
const OPTIONS: Record<string, string> = {
  "/api/chat": '"messages":[{"role":"user","content":"Hi"}],"options":{"temperature":1.0,' +
    '"top_k":4e1,"num_predict":5.0,"seed":1E2},"keep_alive":3.0e2,"logprobs":true,"top_logprobs":2.0',
  "/api/generate":
    '"prompt":"Hi","options":{"temperature":10e-1,"top_k":40.0,"num_predict":50e-1,' +
    '"seed":100.0},"logprobs":true,"top_logprobs":2e0',
  "/v1/chat/completions": '"messages":[{"role":"user","content":"Hi"}],"temperature":1.0,' +
    '"max_tokens":5.0,"seed":1e2,"n":1.0,"options":{"top_k":40.0},"logprobs":true,"top_logprobs":2.0',
  "/v1/completions":
    '"prompt":"Hi","temperature":1.00,"max_tokens":0.5e1,"seed":1e2,"logprobs":2.0,' +
    '"best_of":1.0,"options":{"top_k":40.0}',
  "/v1/responses":
    '"input":"Hi","temperature":1.0,"max_output_tokens":5.0,"options":{"top_k":40.0,' +
    '"seed":1e2}',
  "/v1/messages":
    '"messages":[{"role":"user","content":"Hi"}],"temperature":1.0,"max_tokens":5.0,' +
    '"top_k":4.0e1,"options":{"seed":1e2},"thinking":{"type":"enabled","budget_tokens":1024.0}',
};

for (const [path, members] of Object.entries(OPTIONS)) {
  Deno.test(`options of ${path} are ordinary numbers, however they are spelled`, async () => {
    const { post, loaded } = createTestApp();
    const response = await post(path, `{"model":"tiny","stream":false,${members}}`);
    assertEquals(response.status, 200, await response.text());
    const { temperature, topK, maxTokens, seed, logprobs } = loaded[0]!.requests[0]!.request;
    assertEquals([temperature, topK, maxTokens, seed], [1, 40, 5, 100]);
    assertEquals(logprobs, members.includes("logprobs") ? 2 : undefined);
  });
}

const { app } = await createTinyApp("numbers");

async function ask(path: string, body: string): Promise<string> {
  const response = await app.request(path, { method: "POST", body });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  return text;
}

Deno.test("the prompt has the numbers of calls and tools as Python prints them", async () => {
  const text = await ask(
    "/api/chat",
    withMembers(CONVERSATIONS["/api/chat"]!, '"model":"tools","_debug_render_only":true'),
  );
  const prompt = JSON.parse(text)._debug_info.rendered_template.replaceAll(" ", "");
  assert(prompt.includes(PARAMETERS.replace("2.50", "2.5").replace("1e21", "1e+21")), prompt);
  assert(prompt.includes(ARGUMENTS.replace("-0", "0").replace("1e21", "1e+21")), prompt);
});

Deno.test("the prompt of a Go template has them as Go prints them, without losing digits", async () => {
  const template = "{{ .Tools }}{{ range .Messages }}{{ .Content }}{{ .ToolCalls }}{{ end }}";
  await ask("/api/create", JSON.stringify({ model: "go", from: "tools", template, stream: false }));
  const text = await ask(
    "/api/chat",
    withMembers(CONVERSATIONS["/api/chat"]!, '"model":"go","_debug_render_only":true'),
  );
  const prompt = JSON.parse(text)._debug_info.rendered_template;
  for (const number of ["-9223372036854775808", "18446744073709551615", "9007199254740993"]) {
    assert(prompt.includes(number), prompt);
  }
});

/** Schemas that allow one number alone, and this number. */
const SCHEMAS: [schema: string, answer: string][] = [
  ['{"const":9007199254740993}', "9007199254740993"],
  ['{"const":12345678901234567890}', "12345678901234567890"],
  ['{"const":0.1234567890123456789}', "0.1234567890123456789"],
  ['{"enum":[-9223372036854775809]}', "-9223372036854775809"],
  [
    '{"type":"integer","minimum":9223372036854775807,"maximum":9223372036854775807}',
    "9223372036854775807",
  ],
  [
    '{"type":"integer","exclusiveMinimum":18446744073709551614,"maximum":1.8446744073709551615e19}',
    "18446744073709551615",
  ],
  [
    '{"type":"number","minimum":1.00000000000000000001,"maximum":1.00000000000000000001}',
    "1.00000000000000000001",
  ],
  [
    '{"type":"integer","multipleOf":9007199254740993,"minimum":9007199254740994,"maximum":18014398509481986}',
    "18014398509481986",
  ],
  ['{"type":"integer","format":"int64","maximum":-9223372036854775808}', "-9223372036854775808"],
];

function formatted(path: string, schema: string): string {
  const messages = '"messages":[{"role":"user","content":"Hi"}]';
  switch (path) {
    case "/api/chat":
      return `{${messages},"format":${schema}}`;
    case "/api/generate":
      return `{"prompt":"Hi","format":${schema}}`;
    case "/v1/chat/completions":
      return `{${messages},"response_format":{"type":"json_schema","json_schema":{"name":"n",
        "schema":${schema}}}}`;
    case "/v1/responses":
      return `{"input":"Hi","text":{"format":{"type":"json_schema","name":"n","schema":${schema}}}}`;
    default:
      return `{${messages},"max_tokens":60,"output_config":{"format":{"type":"json_schema",
        "schema":${schema}}}}`;
  }
}

const PATHS = ["/api/chat", "/api/generate", ...Object.keys(CONVERSATIONS).slice(1)];

for (const path of PATHS) {
  Deno.test(`schemas of ${path} are enforced to the last digit`, async () => {
    for (const [schema, answer] of SCHEMAS) {
      for (const stream of [false, true]) {
        const members = `"model":"plain","stream":${stream},"temperature":1,"options":{"seed":3}`;
        const text = await ask(path, withMembers(formatted(path, schema), members));
        assertEquals(saidIn(text), answer, schema);
      }
    }
  });
}

/** The text of an answer of any API. */
function saidIn(answer: string): string {
  const lines = answer.split("\n").map((line) => line.replace(/^data: /, ""));
  // deno-lint-ignore no-explicit-any
  const records: any[] = lines.filter((line) => line.startsWith("{")).map((line) =>
    JSON.parse(line)
  );
  return records.map((record) => {
    const choice = record.choices?.[0];
    if (choice) return choice.delta?.content ?? choice.message?.content ?? "";
    if (record.type === "response.output_text.delta") return record.delta;
    if (record.output) return record.output.at(-1).content[0].text;
    if (record.type === "content_block_delta") return record.delta.text ?? "";
    if (Array.isArray(record.content)) return record.content.at(-1).text;
    return record.message?.content ?? record.response ?? "";
  }).filter((text) => typeof text === "string").join("");
}

Deno.test("a call of a tool has arguments that its schema allows, to the last digit", async () => {
  const parameters = '{"type":"object","properties":{"id":{"const":9007199254740993},' +
    '"n":{"type":"integer","minimum":18446744073709551615,"maximum":18446744073709551615}},' +
    '"required":["id","n"]}';
  const tool = `{"type":"function","function":{"name":"f","parameters":${parameters}}}`;
  const bodies: Record<string, string> = {
    "/v1/chat/completions": `{"messages":[{"role":"user","content":"Hi"}],"tools":[${tool}],
      "tool_choice":"required","max_tokens":150}`,
    "/v1/messages": `{"messages":[{"role":"user","content":"Hi"}],"max_tokens":150,
      "tools":[{"name":"f","input_schema":${parameters}}],"tool_choice":{"type":"any"}}`,
  };
  for (const [path, body] of Object.entries(bodies)) {
    for (const stream of [true, false]) {
      const text = await ask(path, withMembers(body, `"model":"tools","stream":${stream}`));
      const [first] = argumentsIn(path, text);
      assertMatch(first!, /^\{"id": ?9007199254740993, ?"n": ?18446744073709551615\}$/);
    }
  }
});

Deno.test("arguments that are JSON text have bounds, all calls of a request together", async () => {
  const { post } = createTestApp({ info: { callsTools: true } });
  const ask = async (path: string, texts: string[]) => {
    const calls = texts.map((text, index) => ({
      id: `${index}`,
      function: { name: "f", arguments: text },
    }));
    const body = path === "/v1/responses"
      ? { input: texts.map((text) => ({ type: "function_call", name: "f", arguments: text })) }
      : { messages: [{ role: "assistant", tool_calls: calls }, { role: "user", content: "Hi" }] };
    const response = await post(path, { model: "tiny", stream: false, ...body });
    return [response.status, (await response.json()).error?.message ?? ""];
  };
  const long = `{"a":[${"1.0,".repeat(3e5)}1]}`;
  for (const path of ["/v1/chat/completions", "/v1/responses"]) {
    assertEquals((await ask(path, [long, long, long]))[0], 200);
    const [status, message] = await ask(path, [long, long, long, long]);
    assertEquals(status, 400);
    assertMatch(message, /\[(0|3)\].*arguments: invalid JSON: over \d+ values/);
    assertMatch((await ask(path, [`{"a":${"[".repeat(600)}`]))[1], /nested over 512 levels/);
    assertMatch((await ask(path, ['{"a":01}']))[1], /invalid JSON: "01" at byte 5 is no number/);
  }
});

Deno.test("numbers that are too long or too large are refused, and name the place", async () => {
  for (
    const [schema, words] of [
      ['{"properties":{"a":{"const":1e9999999}}}', /out of range/],
      ['{"properties":{"a":{"const":1e9999}}}', /\/properties\/a.*digits/],
      [`{"const":${"9".repeat(1025)}}`, /is no number/],
    ] as const
  ) {
    const body = withMembers(formatted("/api/chat", schema), '"model":"plain"');
    const response = await app.request("/api/chat", { method: "POST", body });
    assertEquals(response.status, 400);
    assertMatch((await response.json()).error, words);
  }
});
