// Chat templates: what they are given, what they may refuse, and real ones against their texts.

import { assertEquals, assertNotEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ChatTemplateError, createChatTemplate } from "../../../tokenizer/mod.ts";
import { dataNote, dataRoot, hasData } from "../vocabularies.ts";

const tokens = { bos: "<s>", eos: "</s>" };
const messages = [{ role: "user", content: "Hi" }];

function render(source: string, input: object = {}): string {
  return createChatTemplate(source, tokens).render({ messages, ...input });
}

Deno.test("render() gives messages, bos_token, eos_token and add_generation_prompt", () => {
  const source = "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m['content'] }}" +
    "{{ eos_token }}{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}";
  assertEquals(render(source), "<s>user: Hi</s>");
  assertEquals(render(source, { addGenerationPrompt: true }), "<s>user: Hi</s>assistant:");
});

Deno.test("render() trims blocks and the space before them", () => {
  assertEquals(render("a\n  {% if true %}\nb\n  {% endif %}\nc"), "a\nb\nc");
});

Deno.test("render() gives tools as JSON, and none for an empty list", () => {
  const source = "{% if tools is none %}no tools{% else %}{{ tools | tojson }}{% endif %}";
  assertEquals(render(source), "no tools");
  assertEquals(render(source, { tools: [] }), "no tools");
  assertEquals(render(source, { tools: [{ name: "<é>" }] }), '[{"name": "<é>"}]');
});

Deno.test("render() gives an empty list to templates that loop over tools unasked", () => {
  assertEquals(render("{% for tool in tools %}{{ tool }}{% endfor %}done"), "done");
});

Deno.test("render() lets variables win", () => {
  const variables = { bos_token: "!", enable_thinking: false };
  assertEquals(render("{{ bos_token }}{{ enable_thinking }}", { variables }), "!False");
});

Deno.test("render() takes strftime_now from the clock", () => {
  const clock = () => new Date(2025, 6, 5, 14, 3, 9);
  const template = createChatTemplate(
    "{{ strftime_now('%d %b %Y|%-d %B %y|%A %a|%I:%M %p|%H:%M:%S|%F|%D %R %j|%%|%Q') }}",
    tokens,
    { clock },
  );
  const expected =
    "05 Jul 2025|5 July 25|Saturday Sat|02:03 PM|14:03:09|2025-07-05|07/05/25 14:03 186|%|%Q";
  assertEquals(template.render({ messages }), expected);
});

Deno.test("render() raises what the template raises as a refusal", () => {
  const source = "{{ raise_exception('Roles must alternate') }}";
  const error = assertThrows(() => render(source), ChatTemplateError);
  assertEquals([error.fault, error.message], ["refused", "Roles must alternate"]);
});

Deno.test("createChatTemplate() says where a template does not parse", () => {
  const error = assertThrows(() => createChatTemplate("{% if %}", tokens), ChatTemplateError);
  assertEquals(error.fault, "syntax");
  assertStringIncludes(error.message, "Cannot parse the chat template: ");
});

Deno.test("render() fails on filters that do not exist and on lists that fill the memory", () => {
  for (const source of ["{{ 'a' | nonsense }}", "{{ range(1000000000) | length }}"]) {
    const error = assertThrows(() => render(source), ChatTemplateError, "Cannot run");
    assertEquals(error.fault, "failed");
  }
});

Deno.test("render() does not change what it is given, and can run again", () => {
  const template = createChatTemplate("{% set x = messages[0].content %}{{ x }}", tokens);
  const frozen = { messages: [Object.freeze({ role: "user", content: "Hi" })] };
  assertEquals(template.render(frozen) + template.render(frozen), "HiHi");
});

const call = { id: "1", type: "function", function: { name: "f", arguments: { x: "é" } } };
const callers = [{ role: "assistant", content: null, tool_calls: [call] }];

Deno.test("render() gives calls their arguments as an object, or as text where that fails", () => {
  const given = (expression: string) =>
    render(`{% set c = messages[0].tool_calls[0].function %}{{ ${expression} }}`, {
      messages: callers,
    });
  assertEquals(given("c.arguments"), "{'x': 'é'}");
  assertEquals(given("c.arguments | tojson"), '{"x": "é"}');
  assertEquals(given("c.name + c.arguments"), 'f{"x": "é"}');
});

