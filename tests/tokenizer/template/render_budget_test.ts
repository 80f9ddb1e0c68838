// What a rendering may take: templates that want all time or all memory are refused before they have
// it, whichever operation they use for it.

import { assert, assertStringIncludes, assertThrows } from "@std/assert";
import { ChatTemplateError, createChatTemplate, RenderBudget } from "../../../tokenizer/mod.ts";
import { MAXIMUM_BYTES, MAXIMUM_STEPS } from "../../../tokenizer/text/render_budget.ts";
import { threadTime } from "../../cpu_time.ts";
import { share } from "../../share.ts";

/** A text of a million that is made in one operation, and a list that doubles. */
const LONG = "{% set a = 'ab' * 500000 %}";
const DOUBLED =
  "{% set ns = namespace(x=['a']) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}";
const loop = (body: string) =>
  `${LONG}{% for i in range(99999) %}{% for j in range(99999) %}${body}{% endfor %}{% endfor %}`;

const ATTACKS = [
  "{{ ('a'*20000).replace('a', 'b'*20000) | length }}",
  "{{ 'a' * 400000000 }}",
  "{{ ['a'] * 90000000 }}",
  "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
  "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
  "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x | tojson %}{% endfor %}",
  "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = '%s%s' % (ns.x, ns.x) %}{% endfor %}",
  "{% set ns = namespace(x='<') %}{% for i in range(60) %}{% set ns.x = (ns.x ~ ns.x) | e %}{% endfor %}",
  "{% set ns = namespace(x='%') %}{% for i in range(60) %}{% set ns.x = (ns.x ~ ns.x) | urlencode %}{% endfor %}",
  "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] | join %}{% endfor %}",
  "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set x %}{{ ns.x }}{{ ns.x }}{% endset %}" +
  "{% set ns.x = x %}{% endfor %}",
  `${DOUBLED}{% set y = ns.x %}${DOUBLED}{{ y == ns.x }}`,
  `${DOUBLED}{{ ns.x | tojson }}`,
  `${DOUBLED}{{ ns.x }}`,
  `${DOUBLED}{{ ns.x | string | length }}`,
  `${DOUBLED}{{ 'z' in ns.x or ns.x in [ns.x, 1] or [ns.x] == [[ns.x, 1]] }}{{ ns.x | unique | list }}`,
  loop("{{ 'c' in a }}"),
  loop("{{ 'b' * 30000 in a }}"),
  loop("{{ a.find('c') }}"),
  loop("{{ a.rfind('ca') }}"),
  loop("{{ a.count('c') }}"),
  loop("{{ a.split('b') | length }}"),
  loop("{{ a.rsplit(none, 3) | length }}"),
  loop("{{ a | upper | length }}"),
  loop("{{ a | trim }}"),
  loop("{{ a | length }}"),
  loop("{{ a[1:] | length }}"),
  loop("{{ a[::-1] | length }}"),
  loop("{{ a | list | length }}"),
  loop("{{ a == a ~ 'x' }}{{ a < a }}"),
  loop("{{ a.startswith('ab') }}{{ a.isalpha() }}{{ a.title() }}"),
  loop("{{ a | wordcount }}{{ a | truncate(9) }}{{ a | indent }}"),
  loop("{{ {a: 1}[a] }}"),
  loop("{{ [1] | select('odd') | list }}"),
  loop("{% set x = a | replace('a', 'bb') %}"),
  "{% set l = range(99999) | list %}{% for i in l %}{% for j in l | sort %}{% endfor %}{% endfor %}",
  "{% set l = range(99999) | list %}{% for i in l %}{{ 100000 in l }}{% endfor %}",
  "{% set l = range(99999) | list %}{% for i in l %}{{ l | unique | list | length }}{% endfor %}",
  "{% set l = range(99999) | list %}{% for i in l %}{{ l | map('string') | join | length }}{% endfor %}",
  "{% set l = range(99999) | list %}{% for i in l %}{{ (l + l) | length }}{% endfor %}",
  "{{ range(9) | batch(400000000, 'x') | list }}",
  "{{ 'a\t' * 1000 }}{{ ('a\t' * 1000).expandtabs(4000000) }}",
  "{{ 'a' | indent(400000000, true) }}",
  "{{ [[1]] | tojson(indent=400000000) }}",
  "{{ ('%' ~ '0' * 300000) % 1 }}{% for i in range(99999) %}{{ '%9999d' % i }}{% endfor %}",
  "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
  "{% macro m(n) %}{% if n < 60 %}{{ m(n + 1) }}{{ m(n + 1) }}{% endif %}{% endmacro %}{{ m(0) }}",
  "{% set l = [1] %}{% for i in range(99999) %}{% for j in range(99) %}{% set _ = l.extend(l) %}" +
  "{% endfor %}{% endfor %}",
  `{{ ${"(".repeat(5000)}1${")".repeat(5000)} }}`,
  `{{ ${"1+".repeat(50000)}1 }}`,
];

/** The part of a budget that an attack has: every day others have used most of it up before. */
const PART = share(1 / 4, 1);

for (const source of ATTACKS) {
  Deno.test(`render() ends ${source.slice(0, 110)}`, () => {
    const started = threadTime();
    const budget = new RenderBudget();
    budget.take((1 - PART) * MAXIMUM_STEPS, (1 - PART) * MAXIMUM_BYTES);
    const error = assertThrows(
      () => createChatTemplate(source, {}).renderText({ messages: [] }, budget),
      ChatTemplateError,
    );
    assertStringIncludes(error.message, "the chat template: ");
    const time = threadTime() - started;
    assert(time < 4000 * PART, `took ${time} ms`);
  });
}

Deno.test("a template that fails for its limits is not tried in other ways", () => {
  let steps = 0;
  const budget = new RenderBudget();
  const take = budget.take.bind(budget);
  budget.take = (count, bytes) => {
    steps += count;
    take(count, bytes);
  };
  const template = createChatTemplate(loop("{{ a | list }}"), {});
  assertThrows(() => template.renderText({ messages: [] }, budget), ChatTemplateError);
  assert(steps < 8e6);
  const error = assertThrows(() => template.render({ messages: [] }), ChatTemplateError);
  assert(error.fault === "limit");
});

Deno.test("renderings that share a budget come to an end together", () => {
  const source = "{% for i in range(90000) %}{% set x = i + 1 %}{% endfor %}";
  const template = createChatTemplate(source, {});
  const budget = new RenderBudget();
  template.renderText({ messages: [] }, budget);
  assertThrows(
    () => {
      for (let i = 0; i < 20; i++) template.renderText({ messages: [] }, budget);
    },
    ChatTemplateError,
    "too many steps",
  );
});

Deno.test("a rendering is called off by what its budget polls", () => {
  let polls = 0;
  const budget = new RenderBudget(0, () => {
    if (++polls === 3) throw new Error("called off");
  });
  const template = createChatTemplate("{% for i in range(99999) %}{{ i }}{% endfor %}", {});
  assertThrows(() => template.renderText({ messages: [] }, budget), Error, "called off");
});
