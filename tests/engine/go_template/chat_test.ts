// Prompts by Go templates: what a conversation looks like to them, and how templates that know
// only one question and its answer are rendered turn by turn.

import { assertEquals } from "@std/assert";
import {
  createGoTemplate,
  type GoChat,
  renderGoChat,
  renderGoFillInMiddle,
} from "../../../engine/go_template/mod.ts";
import type { ChatMessage, Tool } from "../../../engine/types/mod.ts";

const conversation: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Hi" },
  { role: "assistant", content: "Hello." },
  { role: "user", content: "Bye" },
];

const weather: Tool = {
  type: "function",
  function: {
    name: "weather",
    description: "Now & later",
    parameters: {
      type: "object",
      properties: {
        unit: { enum: ["c", "f"], type: "string" },
        city: { type: ["string", "null"], description: "Which" },
        when: { anyOf: [{ type: "integer" }, { type: "array" }] },
      },
      required: ["city"],
      additionalProperties: false,
    },
  },
};

function render(source: string, chat: Partial<GoChat> = {}): string {
  return renderGoChat(createGoTemplate(source), { messages: conversation, ...chat });
}

Deno.test("renderGoChat() gives the messages, and all system messages at once", () => {
  const source = "{{ .System }}|{{ range .Messages }}{{ .Role }}:{{ .Content }};{{ end }}";
  const messages: ChatMessage[] = [...conversation, { role: "system", content: "Be kind." }];
  assertEquals(
    render(source, { messages }),
    "Be brief.\n\nBe kind.|system:Be brief.;user:Hi;assistant:Hello.;user:Bye;system:Be kind.;",
  );
});

Deno.test("renderGoChat() makes neighbors of the same role one, but for tools", () => {
  const messages: ChatMessage[] = [
    { role: "user", content: "a" },
    { role: "user", content: "b" },
    { role: "tool", content: "c", toolName: "x", toolCallId: "1" },
    { role: "tool", content: "d" },
  ];
  const source = "{{ range .Messages }}{{ .Content }}({{ .ToolName }}{{ .ToolCallID }});{{ end }}";
  assertEquals(render(source, { messages }), "a\n\nb();c(x1);d();");
});

Deno.test("renderGoChat() loses nothing of an assistant's neighboring messages, nor their order", () => {
  const call = (name: string) => ({ function: { name, arguments: {} } });
  const source = "{{ range .Messages }}{{ .Role }}[{{ .Thinking }}|{{ .Content }}|" +
    "{{ range .ToolCalls }}{{ .Function.Name }};{{ end }}]{{ end }}";
  const assistant = (...parts: Omit<ChatMessage, "role">[]) =>
    render(source, {
      messages: [
        { role: "user", content: "Hi" },
        ...parts.map((part): ChatMessage => ({ role: "assistant", ...part })),
      ],
    }).replace("user[|Hi|]", "").replaceAll("assistant", "");
  const [a, b] = [call("a"), call("b")];
  assertEquals(
    assistant({ content: "Look." }, { content: "Now.", toolCalls: [a] }),
    "[|Look.\n\nNow.|a;]",
  );
  assertEquals(
    assistant({ content: "", toolCalls: [a] }, { content: "", toolCalls: [b] }),
    "[||a;b;]",
  );
  assertEquals(
    assistant({ content: "", thinking: "Hm." }, { content: "", thinking: "So." }, {
      content: "It",
    }),
    "[Hm.\n\nSo.|It|]",
  );
  assertEquals(
    assistant({ content: "Look." }, { content: "Now.", thinking: "Hm.", toolCalls: [a] }),
    "[|Look.|][Hm.|Now.|a;]",
  );
  assertEquals(
    assistant({ content: "Look.", toolCalls: [a] }, { content: "Done." }),
    "[|Look.|a;][|Done.|]",
  );
  const turns = "{{ .Prompt }}={{ .Response }};";
  const messages: ChatMessage[] = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Look.", toolCalls: [a] },
    { role: "tool", content: "1" },
    { role: "assistant", content: "Done." },
    { role: "user", content: "Bye" },
  ];
  assertEquals(render(turns, { messages }), "Hi=Look.\n\nDone.;Bye=");
});