Deno.test("render() gives functions as text only to a template that fails without", () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  assertEquals(render("{{ functions is defined }}", { tools }), "False");
  assertEquals(
    render("{{ 'F: ' + functions }}", { tools }),
    'F: [\n    {\n        "name": "f"\n    }\n]',
  );
});

Deno.test("render() lets macros see their caller's names only where a template fails without", () => {
  const loop = "{% for name in ['a', 'b'] %}{{ m() }}{% endfor %}";
  assertEquals(
    render(`{% macro m() %}{{ name is defined }};{% endmacro %}${loop}`),
    "False;False;",
  );
  assertEquals(render(`{% macro m() %}{{ name + ';' }}{% endmacro %}${loop}`), "a;b;");
  assertEquals(render("{{ nothing.at.all is defined }}"), "False");
});

Deno.test("render() says why the first way to run a template failed", () => {
  assertThrows(() => render("{{ tools + 1 }}"), ChatTemplateError, "'NoneType' and 'int'");
});

interface Case {
  name: string;
  chat_template: string;
  data: Record<string, unknown> & { messages: unknown[] };
  target: string;
}

Deno.test({
  name: `render() matches transformers for the templates of 53 models${dataNote}`,
  ignore: !hasData,
  async fn(test) {
    const text = await Deno.readTextFile(new URL("templates/cases.json", dataRoot));
    const { system_time, cases } = JSON.parse(text) as { system_time: string; cases: Case[] };
    assertEquals(cases.length, 53);
    for (const { name, chat_template, data, target } of cases) {
      await test.step(name, () => {
        const { messages, tools, bos_token, eos_token, add_generation_prompt, ...variables } = data;
        const template = createChatTemplate(
          chat_template,
          { bos: bos_token as string, eos: eos_token as string },
          { clock: () => new Date(system_time) },
        );
        const addGenerationPrompt = add_generation_prompt as boolean | undefined;
        const input = { messages, tools: tools as unknown[], addGenerationPrompt, variables };
        assertEquals(template.render(input), target);
      });
    }
  },
});

const question = [{ role: "user", content: "Wie spät ist es?" }];
const offers = [{
  type: "function",
  function: {
    name: "clock",
    description: "Tells the time",
    parameters: {
      type: "object",
      properties: { zone: { type: "string", description: "Where", enum: ["UTC", "CET"] } },
      required: ["zone"],
    },
  },
}];
const answers = [
  ...question,
  {
    role: "assistant",
    content: "",
    tool_calls: [{
      id: "abcdef123",
      type: "function",
      function: { name: "clock", arguments: { zone: "UTC" } },
    }],
  },
  { role: "tool", content: "12:00", name: "clock", tool_call_id: "abcdef123" },
];

/** A prompt, or what the template itself says against the conversation. */
function promptOrRefusal(render: () => string): string {
  try {
    return render();
  } catch (error) {
    if (error instanceof ChatTemplateError && error.fault === "refused") return error.message;
    throw error;
  }
}

Deno.test({
  name: `render() fails on no template there is, with or without tools and thoughts${dataNote}`,
  ignore: !hasData,
  async fn(test) {
    const folder = new URL("templates/", dataRoot);
    for await (const { name } of Deno.readDir(folder)) {
      if (!name.endsWith(".jinja")) continue;
      await test.step(name, async () => {
        const template = createChatTemplate(await Deno.readTextFile(new URL(name, folder)), tokens);
        for (const variables of [{}, { enable_thinking: true }, { enable_thinking: false }]) {
          for (const tools of [[], offers]) {
            const input = { tools, addGenerationPrompt: true, variables };
            assertStringIncludes(template.render({ ...input, messages: question }), "Wie spät");
            const prompt = promptOrRefusal(() => template.render({ ...input, messages: answers }));
            assertNotEquals(prompt, "");
          }
        }
      });
    }
  },
});
