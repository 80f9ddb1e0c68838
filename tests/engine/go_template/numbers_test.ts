// Numbers in Go templates: Ollama reads each number of JSON as a float64, and what is expected is
// what Go prints of that. Only where the float64 is another number, it prints as it was written.

import { assertEquals } from "@std/assert";
import { createGoTemplate, renderGoChat, toGoValue } from "../../../engine/go_template/mod.ts";
import { parseExactJson } from "../../../tokenizer/mod.ts";

/** Numbers as they are written in JSON, as Go's encoding/json writes them, and as fmt prints them. */
const PRINTED: [written: string, json: string, text: string][] = [
  ["1", "1", "1"],
  ["1.0", "1", "1"],
  ["-0", "-0", "-0"],
  ["0.50", "0.5", "0.5"],
  ["1e2", "100", "100"],
  ["1e-7", "1e-7", "1e-07"],
  ["1000000", "1000000", "1e+06"],
  ["1e20", "100000000000000000000", "1e+20"],
  ["1e21", "1e+21", "1e+21"],
  ["1.8446744073709552e19", "18446744073709552000", "1.8446744073709552e+19"],
  ["9007199254740993", "9007199254740993", "9007199254740993"],
  ["-9223372036854775808", "-9223372036854775808", "-9223372036854775808"],
  ["18446744073709551615", "18446744073709551615", "18446744073709551615"],
  ["0.1234567890123456789", "0.1234567890123456789", "0.1234567890123456789"],
  ["1e400", "1e400", "1e400"],
  ["1e-400", "1e-400", "1e-400"],
];

Deno.test("numbers print as Go's, and never lose digits", () => {
  const template = createGoTemplate("{{ json .X }} {{ .X }} {{ printf `%v` .X }}{{ .Response }}");
  for (const [written, json, text] of PRINTED) {
    const expected = `${json} ${text} ${text}`;
    for (const number of [parseExactJson(written), structuredClone(parseExactJson(written))]) {
      assertEquals(template.render({ X: toGoValue(number), Response: "" }), expected, written);
    }
  }
  assertEquals(
    template.render({ X: toGoValue(2n ** 64n), Response: "" }).split(" ")[0],
    `${2n ** 64n}`,
  );
});

Deno.test("numbers of calls and tools reach the prompt as they are", () => {
  const source = "{{ .Tools }} {{ range .Messages }}{{ range .ToolCalls }}" +
    "{{ .Function.Arguments }}{{ end }}{{ end }}";
  const parameters = '{"type":"object","properties":{"n":{"type":"integer","enum":[' +
    '9007199254740993,1.5],"maximum":18446744073709551615}}}';
  const given = '{"n":9007199254740993,"of":[-9223372036854775808]}';
  const prompt = renderGoChat(createGoTemplate(source), {
    messages: [{
      role: "assistant",
      content: "",
      toolCalls: [{
        function: { name: "f", arguments: parseExactJson(given) as Record<string, unknown> },
      }],
    }],
    tools: [{
      type: "function",
      function: {
        name: "f",
        parameters: structuredClone(parseExactJson(parameters)) as Record<string, unknown>,
      },
    }],
  });
  assertEquals(
    prompt,
    `[{"type":"function","function":{"name":"f","description":"","parameters":${parameters}}}] ${given}`,
  );
});
