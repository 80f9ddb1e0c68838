// Patterns of other dialects than ECMA-262: what has one meaning is read so, what has several is refused with its
// column, and random ones find nothing that Python, Rust, Go, Java or Perl do not find: dialects.json has what
// these said, as record_dialects.ts asked them.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Languages, PatternError } from "../../../../engine/grammar/language/mod.ts";
import type { RecordedPattern } from "./record_dialects.ts";
import dialects from "./dialects.json" with { type: "json" };

/** Patterns with texts in which they are found, and texts in which they are not. */
const CASES: [source: string, found: string[], missing: string[]][] = [
  ["^\\A[a-z]{3}\\z$", ["abc"], ["Aabcz", "ab", "abc\n"]],
  ["\\Aabc\\Z", ["abc"], ["xabc", "abcZ", "abc\n"]],
  ["(?!a\\Z)a", ["ab", "aa\n "], ["a", "a\n"]],
  ["^\\h+\\H\\V\\N$", [" \t\u00a0abc", "\t!\t."], ["habc", " a\nc", " ab\n"]],
  ["^\\R$", ["\r\n", "\n", "\u2028"], ["R", "\n\r"]],
  ["^\\a\\e\\07\\x{1F600}\\U0001F600$", ["\x07\x1b\x07😀😀"], ["ae\x07😀😀"]],
  ["^\\Qa.[\\E+\\Q\\E[\\Q]^\\E]$", ["a.[]", "a.[[^"], ["ab[]", "a.[]]", "a.["]],
  ["(?i)^abc\\d$", ["ABC1", "aBc0"], ["abd1", "abc"]],
  ["^a(?i)b|c(?-i)d$", ["aB", "ab", "Cd"], ["Ab", "cD"]],
  ["^(?i-s:a.)(?s)b.$", ["Axb\n"], ["A\nbx", "AxBx"]],
  ["(?m)^b$", ["b", "a\nb\nc"], ["ab"]],
  ["(?x) ^ a \\  b  # a comment)\n c + $ ", ["a bc", "a bcc"], ["abc", "a b c"]],
  ["^a(?#why)+(?#not)$", ["a", "aa"], ["a(?#why)"]],
  ["^(?P<q>['\"])x(?P=q)$", ["'x'", '"x"'], ["'x\"", "x"]],
  ["^(?'q'a|b)\\g{q}\\k{q}\\g1$", ["aaaa", "bbbb"], ["aaab"]],
  ["(?i)^(a)\\1$", ["aA", "AA", "aa"], ["ab"]],
  ["^[[:alpha:]_][^[:^digit:]a]$", ["a1", "_0"], ["11", "aa", ":]"]],
  ["^[[:xdigit:][:space:]-]+$", ["aF 9-"], ["g", "["]],
  ["^[^]]+[]a]$", ["b]", "ba"], ["]]", "bb"]],
  ["^\\pL\\PL\\p{^L}\\p{Greek}\\p{L&}$", ["é1-αb"], ["11-αb", "éé-αb", "é1-aé "]],
  ["^a++b(?>c|cd)d?+$", ["aabc", "abcd"], ["abcdd"]],
  ["^a*+a$|^(?:bc)?+bc$", ["bcbc"], ["a", "aa", "bc"]],
  ["^(?>ab|a)(?>c{1,2}?)c$", ["abcc", "acc"], ["abc", "accc"]],
  ["(?s)^[^\\W\\d]\\s\\D.$", ["a b\n"], ["é b\n", "a\u00a0bc", "a \u0661c"]],
];

Deno.test("pattern() reads what other dialects have, where they agree", () => {
  for (const [source, found, missing] of CASES) {
    const languages = new Languages();
    const language = languages.pattern(source);
    const holds = (text: string) => languages.contains(language, text);
    for (const text of found) assert(holds(text), `${source}: ${JSON.stringify(text)}`);
    for (const text of missing) assert(!holds(text), `${source}: ${JSON.stringify(text)}`);
  }
});

/** Patterns whose meaning is not shared, or not known, and the column of what is not. */
const REFUSED: [source: string, column: number][] = [
  ["a\\y", 2],
  ["😀\\X", 2],
  ["^\\K", 2],
  ["a\\G", 2],
  ["\\N{DIGIT ONE}", 1],
  ["\\u12", 1],
  ["\\x1", 1],
  ["\\p{IsGreek}", 1],
  ["[a\\A]", 3],
  ["[\\R]", 2],
  ["\\18", 1],
  ["(?R)", 1],
  ["a(?P>n)", 2],
  ["(?(1)a|b)", 1],
  ["(?|a|b)", 1],
  ["(?a)\\w", 1],
  ["(?i", 1],
  ["a{,2}", 2],
  ["a{1, 3}", 2],
  ["[a[b]c]", 3],
  ["[a-z&&[^x]]", 5],
  ["\\A[a&&b]", 5],
  ["[[:foo:]]", 2],
  ["[[.a.]]", 2],
  ["(?x)[a b]", 7],
  ["[^]*\\@[a]", 1],
  ["(?>a*b|c*)d", 1],
  ["(?:a|b*)++c", 1],
  ["(a)\\g{2}", 4],
  ["(?<n>a)(?P=m)", 8],
];

Deno.test("pattern() refuses what has several meanings, with its column", () => {
  for (const [source, column] of REFUSED) {
    const error = assertThrows(() => new Languages().pattern(source), PatternError, `column`);
    assertEquals((error as PatternError).column, column, `${source}: ${error.message}`);
  }
});

Deno.test("pattern() finds nothing in random texts that another dialect does not find", () => {
  const count = { taken: 0, judged: 0, agreed: 0, found: 0 };
  for (const { source, texts, verdicts } of dialects as RecordedPattern[]) {
    const languages = new Languages();
    let language: number;
    try {
      language = languages.pattern(source);
    } catch (error) {
      assert(error instanceof PatternError, source);
      continue;
    }
    count.taken++;
    for (const [at, text] of texts.entries()) {
      const about = `${source} in ${JSON.stringify(text)}`;
      const isFound = languages.contains(language, text);
      const missing = Object.keys(verdicts).filter((dialect) => verdicts[dialect]![at] === "0");
      if (isFound) assertEquals(missing, [], about);
      count.judged++;
      if (missing.length > 0) continue;
      count.agreed++;
      if (isFound) count.found++;
    }
  }
  // Where all find a match, but not the same one, none is taken.
  assert(count.found > 0.98 * count.agreed, JSON.stringify(count));
  assert(
    count.taken > 0.8 * dialects.length && count.agreed > count.judged / 5,
    JSON.stringify(count),
  );
});
