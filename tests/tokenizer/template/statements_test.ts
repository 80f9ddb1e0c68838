// The statements of chat templates, their scopes and the white space around them. What is expected
// is what Python's jinja2 3.1.6 gives, set up as transformers sets it up, but where a test says so.

import { assertEquals, assertThrows } from "@std/assert";
import { ChatTemplateError, createChatTemplate } from "../../../tokenizer/mod.ts";

const variables = { d: { a: 1, s: "x" } };

function render(source: string): string {
  return createChatTemplate(source, {}).render({ messages: [], variables });
}

const CASES: [what: string, source: string, expected: string][] = [
  [
    "gives every pass of a loop its place",
    "{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}" +
    "{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.previtem }}{{ loop.nextitem }}" +
    "{{ loop.cycle('a', 'b') }}{{ loop.changed(i // 2) }}{{ loop.depth }};{% endfor %}",
    "10TrueFalse3322aTrue1;21FalseFalse32113bTrue1;32FalseTrue3102aFalse1;",
  ],
  [
    "filters loops and has an else for empty ones",
    "{% for i in range(5) if i is odd %}{{ i }}{{ loop.index }}{% endfor %}" +
    "{% for i in [] %}x{% else %}empty{% endfor %}{% for i in nothing %}x{% else %}none{% endfor %}",
    "1132emptynone",
  ],
  [
    "keeps what a pass printed before it breaks off",
    "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}" +
    "{% if i == 4 %}!{% break %}{% endif %},{% endfor %}",
    "0,1,3,4!",
  ],
  [
    "forgets what a pass sets, but not what a branch sets",
    "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}" +
    "{% if true %}{% set x = 9 %}{% endif %}{{ x }}",
    "121319",
  ],
  [
    "changes namespaces from within loops",
    "{% set ns = namespace(a=1, b='x') %}{% for i in [1, 2] %}{% set ns.a = ns.a + i %}{% endfor %}" +
    "{{ ns.a }}{{ ns.b }}{{ ns.c is defined }}{{ namespace({'k': 1}).k }}",
    "4xFalse1",
  ],
  [
    "unpacks pairs, and loops over dictionaries and texts",
    "{% for a, b in [(1, 2), [3, 4]] %}{{ a }}{{ b }}{% endfor %}{% for k, v in d.items() %}" +
    "{{ k }}={{ v }};{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% for c in 'a😀' %}{{ c }}.{% endfor %}",
    "1234a=1;s=x;asa.😀.",
  ],
  [
    "visits trees by recursive loops",
    "{% for i in [1, [2, [3]]] recursive %}{{ i if i is number else '(' ~ loop(i) ~ ')' }}" +
    "{{ loop.depth }}{% endfor %}",
    "11(22(33)2)1",
  ],
  [
    "calls macros by position and by name",
    "{% macro m(a, b='B', c=a) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}" +
    "{{ m(1) }}{{ m(1, 2) }}{{ m(b=1, a=2) }}{{ m() }}{{ m(1, c=3) }}",
    "[1B1][121][212][B][1B3]",
  ],
  [
    "gives macros all further arguments",
    "{% macro v() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ v(1, 2, x=3) }}",
    "(1, 2){'x': 3}",
  ],
  [
    "lets macros call themselves and see the names around their definition",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}" +
    "{% set g = 1 %}{% macro r() %}{{ g }}{% endmacro %}" +
    "{% for i in [1] %}{% set g = 5 %}{{ r() }}{% endfor %}{% set g = 2 %}{{ r() }}",
    "321012",
  ],
  [
    "hands blocks to macros",
    "{% macro w(t) %}<{{ t }}>{{ caller('z') }}</{{ t }}>{% endmacro %}" +
    "{% call(q) w('b') %}in{{ q }}{% endcall %}",
    "<b>inz</b>",
  ],
  [
    "captures and filters blocks",
    "{% set t %}a{{ 1 }}b{% endset %}{{ t }}{{ t | length }}{% set u | upper %}abc{% endset %}{{ u }}" +
    "{% filter upper %}x{{ 'y' }}{% endfilter %}",
    "a1b3ABCXY",
  ],
  [
    "has scopes of their own, raw text and generation blocks",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}" +
    "{% raw %}{{ not }} {% if %}{% endraw %}{% generation %}g{{ 1 }}{% endgeneration %}",
    "12False{{ not }} {% if %}g1",
  ],
  [
    "sets several names at once",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (c, e) = (3, 4) %}{{ c }}{{ e }}{% set q = 1, 2 %}{{ q }}",
    "1234(1, 2)",
  ],
  [
    "does without printing (in Jinja an extension)",
    "{% set l = [] %}{% do l.append(1) %}{{ l }}",
    "[1]",
  ],
  [
    "joins with joiners",
    "{% set j = joiner('|') %}{{ j() }}a{{ j() }}b{{ j() }}",
    "a|b|",
  ],
  [
    "trims lines around statements",
    "  {% if true %}  \n  a\n  {%- if true %} b {% endif -%}  \n  c\n  {% endif %}  \n" +
    "d {# comment #}\n{# c #}\n  {# d #}  e\n  {%+ if true %}f{% endif +%}\ng\n{{ 1 }}\n",
    "  \n  a b c\n  \nd   e\n  f\ng\n1",
  ],
  ["trims around expressions", "{{ '' }}{{- ' x ' -}}  \n   y\nx\n   {{- 'y' }}\n", " x y\nxy"],
  ["takes all line ends for one", "a\r\n{% if true %}\r\nb\r{% endif %}\n\n", "a\nb\n"],
  [
    "trims raw blocks",
    "x {%- raw -%} \n {{ a }} \n {%- endraw -%} y  {% raw %}\n a\n  {% endraw %}\nz",
    "x{{ a }}y  \n a\nz",
  ],
  ["trims around comments", "a{#- c -#} b {# %} #}c\n", "ab c"],
  [
    "reads tags in texts as text",
    "{{ '100%}\n' }}100%}\n{{ {'a': '}}'}['a'] }}",
    "100%}\n100%}\n}}",
  ],
  [
    "closes dictionaries before tags",
    "{{ {'a': {'b': 1}}}}{{ {'a': {'b': 1}} }}",
    "{'a': {'b': 1}}".repeat(2),
  ],
];