Deno.test("renderGoChat() gives tools as JSON and as parts, and none for an empty list", () => {
  const source = "{{ range .Messages }}{{ end }}{{ if .Tools }}{{ .Tools }}{{ else }}none{{ end }}";
  assertEquals(render(source, { tools: [] }), "none");
  const parameters = '{"type":"object","required":["city"],"properties":{' +
    '"city":{"type":["string","null"],"description":"Which"},' +
    '"unit":{"type":"string","enum":["c","f"]},' +
    '"when":{"anyOf":[{"type":"integer"},{"type":"array"}]}},"additionalProperties":false}';
  const offered = `{"name":"weather","description":"Now \\u0026 later","parameters":${parameters}}`;
  assertEquals(
    render(source, { tools: [weather] }),
    `[{"type":"function","function":${offered}}]`,
  );
  const parts = "{{ range .Messages }}{{ end }}{{ range .Tools }}{{ .Function }}" +
    "{{ range $name, $it := .Function.Parameters.Properties }}\n{{ $name }}: " +
    "{{ toTypeScriptType $it }}|{{ $it.Type }}|{{ $it.Enum }}|{{ len $it.Type }}{{ end }}{{ end }}";
  assertEquals(
    render(parts, { tools: [weather] }),
    `${offered}\ncity: string | null|[string null]|[]|2\nunit: string|string|[c f]|1\n` +
      "when: number | any[]||[]|0",
  );
});

Deno.test("renderGoChat() gives thoughts and the calls of tools", () => {
  const messages: ChatMessage[] = [{
    role: "assistant",
    content: "",
    thinking: "hm",
    toolCalls: [
      { id: "7", function: { name: "f", arguments: { z: 1, a: "<b>", deep: { y: 2, x: null } } } },
      { function: { name: "g", arguments: {} } },
    ],
  }];
  const source = "{{ range .Messages }}{{ .Thinking }}{{ range .ToolCalls }};{{ .ID }} " +
    "{{ .Function.Index }} {{ .Function.Name }} {{ .Function.Arguments }}" +
    "{{ range $k, $v := .Function.Arguments }} {{ $k }}={{ $v }}{{ end }}{{ end }}{{ end }}";
  assertEquals(
    render(source, { messages }),
    'hm;7 0 f {"a":"\\u003cb\\u003e","deep":{"x":null,"y":2},"z":1} a=<b> ' +
      "deep=map[x:<nil> y:2] z=1; 1 g {}",
  );
});

Deno.test("renderGoChat() says whether and how hard to think", () => {
  const source = "{{ range .Messages }}{{ end }}{{ .IsThinkSet }} {{ .Think }} {{ .ThinkLevel }}";
  const thoughts = [undefined, false, true, "low"] as const;
  assertEquals(thoughts.map((think) => render(source, { think })), [
    "false false ",
    "true false ",
    "true true medium",
    "true true low",
  ]);
});

Deno.test("renderGoChat() renders a template without messages turn by turn", () => {
  const source =
    "{{ if .System }}<{{ .System }}>{{ end }}{{ if .Prompt }}Q:{{ .Prompt }}\n{{ end }}" +
    "A:{{ .Response }}.\n";
  assertEquals(render(source), "<Be brief.>Q:Hi\nA:Hello..\nQ:Bye\nA:");
});

Deno.test("renderGoChat() leaves out what stands behind the answer, also within branches", () => {
  const source = "{{ if .Prompt }}Q:{{ .Prompt }} A:{{ .Response }}!{{ else }}E{{ end }}tail";
  assertEquals(render(source), "Q:Hi A:Hello.!tailQ:Bye A:");
});

Deno.test("renderGoChat() adds the answer to a template that has no place for it", () => {
  assertEquals(render("[{{ .Prompt }}]"), "[Hi]Hello.[Bye]");
});

Deno.test("renderGoFillInMiddle() gives both sides of the gap", () => {
  const template = createGoTemplate(
    "{{ if .Suffix }}<PRE>{{ .Prompt }}<SUF>{{ .Suffix }}<MID>{{ else }}{{ .Prompt }}{{ end }}",
  );
  assertEquals(
    renderGoFillInMiddle(template, { prompt: "a", suffix: "b" }),
    "<PRE>a<SUF>b<MID>",
  );
});
