// Numbers in chat templates: they print as Python prints what its json.loads() gives, and ints have
// any size. What is expected is what Python's jinja2 3.1.6 gives, set up as transformers sets it
// up; numbers that Python's floats would change are the exception.

import { assertEquals, assertThrows } from "@std/assert";
import {
  ChatTemplateError,
  createChatTemplate,
  JsonNumber,
  parseExactJson,
} from "../../../tokenizer/mod.ts";

function render(source: string, x: unknown): string {
  return createChatTemplate(source, {}).render({ messages: [], variables: { x } });
}

/** Numbers as JSON writes them, and as they print. */
const PRINTED: [json: string, text: string][] = [
  ["0", "0"],
  ["-0", "0"],
  ["-0.0", "-0.0"],
  ["1.0", "1.0"],
  ["1e0", "1.0"],
  ["1E5", "100000.0"],
  ["1e21", "1e+21"],
  ["1e+21", "1e+21"],
  ["1e-7", "1e-07"],
  ["1.50", "1.5"],
  ["100000000000000000000", "100000000000000000000"],
  ["1000000000000000000000", "1000000000000000000000"],
  ["9007199254740991", "9007199254740991"],
  ["9007199254740993", "9007199254740993"],
  ["-9223372036854775808", "-9223372036854775808"],
  ["18446744073709551615", "18446744073709551615"],
  ["18446744073709551616", "18446744073709551616"],
  ["1.8446744073709552e19", "1.8446744073709552e+19"],
  ["123456789012345678901234567890", "123456789012345678901234567890"],
  ["0.1", "0.1"],
  ["0.30000000000000004", "0.30000000000000004"],
  ["1e22", "1e+22"],
  ["12345678.9", "12345678.9"],
  ["1e16", "1e+16"],
  ["1e15", "1000000000000000.0"],
  ["0.0001", "0.0001"],
  ["0.00001", "1e-05"],
  ["5e-324", "5e-324"],
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
  ["-1e-05", "-1e-05"],
  ["2e3", "2000.0"],
  // Python prints Infinity, 0.0 and 0.12345678901234568: a prompt loses no digits.
  ["1e400", "1e400"],
  ["1e-400", "1e-400"],
  ["0.1234567890123456789012", "0.1234567890123456789012"],
];

Deno.test("numbers print as Python prints them, and never lose digits", () => {
  for (const [json, text] of PRINTED) {
    const number = parseExactJson(json);
    assertEquals(render("{{ x }}", number), text, json);
    assertEquals(render("{{ x | tojson }}", { n: [number] }), `{"n": [${text}]}`, json);
    assertEquals(render("{{ x }}", [number]), `[${text}]`, json);
    assertEquals(render("{{ x | string }}", structuredClone(number)), text, json);
    assertEquals(render("{{ (x | from_json).n | tojson }}", `{"n":${json}}`), text, json);
  }
});

Deno.test("numbers of JavaScript print as those of the same JSON", () => {
  for (
    const number of [1, -1, 0.5, 1e21, 1e-7, 2 ** 53, 2 ** 63, 2 ** 69, 1e20, 5e-324, 1.5e300]
  ) {
    const json = JSON.stringify(number);
    assertEquals(render("{{ x }}", number), render("{{ x }}", parseExactJson(json)), json);
  }
  assertEquals(render("{{ x | tojson }}", 2n ** 70n), "1180591620717411303424");
  assertEquals(render("{{ x is integer }} {{ x + 1 }}", 5n), "True 6");
});

