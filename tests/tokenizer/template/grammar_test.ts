// The grammar of chat templates: precedences, literals, targets and what is refused, with its line.
// What is expected is what Python's jinja2 3.1.6 gives, set up as transformers sets it up, but where
// a test says so.

import { assertEquals, assertThrows } from "@std/assert";
import { ChatTemplateError, createChatTemplate } from "../../../tokenizer/mod.ts";

const variables = { x: "xs", y: 5, d: { a: 1, b: "B" }, l: [1, "a", 3] };

function render(source: string): string {
  return createChatTemplate(source, {}).render({ messages: [], variables });
}

const EXPRESSIONS: Record<string, [expression: string, text: string][]> = {
  "bind operators as Jinja does": [
    ["'a' + 2 ~ 3", "a23"],
    ["1 ~ 2 * 3", "16"],
    ["2 ** 3 ** 2", "64"],
    ["7 // 2 * 2 % 4", "2"],
    ["not 1 == 2", "True"],
    ["not true or true", "True"],
    ["1 in [1] == true", "False"],
    ["1 not in [2] and 3 not in [3]", "False"],
    ["not 1 in [2]", "True"],
    ["1 + 2 is odd", "1"],
    ["-1 | abs", "1"],
    ["-l[0] + 3", "2"],
    ["- -y", "5"],
    ["1 if false else 2 if false else 3", "3"],
    ["'a' ~ 'b' | upper ~ 'c'", "aBc"],
    ["'A' | lower is lower", "True"],
    ["x is string and y is number or nothing", "True"],
    ["y is divisibleby 5 if x is defined else 0", "True"],
    ["100.0 is divisibleby 2", "True"],
    ["y is not eq l[0]", "True"],
    ["y is eq d.a + 4", "4"],
    ["('ab' | list)[1]", "b"],
    ["[1] == [1] == [1] != [2]", "True"],
    ["1 < 3 > 2 >= 2 != 4", "True"],
    ["3 > 2 > 2", "False"],
    ["range(3) | list | length", "3"],
    ["d.items() | list | first | last", "1"],
    ["'%s-%s' | format(1, 2) | length", "3"],
  ],
  "have literals": [
    ["1_000 + 0x1f + 0b11 + 0o17", "1049"],
    ["1e2, 1.5e-3, 2_0.2_5", "(100.0, 0.0015, 20.25)"],
    ["1, 'a'", "(1, 'a')"],
    ["(1,)", "(1,)"],
    ["()", "()"],
    ["(1)", "1"],
    ["[[], {}, ()]", "[[], {}, ()]"],
    ["{'a': 1, 2: none}[2]", "None"],
    ["(1, 2) * 2", "(1, 2, 1, 2)"],
    ["(1, 2) in d", "False"],
    ["'a' \"b\" 'c'", "abc"],
    [
      String.raw`'\x41\u00e9\U0001F600\101\n\t\\\'\"\q\
'`,
      "Aé😀A\n\t\\'\"\\q",
    ],
    ["d.a", "1"],
    ["[[1, 2]].0.1", "2"],
    ["'größe'.upper()", "GRÖSSE"],
    ["l[1:]", "['a', 3]"],
    ["l[:-1], l[::2], l[::-1], l[0:2:1]", "([1, 'a'], [1, 3], [3, 'a', 1], [1, 'a'])"],
    ["true, True, false, False, none, None", "(True, True, False, False, None, None)"],
  ],
};

for (const [title, cases] of Object.entries(EXPRESSIONS)) {
  Deno.test(`expressions of templates ${title}`, () => {
    for (const [expression, expected] of cases) {
      assertEquals(render(`{{ ${expression} }}`), expected, expression);
    }
  });
}

const STATEMENTS: [what: string, source: string, expected: string][] = [
  [
    "assign to names, tuples within tuples, attributes and items (in Jinja to no dictionary)",
    "{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}{% set n = namespace() %}" +
    "{% set n.x = 4 %}{{ n.x }}{% set d.q, d['r'] = 5, 6 %}{{ d.q }}{{ d.r }}",
    "123456",
  ],
  [
    "give a with its values from outside, and a scope",
    "{% set a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}{{ b is defined }}",
    "211False",
  ],
  [
    "break a loop off from within a with",
    "{% for i in range(9) %}{% with %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endwith %}" +
    "{% endfor %}",
    "01",
  ],
  [
    "filter blocks by several filters",
    "{% filter trim | upper %} a {% endfilter %}{% set t | replace('a', 'b') | upper %}a{% endset %}{{ t }}",
    "AB",
  ],
  [
    "loop over tuples, with and without a condition",
    "{% for i in 1, 2, 3 if i is odd %}{{ i }}{% endfor %}{% for i in 1, %}{{ i }}{% endfor %}",
    "131",
  ],
  [
    "loop over a choice (in Jinja it needs parentheses)",
    "{% for i in l if y == 5 else [] %}{{ i }}{% endfor %}{% for i in (l if y else []) %}{{ i }}{% endfor %}",
    "1a31a3",
  ],
  [
    "have any number of branches",
    "{% if 0 %}a{% elif 0 %}b{% elif 1 %}c{% else %}d{% endif %}",
    "c",
  ],
  [
    "end where their mark is, not where a string or a bracket has it",
    "{{ '}}' }}{{ {'a': {'b': '%}'}}.a.b }}{%- if '%}' %}x{% endif -%} {{ [{}] }}",
    "}}%}x[{}]",
  ],
];

