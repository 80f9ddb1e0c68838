// Templates: Go's in requests, Jinja's in files. Whatever they multiply, they end within a budget of
// steps and bytes, with a text or an error that says so.

import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import { writeSmallest } from "../models.ts";
import type { Area, Case, Trial, World } from "../trial.ts";

/** Templates of each kind that are drawn. */
const RANDOM = 60;
const BIG = ["300", "20000", "1000000", "1000000000", "2147483648", "9007199254740991"];

const times = (count: number, text: string) => text.repeat(count);
/** Something within itself. */
const nested = (depth: number, open: string, close: string, inner = "x") =>
  open.repeat(depth) + inner + close.repeat(depth);

/** Go templates by what they do. */
function goTemplates(draws: Draws): [string, string][] {
  const big = draws.one(BIG);
  const some = draws.between(40, 90);
  return [
    ["JSON of JSON", `{{$x := .Prompt}}${times(some, "{{$x = json $x}}")}{{$x}}`],
    ["quotes of quotes", `{{$x := .Prompt}}${times(some, '{{$x = printf "%q" $x}}')}{{$x}}`],
    ["a text doubled", `{{$x := .Prompt}}${times(some, '{{$x = printf "%s%s" $x $x}}')}{{len $x}}`],
    ["a text of itself", `{{$x := "a"}}${times(some, "{{$x = print $x $x $x}}")}{{$x}}`],
    ["a list of itself", `{{$x := slice "a"}}${times(some, "{{$x = slice $x $x}}")}{{$x}}`],
    ["a width", `{{printf "%${big}d" 1}}`],
    ["a precision", `{{printf "%.${big}f" 1.5}}`],
    ["a width of a text", `{{printf "%-${big}s" "x"}}`],
    ["ranges in ranges", nested(draws.between(6, 200), "{{range .Messages}}", "{{end}}", "{{.}}")],
    ["conditions in conditions", nested(draws.between(500, 20_000), "{{if true}}", "{{end}}")],
    ["parentheses", `{{${nested(draws.between(500, 50_000), "(", ")", "1")}}}`],
    ["pipes", `{{"x"${times(draws.between(500, 20_000), "|print")}}}`],
    ["and, or, not", `{{${times(5000, "not (")}true${times(5000, ")")}}}`],
    ["a template within itself", '{{define "a"}}{{template "a" .}}x{{end}}{{template "a" .}}'],
    [
      "two templates of each other",
      '{{define "a"}}{{template "b"}}{{template "b"}}{{end}}' +
      '{{define "b"}}{{template "a"}}{{template "a"}}{{end}}{{template "a"}}',
    ],
    ["120 KB", times(12_000, "{{.Prompt}}")],
    ["240 KB of lines", times(20_000, "{{.Prompt}}\n")],
    ["a megabyte of comments", times(100_000, "{{/* x */}}")],
    ["a megabyte of text", times(1e6, "x")],
    ["a text that does not end", `{{"${times(100_000, "x")}`],
    ["actions that do not end", times(100_000, "{{")],
    ["index of everything", `{{index .Messages ${big}}}`],
    ["index of index", `{{${times(3000, "index (")}.Messages${times(3000, ") 0")}}}`],
    ["len of len", `{{len ${big}}}{{len .Messages}}{{len (print (len "x"))}}`],
    ["slice out of bounds", `{{slice "x" ${big}}}{{slice "x" -1}}`],
    ["a field of a field", `{{.${times(20_000, "A.")}B}}`],
    ["a number of digits", `{{${times(100_000, "9")}}}`],
    ["while without end", "{{range $i := .Messages}}{{break}}{{end}}{{break}}"],
    ["a range of a number", `{{range ${big}}}x{{end}}`],
    ["ranges of numbers", nested(6, `{{range ${big}}}`, "{{end}}")],
  ];
}

