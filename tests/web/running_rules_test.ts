// Which parts of a pattern or of a grammar are in force, at each place of an answer.

import { assert, assertEquals } from "@std/assert";
import { SAMPLES } from "../../web/schema/samples.ts";
import {
  readGrammar,
  readPattern,
  type Rules,
  spansInForce,
} from "../../web/schema/running_rules.ts";

/** The parts of a format that are in force after a beginning. */
function parts(text: string, rules: Rules | undefined, beginning: string): string[] {
  assert(rules, text);
  return spansInForce(rules, beginning).map(([start, end]) => text.slice(start, end));
}

const inPattern = (text: string, beginning: string) => parts(text, readPattern(text), beginning);
const inGrammar = (text: string, beginning: string) => parts(text, readGrammar(text), beginning);

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
  assertEquals(inPattern("\\p{L}+[^\\d\\]]", "é"), ["\\p{L}", "[^\\d\\]]"]);
});

Deno.test("the parts of a grammar that may come next are found in all rules", () => {
  const chess = SAMPLES.find(({ kind }) => kind === "grammar")!.format;
  assertEquals(inGrammar(chess, ""), ["[KQRBN]", "[a-h]"]);
  assertEquals(inGrammar(chess, "e"), ["[1-8]"]);
  assertEquals(inGrammar(chess, "e4"), ['"\\n"']);
  assertEquals(inGrammar(chess, "e4\nN"), ["[a-h]"]);
  const list = '# a list\nroot ::= "[" item{1,3} "]"\nitem ::= [^"(\\]\\x41]  |\n  "(" root ")"';
  assertEquals(inGrammar(list, "["), ['[^"(\\]\\x41]', '"("']);
  assertEquals(inGrammar(list, "[(["), ['[^"(\\]\\x41]', '"("']);
  assertEquals(inGrammar(list, "[bcd"), ['"]"']);
  assertEquals(inGrammar(list, "[A"), []);
});

Deno.test("what is not known is marked nowhere, and takes no time", () => {
  for (const text of ["(?=a)b", "(a)\\1", "a\\b", "(", "[z-a]"]) {
    assertEquals(readPattern(text), undefined);
  }
  for (const text of ["", "root = 1", 'root ::= "a" )', "item ::= [a]"]) {
    assertEquals(readGrammar(text), undefined, text);
  }
  assertEquals(inGrammar('root ::= root "a" | "b"', ""), []);
  assertEquals(inGrammar("root ::= nothing", ""), []);
  const heavy = inGrammar("root ::= (([a]{0,400}){0,400}){0,400}", "a".repeat(200));
  assert(heavy.length <= 1);
});