for (const [what, source, expected] of STATEMENTS) {
  Deno.test(`statements of templates ${what}`, () => assertEquals(render(source), expected));
}

Deno.test("a chain of comparisons evaluates each value once, and none behind a no", () => {
  const counted = "{% set n = namespace(c=0) %}" +
    "{% macro v(i) %}{% set n.c = n.c + 1 %}{{ i }}{% endmacro %}";
  assertEquals(render(`${counted}{{ v(1) < v(2) < v(3) }}{{ n.c }}`), "True3");
  assertEquals(render(`${counted}{{ v(2) < v(1) < v(3) }}{{ n.c }}`), "False2");
  // One in another in another ... takes no longer than it is.
  assertEquals(render(`{{ ${"1 < (".repeat(60)}3${" < 4) < 9".repeat(60)} }}`), "False");
});

const FAULTS: [source: string, message: string][] = [
  ["a\n{% if x %}b", "line 2: 'if' has no 'endif'"],
  ["{% for i in l %}\n{% else %}\n", "line 1: 'for' has no 'endfor'"],
  ["\n{% endif %}", "line 2: 'endif' ends nothing"],
  ["{% for i in l %}{% endif %}", "line 1: 'endif' ends nothing"],
  ["{% include 'x' %}", "line 1: there is no statement 'include'"],
  ["{{ }}", "line 1: a value is expected, not '}}'"],
  ["{{ 1 2 }}", "line 1: '}}' is expected, not '2'"],
  ["{{ (1 }}", "line 1: a tag has no end"],
  ["{{ [1)] }}", "line 1: ',' is expected, not ')'"],
  ["{{ 1 +\n\n* 2 }}", "line 3: a value is expected, not '*'"],
  ["{{ x. }}", "line 1: a name is expected, not '}}'"],
  ["{% set 1 = 2 %}", "line 1: a name is expected, not '1'"],
  ["{% set f() = 2 %}", "line 1: nothing can be assigned to this"],
  ["{% for in l %}{% endfor %}", "line 1: 'in' is expected, not 'l'"],
  ["{% call x %}{% endcall %}", "line 1: 'call' needs a call"],
  ["{{ 'abc }}", "line 1: a string has no end"],
  ["\n{{ 1 ; 2 }}", "line 2: Unexpected character: ;"],
  ["{% macro m(1) %}{% endmacro %}", "line 1: a name is expected, not '1'"],
  [`\n{{ ${"(".repeat(201)}1${")".repeat(201)} }}`, "line 2: it nests too deeply"],
  [`{{ ${"not ".repeat(300)}1 }}`, "it nests too deeply"],
  [`{{ ${"-".repeat(300)}1 }}`, "it nests too deeply"],
  [`{{ ${"1 if 0 else ".repeat(300)}1 }}`, "it nests too deeply"],
  [`{{ ${"a[".repeat(300)}1${"]".repeat(300)} }}`, "it nests too deeply"],
  ["{% if 1 %}".repeat(300) + "{% endif %}".repeat(300), "it nests too deeply"],
  ["x".repeat(600_000), "it has 600000 characters"],
];

for (const [source, message] of FAULTS) {
  Deno.test(`a template that does not parse says where: ${JSON.stringify(source.slice(0, 60))}`, () => {
    const error = assertThrows(() => render(source), ChatTemplateError, message);
    assertEquals(error.fault, "syntax");
  });
}

Deno.test("what nests as deep as is allowed can be rendered, however long chains are", () => {
  assertEquals(render(`{{ ${"(".repeat(150)}1${")".repeat(150)} }}`), "1");
  assertEquals(render("{% if 1 %}".repeat(90) + "a" + "{% endif %}".repeat(90)), "a");
  const branches = "{% elif 0 %}b".repeat(20_000);
  assertEquals(render(`{% if 0 %}a${branches}{% else %}c{% endif %}`), "c");
  assertEquals(render(`{{ ${"'x' ".repeat(20_000)}}}`).length, 20_000);
});
