// The language of Go's text/template: expected texts are what Go 1.19 prints for the same source
// and values, but for range over a number, which came later.

import { assertEquals, assertThrows } from "@std/assert";
import { createGoTemplate, GoTemplateError, toGoValue } from "../../../engine/go_template/mod.ts";

const values = {
  Name: "Ada <3",
  Empty: "",
  On: true,
  Three: 3,
  X: toGoValue({
    list: ["a", 1, true],
    none: [],
    nothing: null,
    map: { z: 1, k: "v" },
    million: 1234567,
    half: 1.5,
  }),
};

function render(source: string): string {
  const clock = () => new Date(2025, 6, 1, 23, 59);
  return createGoTemplate(source, { clock }).render({ ...values, Response: "" });
}

const CASES: [what: string, source: string, expected: string][] = [
  [
    "prints values as Go does",
    "{{ .Name }}|{{ .On }}|{{ .Three }}|{{ .X.million }}|{{ .X.half }}|{{ .X.list }}|{{ .X.map }}",
    "Ada <3|true|3|1.234567e+06|1.5|[a 1 true]|map[k:v z:1]",
  ],
  [
    "prints what is missing as no value",
    "{{ .Missing }}|{{ .X.nothing }}",
    "<no value>|<no value>",
  ],
  [
    "trims around markers, and drops comments",
    "a  {{- 1 -}}  b {{ 2 }} {{- /* c */ -}}   d{{/* x */}}e",
    "a1b 2de",
  ],
  ["takes a minus without space for a sign", "a {{-3}} {{ -3 -}} b", "a -3 -3b"],
  [
    "reads literals",
    '{{ "é\\n\\t\\"\\u0041" }}{{ `raw "x" \\n` }}{{ \'a\' }} {{ 0x1F }} {{ 1.5 }} {{ 1e3 }} {{ true }}',
    'é\n\t"Araw "x" \\n97 31 1.5 1000 true',
  ],
  [
    "branches",
    "{{ if .Empty }}a{{ else if .Name }}b{{ else }}c{{ end }}{{ if not .Name }}x{{ else }}y{{ end }}",
    "by",
  ],
  [
    "loops over lists and over maps in the order of their keys",
    "{{ range $i, $e := .X.list }}{{ $i }}{{ $e }}{{ . }},{{ end }}" +
    "{{ range $k, $v := .X.map }}{{ $k }}={{ $v }},{{ end }}" +
    "{{ range .X.none }}x{{ else }}none{{ end }}{{ range 3 }}{{ . }}{{ end }}",
    "0aa,111,2truetrue,k=v,z=1,none012",
  ],
  [
    "breaks and continues",
    "{{ range $i, $e := .X.list }}{{ if eq $i 0 }}{{ continue }}{{ end }}{{ $i }}{{ break }}{{ end }}",
    "1",
  ],
  [
    "sets dot and keeps the root",
    "{{ with .Name }}[{{ . }}{{ $.Three }}]{{ end }}{{ with .Nope }}a{{ else }}b{{ end }}",
    "[Ada <33]b",
  ],
  [
    "scopes variables",
    '{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ $y }}{{ end }}{{ $x }}{{ $x := "s" }}{{ $x }}',
    "32s",
  ],
  [
    "calls templates that it defines",
    '{{ define "t" }}<{{ . }}>{{ end }}{{ template "t" .Three }}{{ template "t" }}' +
    '{{ block "u" .Name }}({{ . }}){{ end }}',
    "<3><<no value>>(Ada <3)",
  ],
  [
    "slices, indexes and counts",
    '{{ len .X.list }}{{ index .X.list 0 }}{{ index .X.map "k" }}{{ index .X.map "zz" }} ' +
    '{{ slice .Name 0 3 }}{{ len (slice .X.list 1) }}{{ len "é" }}',
    "3av<no value> Ada22",
  ],
  [
    "decides without looking further than it must",
    '{{ and .Name .On }} {{ or .Nope "d" }} {{ and 1 0 }} {{ or true (index .X.list 9) }}',
    "true d 0 true",
  ],
  [
    "compares",
    '{{ eq "a" "b" "a" }}{{ ne 1 2 }}{{ lt 1 2 }}{{ le 2 2 }}{{ gt "b" "a" }}{{ ge 1 2 }}{{ eq .Nope nil }}',
    "truetruetruetruetruefalsetrue",
  ],
  [
    "formats",
    '{{ printf "%s-%d-%v-%q-%5d|%-5d|%05d|%.2f|%t|%%|%x" "a" 3 .X.list "q" 3 3 3 1.5 true 255 }}',
    'a-3-[a 1 true]-"q"-    3|3    |00003|1.50|true|%|ff',
  ],
  [
    "says in the text what does not fit its format",
    '{{ printf "%v %d" nil "x" }} {{ printf "%s" }} {{ printf "a" 1 }}',
    "<nil> %!d(string=x) %!s(MISSING) a%!(EXTRA int=1)",
  ],
  [
    "prints several values",
    '{{ print "a" 1 2 "b" 3.5 true }}{{ println "x" 1 }}{{ "<b>" | printf "%s!" | html }}',
    "a1 2b3.5 truex 1\n&lt;b&gt;!",
  ],
  [
    "writes JSON with the characters of HTML escaped",
    "{{ json .X }}{{ json .Name }}",
    '{"half":1.5,"list":["a",1,true],"map":{"k":"v","z":1},"million":1234567,"none":[],' +
    '"nothing":null}"Ada \\u003c3"',
  ],
  ["knows the date", "{{ currentDate }} {{ yesterdayDate }}", "2025-07-01 2025-06-30"],
  [
    "pipes into functions and out of parentheses",
    '{{ .X.list | len }} {{ 3 | printf "%d %d" 2 }} {{ (index .X.list 0) }} {{ ($.X).map.k }}',
    "3 2 3 a v",
  ],
];