for (const [what, source, expected] of CASES) {
  Deno.test(`render() ${what}`, () => assertEquals(render(source), expected));
}

const FAULTS: [source: string, reason: string][] = [
  ["{{ d.b.c }}", "'dict object' has no attribute 'b'"],
  ["{{ nothing + 1 }}", "'nothing' is undefined"],
  ["{{ nofunc() }}", "'nofunc' is undefined"],
  ["{{ nothing | tojson }}", "'nothing' is undefined"],
  ["{{ 'a' + 1 }}", "unsupported operand types for +: 'str' and 'int'"],
  ["{{ 1 < 'a' }}", "'<' not supported between 'int' and 'str'"],
  ["{{ 1 in none }}", "argument of type 'NoneType' is not iterable"],
  ["{{ none | length }}", "object of type 'NoneType' has no len()"],
  ["{{ 1 | nofilter }}", "No filter named 'nofilter'."],
  ["{{ 1 is notest }}", "No test named 'notest'."],
  ["{{ 1 // 0 }}", "division by zero"],
  ["{% set x = 1 %}{% set x.y = 2 %}", "cannot assign attribute on non-namespace object"],
  ["{% for a, b in [[1]] %}{% endfor %}", "cannot unpack 1 values into 2"],
  ["{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "maximum recursion depth exceeded"],
  [
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "the template takes too many steps",
  ],
  ["{{ 'x' * 999999999 }}", "grows beyond all bounds"],
  [
    "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
    "bounds",
  ],
  [`{{ 1${"|abs".repeat(60_000)} }}`, "nests too deeply"],
];

for (const [source, reason] of FAULTS) {
  Deno.test(`render() fails on ${source.slice(0, 100)}`, () => {
    const error = assertThrows(() => render(source), ChatTemplateError, reason);
    assertEquals(error.fault, /bounds|too many steps|too deeply/.test(reason) ? "limit" : "failed");
  });
}

const SYNTAX: [source: string, reason: string][] = [
  ["a\n{{ 1", "line 2: a tag has no end"],
  [`{{ ${"(".repeat(20_000)}1${")".repeat(20_000)} }}`, "it nests too deeply"],
  ["\n\n{# x", "line 3: a comment has no end"],
  ["{% raw %}x", "line 1: a raw block has no end"],
  ["a\n{{ ? }}", "line 2: Unexpected character: ?"],
  ["{% for x in y %}", "Cannot parse"],
];

for (const [source, reason] of SYNTAX) {
  Deno.test(`createChatTemplate() refuses ${JSON.stringify(source.slice(0, 100))}`, () => {
    const error = assertThrows(() => render(source), ChatTemplateError, reason);
    assertEquals(error.fault, "syntax");
  });
}