/** Jinja templates by what they do. */
function jinjaTemplates(draws: Draws): [string, string][] {
  const big = draws.one(BIG);
  const a = "('a' * 20000)";
  const items = "range(20000)|list";
  const doubled = (what: string, count: number) =>
    `{% set ns = namespace(x=${what}) %}{% for i in range(${count}) %}` +
    "{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x|length }}";
  return [
    ["a text replaced by long ones", `{{ ${a}.replace('a', 'b' * 20000)|length }}`],
    ["the same as a filter", `{{ ${a}|replace('a', 'b' * 20000)|length }}`],
    ["a text many times", `{{ ('x' * ${big})|length }}`],
    ["a list many times", `{{ ([1, 2] * ${big})|length }}`],
    ["a text doubled", doubled("'ab'", 60)],
    ["a list doubled", doubled("[1]", 60)],
    [
      "nested lists doubled",
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}" +
      "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    ],
    [
      "nested lists as JSON",
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}" +
      "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson|length }}",
    ],
    [
      "nested lists compared",
      "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(60) %}" +
      "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
    ],
    ["in a long list", `{% set l = ${items} %}{% for i in l %}{{ -1 in l }}{% endfor %}`],
    ["in a long text", `{% for i in range(20000) %}{{ 'b' in ${a} }}{% endfor %}`],
    ["find", `{% for i in range(20000) %}{{ ${a}.find('b') }}{% endfor %}`],
    ["rsplit", `{% for i in range(3000) %}{{ ${a}.rsplit('a')|length }}{% endfor %}`],
    ["split", `{% for i in range(3000) %}{{ ${a}.split('a')|length }}{% endfor %}`],
    ["select", `{% for i in range(3000) %}{{ ${items}|select('odd')|list|length }}{% endfor %}`],
    ["map", `{% for i in range(3000) %}{{ ${items}|map('string')|list|length }}{% endfor %}`],
    ["unique", `{% for i in range(300) %}{{ ${items}|unique|list|length }}{% endfor %}`],
    ["sort", `{% for i in range(3000) %}{{ ${items}|sort(reverse=true)|length }}{% endfor %}`],
    ["join", `{% set l = ${items} %}{{ l|join('x' * 100000)|length }}`],
    ["join of joins", `{{ ([${a}] * 20000)|join|length }}`],
    ["a long range", `{{ range(${big})|list|length }}`],
    ["loops in loops", nested(8, "{% for i in range(1000) %}", "{% endfor %}")],
    ["a macro within itself", "{% macro m() %}{{ m() }}x{% endmacro %}{{ m() }}"],
    [
      "a macro twice in itself",
      "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}" +
      "{% endif %}x{% endmacro %}{{ m(60) }}",
    ],
    ["a width", `{{ '%${big}d'|format(1) }}`],
    ["an indent", `{{ ('a\\n' * 20000)|indent(${big}) }}`],
    ["an indent of JSON", `{{ [[[1]]]|tojson(indent=${big}) }}`],
    ["center", `{{ 'x'|center(${big}) }}{{ 'x'.center(${big}) }}`],
    ["ljust", `{{ 'x'.ljust(${big}) }}`],
    ["batch", `{{ range(10)|batch(${big}, 'x')|list|length }}`],
    ["powers", "{{ 9 ** 9 ** 9 }}{{ 2 ** 100000 }}"],
    ["parentheses", `{{ ${nested(draws.between(500, 20_000), "(", ")", "1")} }}`],
    ["lists in lists", `{{ ${nested(draws.between(500, 20_000), "[", "]", "1")} }}`],
    ["conditions in conditions", nested(2000, "{% if true %}", "{% endif %}")],
    ["nots", `{{ ${times(20_000, "not ")}true }}`],
    ["pipes", `{{ 'x'${times(20_000, "|string")} }}`],
    ["120 KB", times(6000, "{{ messages[0] }}\n")],
    ["240 KB", times(12_000, "{{ messages[0] }}\n")],
    ["a tag that does not end", `{% if ${times(50_000, "x ")}`],
    ["comments that do not end", times(50_000, "{#")],
    [
      "characters of a text",
      `{% for c in ${a} %}{% for d in ${a} %}{{ c }}{% endfor %}{% endfor %}`,
    ],
    ["a dictionary of itself", "{% set d = {} %}{% set _ = d.update({'d': d}) %}{{ d }}"],
    ["a list within itself", "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}{{ l|tojson }}"],
    [
      "a list that grows as it is read",
      "{% set l = [1] %}{% for i in l %}" +
      "{% set _ = l.append(i) %}{% endfor %}{{ l|length }}",
    ],
    [
      "uppercase without end",
      `{% set ns = namespace(x=${a}) %}{% for i in range(100000) %}` +
      "{% set ns.x = ns.x|upper|lower|title|trim %}{% endfor %}",
    ],
  ];
}

