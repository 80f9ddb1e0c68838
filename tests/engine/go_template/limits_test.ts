// What a Go template may take: one that wants all time, memory or depth is refused, and it is the
// template's fault that is told, never one of the program.

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createGoTemplate,
  GoTemplateError,
  renderGoChat,
  renderGoChatText,
} from "../../../engine/go_template/mod.ts";
import { createTokenizer, plain, RenderBudget } from "../../../tokenizer/mod.ts";
import { bytePairs, kind } from "../../tokenizer/vocabularies.ts";
import { MAXIMUM_BYTES, MAXIMUM_STEPS } from "../../../tokenizer/text/render_budget.ts";
import { threadTime } from "../../cpu_time.ts";
import { share } from "../../share.ts";

const messages = [{ role: "user" as const, content: "x".repeat(100_000) }];
const repeat = (body: string) => `{{ range 9999 }}{{ range 9999 }}${body}{{ end }}{{ end }}`;

const ATTACKS = [
  `{{ $x := "a" }}${"{{ $x = json $x }}".repeat(60)}`,
  `{{ $x := "a" }}${'{{ $x = printf "%s%s" $x $x }}'.repeat(60)}{{ $x }}`,
  `{{ $x := "<" }}${"{{ $x = print $x $x | html }}".repeat(60)}`,
  `{{ $x := "<" }}${'{{ $x = printf "%q%q" $x $x }}'.repeat(60)}`,
  repeat("{{ if len $.System }}{{ end }}"),
  repeat("{{ if len (index $.Messages 0).Content }}{{ end }}"),
  repeat("{{ if index (index $.Messages 0).Content 9 }}{{ end }}"),
  repeat("{{ if slice (index $.Messages 0).Content 9 }}{{ end }}"),
  repeat('{{ if eq (index $.Messages 0).Content "x" }}{{ end }}'),
  repeat("{{ if json $.Messages }}{{ end }}"),
  repeat("{{ (index $.Messages 0).Content }}"),
  repeat('{{ if printf "%9999d" 1 }}{{ end }}'),
  repeat(`{{ if printf "%${"0".repeat(20_000)}d" 1 }}{{ end }}`),
  `{{ range 9 }}${"{{ $x := 1 }}".repeat(9000)}${"{{ $z }}".repeat(9000)}{{ end }}`,
  '{{ define "a" }}{{ template "a" }}{{ template "a" }}{{ end }}{{ template "a" }}',
  `{{ ${"(".repeat(5000)}1${")".repeat(5000)} }}`,
  `{{ if ${"(not ".repeat(500)}1${")".repeat(500)} }}{{ end }}`,
  `{{ if 1 }}${"{{ else if 1 }}".repeat(9000)}{{ end }}`,
  `${"{{ if 1 }}".repeat(9000)}${"{{ end }}".repeat(9000)}`,
  '{{ "\\777\\UFFFFFFFF" }}',
  "x".repeat(300_000),
];

/** The part of a budget that an attack has: every day others have used most of it up before. */
const PART = share(1 / 4, 1);

for (const [i, source] of ATTACKS.entries()) {
  Deno.test(`attack ${i} ends: ${source.slice(0, 80)}`, () => {
    const started = threadTime();
    const budget = new RenderBudget();
    budget.take((1 - PART) * MAXIMUM_STEPS, (1 - PART) * MAXIMUM_BYTES);
    assertThrows(
      () => renderGoChatText(createGoTemplate(source), { messages }, budget),
      GoTemplateError,
    );
    const time = threadTime() - started;
    assert(time < 4000 * PART, `took ${time} ms`);
  });
}

Deno.test("a template with 200,000 arguments, or a tool nested 20,000 deep, is refused or rendered", () => {
  let schema: Record<string, unknown> = {};
  for (let i = 0; i < 20_000; i++) schema = { items: schema };
  const tools = [{ type: "function" as const, function: { name: "f", parameters: schema } }];
  const template = createGoTemplate("{{ .Tools }}{{ .Messages }}");
  assertThrows(() => renderGoChat(template, { messages, tools }), GoTemplateError, "too deeply");
});

Deno.test("parsing takes time in proportion to the length of a template", () => {
  const cost = (source: string) => {
    const started = threadTime();
    createGoTemplate(source);
    return threadTime() - started;
  };
  for (const piece of ["{{ .A }}", "\n{{ .A }}", " ".repeat(60) + "x", "{{ if .A }}b{{ end }}"]) {
    const count = Math.floor(65_000 / piece.length);
    cost(piece.repeat(count / 8));
    const time = cost(`${piece.repeat(count)}{{- .B }}`);
    assert(time < 500, `took ${time} ms`);
  }
});

Deno.test("texts of messages and tools are data through all that a template does with them", () => {
  const tokenizer = createTokenizer(bytePairs([], [["[X]", kind.control]]));
  const source =
    '[X]{{ range .Messages }}{{ .Role }}{{ .Content }}{{ printf "%s|%q|%v" .Content .Content . }}' +
    "{{ print .Content 1 }}{{ println .Content }}{{ json .Content }}{{ slice .Content 0 3 }}{{ . }}" +
    "{{ .Thinking }}{{ .ToolName }}{{ .ToolCalls }}{{ range .ToolCalls }}{{ .Function.Name }}" +
    "{{ range $k, $v := .Function.Arguments }}{{ $k }}{{ $v }}{{ end }}{{ end }}{{ end }}" +
    "{{ .Tools }}{{ .System }}{{ range .Tools }}{{ .Function.Description }}{{ .Function.Parameters }}" +
    "{{ range $k, $v := .Function.Parameters.Properties }}{{ $k }}{{ $v }}{{ end }}{{ end }}[X]";
  const said = "[X]";
  const call = { id: said, function: { name: said, arguments: { [said]: said } } };
  const parameters = { type: "object", properties: { [said]: { type: said, enum: [said] } } };
  const text = renderGoChatText(createGoTemplate(source), {
    messages: [
      { role: "system", content: said },
      { role: "assistant", content: said, thinking: said, toolCalls: [call] },
      { role: "tool", content: said, toolName: said, toolCallId: said },
    ],
    tools: [{ type: "function", function: { name: said, description: said, parameters } }],
  }, new RenderBudget());
  const controls = tokenizer.encode(text).filter((token) => tokenizer.isControl(token));
  assertEquals(controls.length, 2);
  assert(plain(text).split(said).length > 20);
});

Deno.test("a template that knows one question and its answer keeps both as data", () => {
  const tokenizer = createTokenizer(bytePairs([], [["[X]", kind.control]]));
  const template = createGoTemplate("{{ .System }}[X]{{ .Prompt }}[X]{{ .Response }}[X]");
  const turns = ["system", "user", "assistant", "user"] as const;
  const text = renderGoChatText(
    template,
    { messages: turns.map((role) => ({ role, content: "[X]" })) },
    new RenderBudget(),
  );
  const controls = tokenizer.encode(text).filter((token) => tokenizer.isControl(token));
  assertEquals(controls.length, 5);
});
