// Patterns for whole answers, grammars that are refused, and grammars that are ambiguous.

import { assertEquals, assertThrows } from "@std/assert";
import {
  choice,
  compileGrammar,
  compilePattern,
  type Grammar,
  GrammarError,
  json,
  literal,
  optional,
  repeat,
  SchemaError,
  sequence,
  textWithout,
} from "../../../engine/grammar/mod.ts";
import { fateOf, smallTokenizer } from "./small_tokenizer.ts";

const tokenizer = smallTokenizer(["aa", "ab", "((", "s else", "if if ", "xyz"], ["<think>"]);

Deno.test("compilePattern() takes the texts that the pattern matches from end to end", () => {
  const fates: [source: string, text: string, fate: string][] = [
    ["\\d{3}-\\d{4}", "555-1234", "complete"],
    ["\\d{3}-\\d{4}", "555-12345", "refused"],
    ["a|bc", "bc", "complete"],
    ["a|bc", "abc", "refused"],
    ['"\\w+"\\n?', '"xyz"\n', "complete"],
    ["(?!ab)[a-c]{2}", "ac", "complete"],
    ["(?!ab)[a-c]{2}", "ab", "refused"],
    ["^x$", "x", "complete"],
    [".{1,1000}", "é".repeat(1000), "complete"],
    [".{1,1000}", "é".repeat(1001), "refused"],
  ];
  for (const [source, text, fate] of fates) {
    assertEquals(fateOf(compilePattern(source, tokenizer), tokenizer, text), fate, source);
  }
  for (const source of ["a)(b", "(", "(a+)\\1", "a(?!)"]) {
    assertThrows(() => compilePattern(source, tokenizer), GrammarError);
  }
});

Deno.test("compileGrammar() refuses data that is no grammar, and schemas that are none", () => {
  const refused: Grammar[] = [
    { type: "rule", name: "missing" },
    repeat(literal("a"), 2, 1),
    repeat(literal("a"), -1),
    repeat(literal("a"), 1.5),
    textWithout(""),
    choice(),
    sequence(literal("a"), { type: "pattern", source: "[" }),
  ];
  for (const root of refused) {
    assertThrows(() => compileGrammar({ root }, tokenizer), GrammarError);
  }
  assertThrows(() => compileGrammar({ root: json({ type: "nothing" }) }, tokenizer), SchemaError);
  const nested = Array.from({ length: 2000 }).reduce<Grammar>(
    (part) => optional(part),
    literal("a"),
  );
  assertThrows(() => compileGrammar({ root: nested }, tokenizer), GrammarError);
});

Deno.test("ambiguous grammars are decided, and large ones take little time", () => {
  const doubled = Array.from({ length: 40 }, (_, at) => `r${at} ::= r${at + 1} "x"? r${at + 1}`);
  const large = compileGrammar(`root ::= r0\n${doubled.join("\n")}\nr40 ::= "a" | ""`, tokenizer);
  assertEquals(fateOf(large, tokenizer, "xaxxaaaxa"), "complete");
  const dangling = compileGrammar(
    'root ::= "if " root (" else " root)? | "s" | root2\nroot2 ::= "(" root ")" root2? | "[" root2* "]"',
    tokenizer,
  );
  const ifs = "if ".repeat(150);
  assertEquals(fateOf(dangling, tokenizer, `${ifs}s${" else s".repeat(150)}`), "complete");
  assertEquals(fateOf(dangling, tokenizer, `${ifs}s${" else s".repeat(151)}`), "refused");
  const twice = compileGrammar('root ::= "a" root root | "a"', tokenizer);
  assertEquals(fateOf(twice, tokenizer, "a".repeat(101)), "complete");
  assertEquals(fateOf(twice, tokenizer, "a".repeat(100)), "open");
  const deep = compileGrammar('root ::= "(" root? ")"?', tokenizer);
  assertEquals(fateOf(deep, tokenizer, "(".repeat(150) + ")".repeat(150)), "complete");
});
