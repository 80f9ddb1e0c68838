// Which parts of a pattern or of a grammar are in force, at each place of an answer.

import { assert, assertEquals } from "@std/assert";
import { TextRules } from "../../../../engine/grammar/in_force/mod.ts";
import { SAMPLES } from "../../../../web/schema/samples.ts";

/** The parts of a format that are in force after a beginning. */
function parts(text: string, rules: TextRules | undefined, beginning: string): string[] {
  assert(rules, text);
  // In two pieces, as tokens bring it.
  rules.take(beginning.slice(0, 3));
  rules.take(beginning.slice(3));
  return rules.spans.map(([start, end]) => text.slice(start, end));
}

const inPattern = (text: string, beginning: string) =>
  parts(text, TextRules.ofPattern(text), beginning);
const inGrammar = (text: string, beginning: string) =>
  parts(text, TextRules.ofGrammar(text), beginning);

Deno.test("the parts of a pattern that may come next are found after each beginning", () => {
  const verdict = "(yes|no), because [a-z ]{10,60}\\.";
  assertEquals(inPattern(verdict, ""), ["y", "n"]);
  assertEquals(inPattern(verdict, "y"), ["e"]);
  assertEquals(inPattern(verdict, "no"), [","]);
  assertEquals(inPattern(verdict, "no, because of"), ["[a-z ]"]);
  assertEquals(inPattern(verdict, "no, because of the rain"), ["[a-z ]", "\\."]);
  assertEquals(inPattern(verdict, "no, because of the rain."), []);
  assertEquals(inPattern(verdict, "maybe"), []);
  assertEquals(inPattern("^(?:\\d{2}-)+(?<end>x?)$", "12-"), ["\\d", "x"]);
  assertEquals(inPattern("(?i)a\\Qb.\\E[c]", "AB"), [".\\E"]);
  assertEquals(inPattern("\\p{L}+[^\\d\\]]", "é"), ["\\p{L}", "[^\\d\\]]"]);
});

Deno.test("the parts of a grammar that may come next are found in all rules", () => {
  const chess = SAMPLES.find(({ kind }) => kind === "grammar")!.format;
  assertEquals(inGrammar(chess, ""), ["[KQRBN]", "[a-h]"]);
  assertEquals(inGrammar(chess, "e"), ["[1-8]"]);
  assertEquals(inGrammar(chess, "e4"), ['"\\n"']);
  assertEquals(inGrammar(chess, "e4\nN"), ["[a-h]"]);
  assertEquals(inGrammar('root ::= ("é" | "𝄞" | .) .', "𝄞"), ["."]);
  const list = '# a list\nroot ::= "[" item{1,3} "]"\nitem ::= [^"(\\]\\x41]  |\n  "(" root ")"';
  assertEquals(inGrammar(list, "["), ['[^"(\\]\\x41]', '"("']);
  assertEquals(inGrammar(list, "[(["), ['[^"(\\]\\x41]', '"("']);
  assertEquals(inGrammar(list, "[bcd"), ['"]"']);
  assertEquals(inGrammar(list, "[A"), []);
});

Deno.test("what is not known is marked nowhere, and takes no time", () => {
  for (const text of ["(?=a)b", "(a)\\1", "a\\b"]) {
    assertEquals(TextRules.ofPattern(text), undefined);
  }
  assertEquals(TextRules.ofGrammar('root ::= "a" <[1]>'), undefined);
  assertEquals(inGrammar('root ::= root "a" | "b"', ""), []);
  const heavy = inGrammar("root ::= (([a]{0,400}){0,400}){0,400}", "a".repeat(200));
  assert(heavy.length <= 1);
});