for (const [what, source, expected] of CASES) {
  Deno.test(`render() ${what}`, () => assertEquals(render(source), expected));
}

const FAULTS: [source: string, message: string, line: number][] = [
  ["a\n{{ if }}", "expected a value", 2],
  ["{{ if .Name }}", "{{if}} has no {{end}}", 1],
  ["\n\n{{ end }}", "unexpected {{end}}", 3],
  ["{{ break }}", "{{break}} outside of {{range}}", 1],
  ["{{ .Name", "an action has no end", 1],
  ['{{ "a }}', "unexpected", 1],
  ["{{ $nope }}", "undefined variable $nope", 1],
  ["\n{{ nope 1 }}", 'function "nope" not defined', 2],
  ['{{ template "nope" . }}', 'no template is named "nope"', 1],
  ['{{ eq 1 "a" }}', "eq: incompatible types for comparison", 1],
  ["{{ index .X.list 9 }}", "index: index out of range: 9", 1],
  ["{{ .X.nothing.y }}", "cannot take field y of nil", 1],
  ["{{ .Name.Foo }}", "cannot take field Foo", 1],
  ["{{ 5 | .Name }}", "a value that is no function is given arguments", 1],
  ['{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}', "too deeply", 1],
  ["{{ range 99999 }}{{ range 99999 }}{{ end }}{{ end }}", "the template does not end", 1],
];

for (const [source, message, line] of FAULTS) {
  Deno.test(`createGoTemplate() or render() refuses ${JSON.stringify(source)}`, () => {
    const error = assertThrows(() => render(source), GoTemplateError, message);
    assertEquals(error.line, line);
  });
}

Deno.test("fields names all fields that a template and its definitions ask for", () => {
  const source =
    '{{ if .A }}{{ $.B.C }}{{ end }}{{ define "x" }}{{ printf "%s" (len .D) }}{{ end }}';
  assertEquals([...createGoTemplate(source).fields].sort(), ["A", "B", "C", "D"]);
});
