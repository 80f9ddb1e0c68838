// GBNF text as grammars: every construct as data, and what is wrong with what is malformed, by line
// and column.

import { assertEquals, assertThrows } from "@std/assert";
import { parseGrammar } from "../../../../engine/grammar/ebnf.ts";
import { type Grammar, GrammarError } from "../../../../engine/grammar/mod.ts";

const literal = (text: string): Grammar => ({ type: "literal", text });
const name = (rule: string): Grammar => ({ type: "rule", name: rule });
const characters = (negated: boolean, ...ranges: [number, number][]): Grammar => ({
  type: "characters",
  ranges,
  negated,
});
const repeat = (part: Grammar, min: number, max: number): Grammar => ({
  type: "repeat",
  part,
  min,
  max,
});
const sequence = (...parts: Grammar[]): Grammar => ({ type: "sequence", parts });
const choice = (...options: Grammar[]): Grammar => ({ type: "choice", options });

const ROOTS: [text: string, root: Grammar][] = [
  ['"abc"', literal("abc")],
  ['""', literal("")],
  [String.raw`"\"\\\t\r\n\[\]\-"`, literal('"\\\t\r\n[]-')],
  [String.raw`"\x41\u00e9\U0001f600é😀"`, literal("Aé😀é😀")],
  ["[a-z0-9_]", characters(false, [97, 122], [48, 57], [95, 95])],
  ["[^a-z]", characters(true, [97, 122])],
  ["[-a]", characters(false, [45, 45], [97, 97])],
  ["[a-]", characters(false, [97, 97], [45, 45])],
  [String.raw`[\]\\"^]`, characters(false, [93, 93], [92, 92], [34, 34], [94, 94])],
  [String.raw`[\x00-\u00FF\U0001F600-😂]`, characters(false, [0, 255], [0x1f600, 0x1f602])],
  ["[ぁ-ゟ]", characters(false, [0x3041, 0x309f])],
  [".", characters(true)],
  ['"a" "b"', sequence(literal("a"), literal("b"))],
  ['"a" | "b" "c" |', choice(literal("a"), sequence(literal("b"), literal("c")), sequence())],
  ['"a" |\n  "b"', choice(literal("a"), literal("b"))],
  [
    '(\n  "a" # one\n\n  # two\n  "b"\n  | "c"\n)',
    choice(sequence(literal("a"), literal("b")), literal("c")),
  ],
  ["()", sequence()],
  ['"a"*', repeat(literal("a"), 0, Infinity)],
  ['"a"+ "b"?', sequence(repeat(literal("a"), 1, Infinity), repeat(literal("b"), 0, 1))],
  ['"a"{3}', repeat(literal("a"), 3, 3)],
  ['"a"{3,}', repeat(literal("a"), 3, Infinity)],
  ['"a"{ 3 , 5 }', repeat(literal("a"), 3, 5)],
  ['"a"{2}?', repeat(repeat(literal("a"), 2, 2), 0, 1)],
  ['("a" "b") *', repeat(sequence(literal("a"), literal("b")), 0, Infinity)],
  ["<[1000]>", { type: "token", token: 1000, negated: false }],
  [
    "<think> !</think>*",
    sequence(
      { type: "token", token: "<think>", negated: false },
      repeat({ type: "token", token: "</think>", negated: true }, 0, Infinity),
    ),
  ],
  ["!<[7]>", { type: "token", token: 7, negated: true }],
];

for (const [text, root] of ROOTS) {
  Deno.test(`parseGrammar() reads ${text}`, () => {
    const { grammar } = parseGrammar(`root ::= ${text}`);
    assertEquals(grammar.rules!.get("root"), root);
    assertEquals(grammar.root, name("root"));
  });
}

Deno.test("parseGrammar() reads rules with comments and line ends of all kinds between them", () => {
  const text = '# a grammar\r\n\r\nroot ::= check-mate Rule_2 # calls\r\rcheck-mate\t::= \n "#"\n' +
    "  \n  Rule_2::=root|UPPER\nUPPER ::= [A-Z]";
  const { grammar, positionOf } = parseGrammar(text);
  assertEquals([...grammar.rules!.keys()], ["root", "check-mate", "Rule_2", "UPPER"]);
  assertEquals(grammar.rules!.get("root"), sequence(name("check-mate"), name("Rule_2")));
  assertEquals(grammar.rules!.get("check-mate"), literal("#"));
  assertEquals(grammar.rules!.get("Rule_2"), choice(name("root"), name("UPPER")));
  assertEquals(positionOf("Rule_2"), { line: 8, column: 3 });
  assertEquals(positionOf("none"), undefined);
});

const MALFORMED: [text: string, line: number, column: number, reason: RegExp][] = [
  ["", 1, 1, /no rule "root"/],
  ['start ::= "a"', 1, 14, /no rule "root"/],
  ["root ::= one\none ::= two", 2, 9, /no rule "two"/],
  ['root "a"', 1, 6, /::= is missing/],
  ['root ::= "a', 1, 10, /literal is not closed/],
  ["root ::= [a-", 1, 13, /ends too early|not closed/],
  ["root ::= [abc", 1, 10, /class of characters is not closed/],
  ["root ::= []", 1, 10, /class of characters is empty/],
  ["root ::= [z-a]", 1, 14, /ends before it begins/],
  [String.raw`root ::= "\q"`, 1, 11, /no such escape/],
  [String.raw`root ::= "\x4"`, 1, 11, /no such escape/],
  [String.raw`root ::= "\U00110000"`, 1, 11, /no such character/],
  ['root ::= ("a"', 1, 10, /group is not closed/],
  ['root ::= "a")', 1, 13, /no meaning/],
  ['root ::= "a" $', 1, 14, /no meaning/],
  ["root ::= *", 1, 11, /nothing to repeat/],
  ['root ::= "a"\n  "b"', 2, 3, /begins with its name/],
  ['root ::= "a"{,3}', 1, 13, /a count is/],
  ['root ::= "a"{3', 1, 13, /a count is/],
  ['root ::= "a"{4,3}', 1, 13, /from 4 to 3/],
  ['root ::= "a"\nroot ::= "b"', 2, 1, /two rules "root"/],
  ["root ::= <think", 1, 10, /token is not closed/],
  ["root ::= <[x]>", 1, 10, /number of a token/],
  [`root ::= ${"(".repeat(200)}`, 1, 111, /nest deeper/],
];

for (const [text, line, column, reason] of MALFORMED) {
  Deno.test(`parseGrammar() refuses ${JSON.stringify(text.slice(0, 30))}`, () => {
    const error = assertThrows(() => parseGrammar(text), GrammarError);
    assertEquals([error.line, error.column], [line, column], error.message);
    if (!reason.test(error.reason)) throw error;
  });
}