/** What expressions give where b is 2^53 + 1, and m is -2^64 - 1. */
const COMPUTED: [expression: string, text: string][] = [
  ["b + 1", "9007199254740994"],
  ["b - 1", "9007199254740992"],
  ["b * b", "81129638414606699710187514626049"],
  ["b // 10", "900719925474099"],
  ["m // 10", "-1844674407370955162"],
  ["m % 10", "3"],
  ["b % 10", "3"],
  ["-b", "-9007199254740993"],
  ["b ** 2", "81129638414606699710187514626049"],
  ["b / 2", "4503599627370496.0"],
  ["b == 9007199254740992", "False"],
  ["b == 9007199254740993", "True"],
  ["b > 9007199254740992", "True"],
  ["b < 9007199254740993.0", "False"],
  ["b in [9007199254740992]", "False"],
  ["b | abs", "9007199254740993"],
  ["m | abs", "18446744073709551617"],
  ["b | int", "9007199254740993"],
  ["b | float", "9007199254740992.0"],
  ["b | round", "9007199254740993"],
  ["b | string", "9007199254740993"],
  ["'%d' % b", "9007199254740993"],
  ["'%x' % b", "20000000000001"],
  ["'{:,}'.format(b)", "9,007,199,254,740,993"],
  ["b is odd", "True"],
  ["b is even", "False"],
  ["m is odd", "True"],
  ["b is integer", "True"],
  ["b is number", "True"],
  ["b is divisibleby 3", "True"],
  ["[b, 1] | max", "9007199254740993"],
  ["[b, 1] | sum", "9007199254740994"],
  ["[m, b, 0] | sort", "[-18446744073709551617, 0, 9007199254740993]"],
  ["{b: 1}[b]", "1"],
  ["9007199254740991 + 2", "9007199254740993"],
  ["9007199254740991 * 9007199254740991", "81129638414606663681390495662081"],
  ["2 ** 64", "18446744073709551616"],
  ["12345678901234567890", "12345678901234567890"],
  ["'12345678901234567890' | int", "12345678901234567890"],
  [
    "1e300 | int",
    "1000000000000000052504760255204420248704468581108159154915854115511802457988908195786371375080447864043704443832883878176942523235360430575644792184786706982848387200926575803737830233794788090059368953234970799945081119038967640880074652742780142494579258788820056842838115669472196386865459400540160",
  ],
  ["b and 1", "1"],
  ["b ~ ''", "9007199254740993"],
  ["b // 3", "3002399751580331"],
  ["-7 // 2", "-4"],
  ["m // -10", "1844674407370955161"],
  ["m % -10", "-7"],
  ["true + b", "9007199254740994"],
  ["3 * b", "27021597764222979"],
  ["b // 1.0", "9007199254740992.0"],
  ["10 ** 30", "1000000000000000000000000000000"],
  ["-3 is odd", "True"],
  ["-3 is even", "False"],
  ["2.0 is even", "True"],
  ["3.0 is odd", "True"],
  ["(2 ** 64) % 10", "6"],
  ["b == b + 0", "True"],
  ["b - b", "0"],
  ["b != 1", "True"],
];

Deno.test("ints compute and compare exactly, whatever their size", () => {
  const variables = parseExactJson('{"b":9007199254740993,"m":-18446744073709551617,"f":1.0}');
  for (const [expression, text] of COMPUTED) {
    const template = createChatTemplate(`{{ ${expression} }}`, {});
    const shown = template.render({
      messages: [],
      variables: variables as Record<string, unknown>,
    });
    assertEquals(shown, text, expression);
  }
});

Deno.test("ints are refused beyond the digits that Python prints", () => {
  const squares = "{% set n = namespace(x=x) %}{% for i in range(40) %}" +
    "{% set n.x = n.x * n.x %}{% endfor %}{{ n.x }}";
  for (const source of [squares, "{{ 10 ** 4400 }}", "{{ 2 ** x }}", "{{ x ** x }}"]) {
    const fault = assertThrows(
      () => render(source, new JsonNumber("98765432109876543210")),
      ChatTemplateError,
    );
    assertEquals(fault.fault, "failed", source);
  }
  assertEquals(render("{{ 10 ** 1000 }}", 0), "1" + "0".repeat(1000));
});

Deno.test("numbers in calls and tools reach the prompt as they are", () => {
  const source = "{{ tools[0].function.parameters | tojson }} " +
    "{{ messages[0].tool_calls[0].function.arguments | tojson }}";
  const parameters = '{"type": "object", "properties": {"n": {"maximum": 18446744073709551615, ' +
    '"multipleOf": 0.10, "default": 1.0, "enum": [1e21, 9007199254740993]}}}';
  const given = '{"n": 9007199254740993, "list": [1.0, -0, 1E2]}';
  const prompt = createChatTemplate(source, {}).render({
    messages: [{
      role: "assistant",
      tool_calls: [{ function: { name: "f", arguments: parseExactJson(given) } }],
    }],
    tools: [{ type: "function", function: { name: "f", parameters: parseExactJson(parameters) } }],
  });
  assertEquals(
    prompt,
    parameters.replace("0.10", "0.1").replace("1e21", "1e+21") + " " +
      given.replace("-0", "0").replace("1E2", "100.0"),
  );
});