/** Filters and methods for templates that are drawn, of a text and of a list. */
const STEPS = [
  ...["|upper", "|title", "|trim", "|length|string", "|list|string", "|tojson", "|e", "|reverse"],
  ...[" * 300", " * 20000", " + v", ".replace('a', v)", ".split('a')|join(v)", "|replace('', v)"],
  ...["|list|sort|join", "|list|unique|join", "|indent(300)", ".strip('a')", ".count('a')|string"],
  ...["|batch(3)|list|string", "|map('upper')|join", "|select('string')|list|string", "[::-1]"],
  ...["|wordwrap(1)", "|truncate(99999)", "|format(v)", ".rsplit('a')|string", ".find(v)|string"],
];

function drawnJinja(draws: Draws): string {
  const chain = () => Array.from({ length: draws.between(1, 5) }, () => draws.one(STEPS));
  const expression = chain().reduce((text, step) => `(${text}${step})`, "ns.v");
  const loop = draws.one([1, 30, 1000, 100_000]);
  return `{% set ns = namespace(v='aXa ') %}{% for i in range(${loop}) %}{% set v = ns.v %}` +
    `{% set ns.v = ${expression} %}{% endfor %}{{ ns.v|length }}{{ messages[0].content }}`;
}

const GO_STEPS = [
  ...["json $x", "print $x $x", 'printf "%q" $x', 'printf "%300s" $x', 'printf "%v%v" $x $x'],
  ...["len $x", "html $x", "js $x", "urlquery $x", "slice $x", "index $x 0", "not $x", "or $x 1"],
];

function drawnGo(draws: Draws): string {
  const steps = Array.from(
    { length: draws.between(5, 80) },
    () => `{{$x = ${draws.one(GO_STEPS)}}}`,
  );
  const body = `{{$x := .Prompt}}${steps.join("")}{{$x}}`;
  return nested(draws.below(4), "{{range .Messages}}", "{{end}}", body);
}

async function withGo(trial: Trial, template: string): Promise<void> {
  const options = { num_predict: 2, num_ctx: 64 };
  const body = { model: "quern:tiny", prompt: "Hello", template, stream: false, options };
  const { status, text } = await trial.ask({ path: "/api/generate", body });
  trial.check(status <= 500, () => `${status} ${text} for ${template.slice(0, 200)}`);
}

async function withJinja(trial: Trial, world: World, template: string): Promise<void> {
  const path = `${world.folder}/hostile-template.gguf`;
  await writeSmallest(path, template);
  try {
    const model = "hostile-template";
    const show = await trial.ask({ path: "/api/show", body: { model } });
    trial.check(show.status <= 500, () => `/api/show: ${show.status} ${show.text.slice(0, 200)}`);
    const messages = [{ role: "user", content: "Hello" }];
    const options = { num_predict: 2, num_ctx: 64 };
    const body = { model, messages, stream: false, options, keep_alive: 0 };
    // The time for loading the model, then for the template.
    const { status, text } = await trial.ask({ path: "/api/chat", body, seconds: 8 });
    trial.check(
      status <= 500,
      () => `${status} ${text.slice(0, 200)} for ${template.slice(0, 200)}`,
    );
  } finally {
    await Deno.remove(path);
  }
}

/** Templates. */
export const templates: Area = {
  name: "templates",
  weight: 4,
  cases(world) {
    const { draws, seed, count } = world;
    const go = (name: string, template: string): Case => ({
      name: `Go: ${name}`,
      run: (trial) => withGo(trial, template),
    });
    const jinja = (name: string, template: string): Case => ({
      name: `Jinja: ${name}`,
      run: (trial) => withJinja(trial, world, template),
    });
    const drawn = (make: (draws: Draws) => string, build: typeof go) =>
      Array.from({ length: count(RANDOM) }, (_, index) => {
        const own = seed * 10_000 + index;
        return build(`drawn, ${own}`, make(new Draws(own)));
      });
    return [
      ...goTemplates(draws).map(([name, template]) => go(name, template)),
      ...jinjaTemplates(draws).map(([name, template]) => jinja(name, template)),
      ...drawn(drawnGo, go),
      ...drawn(drawnJinja, jinja),
    ];
  },
};
