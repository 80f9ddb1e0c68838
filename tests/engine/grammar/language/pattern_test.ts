// Patterns against the platform's RegExp: random ones, the syntax, what is refused, and what would
// make a backtracking engine or an unrolled automaton blow up.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Languages, PatternError } from "../../../../engine/grammar/language/mod.ts";
import { createDraw, randomPattern, randomText } from "./random.ts";
import { threadTime } from "../../../cpu_time.ts";
import { share } from "../../../share.ts";

/** A pattern as RegExp takes it; undefined for one with two groups of one name, say. */
function compile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "uy");
  } catch {
    return undefined;
  }
}

/** Whether a sticky RegExp matches at some character; V8's search also looks inside of pairs. */
function isFound(sticky: RegExp, text: string): boolean {
  for (let i = 0; i <= text.length; i += text.codePointAt(i)! > 0xffff ? 2 : 1) {
    sticky.lastIndex = i;
    if (sticky.test(text)) return true;
  }
  return false;
}

Deno.test("pattern() holds the strings that RegExp finds random patterns in", () => {
  const draw = createDraw(1);
  const patterns = share(800, 3000);
  const count = { judged: 0, found: 0, refused: 0 };
  for (let i = 0; i < patterns; i++) {
    const source = randomPattern(draw);
    const oracle = compile(source);
    if (!oracle) continue;
    const languages = new Languages();
    let language: number;
    try {
      language = languages.pattern(source);
    } catch (error) {
      assert(error instanceof PatternError && error.message.includes("look-behind"), source);
      count.refused++;
      continue;
    }
    for (let k = 0; k < 12; k++) {
      const text = randomText(draw);
      const found = isFound(oracle, text);
      assertEquals(
        languages.contains(language, text),
        found,
        `${source} in ${JSON.stringify(text)}`,
      );
      count.judged++;
      if (found) count.found++;
    }
    const shortest = languages.shortest(language);
    if (shortest !== undefined) assert(isFound(oracle, shortest), `${source}: ${shortest}`);
  }
  assert(
    count.judged > 7 * patterns && count.found > 1.7 * patterns && count.refused < patterns / 7,
    JSON.stringify(count),
  );
});

/** Patterns with texts in which they are found, and texts in which they are not. */
const CASES: [source: string, found: string[], missing: string[]][] = [
  ["^(?!\\.\\.?(?:\\/|$))[A-Za-z0-9_\\-.~:@+]{1,200}$", [".a", "..a", "x"], ["", ".", "..", "a/b"]],
  ["^((?!foo).)*$", ["", "fo", "barfo"], ["foo", "xfoox"]],
  ["(?<=\\$)\\d+(?!\\d|\\.)", ["$12", "a$1b"], ["12", "$1.5", "$"]],
  ["(?<!^)-", ["a-"], ["-", "a"]],
  ["\\bcat\\b", ["cat", "a cat."], ["cats", "concat"]],
  ["^(a|b$)+$", ["aab", "b", "a"], ["ba", ""]],
  ["^(?:(?=a)|b)+c", ["bc", "bbc"], ["c", "ac"]],
  ["^(?:a|(?=c)){2,3}c$", ["ac", "aac", "aaac", "c"], ["aaaac", "a"]],
  ["^(?:a|(?=a)){3}b$", ["ab", "aab", "aaab"], ["aaaab", "b"]],
  ["^\\cJ\\x41\\u0042\\u{43}\\ud83d\\ude00\\0$", ["\nABC😀\0"], ["ABC"]],
  ["^[\\b\\-\\]^a-c]$", ["\b", "-", "]", "^", "b"], ["\\", "d"]],
  ["^[^]$", ["\n", "😀"], ["", "ab"]],
  ["[]", [], ["", "a"]],
  ["^\\p{Script=Greek}\\P{Lu}$", ["αa"], ["aα", "αA"]],
  ["^(?i:straße|k)$", ["STRAßE", "STRAẞE", "\u212a"], ["STRASSE", "kk"]],
  ["^(?i:[^a]\\W)$", ["b!", "É."], ["A!", "bſ"]],
  ["(?m:^b$)", ["b", "a\nb\nc"], ["ab", "a\nbc"]],
  ["^(?s:.(?-s:.))$", ["\na", "aa"], ["a\n"]],
  ["^([\"'])\\w*\\1$", ["'a'", '""'], ["'a\"", "'a"]],
  ["^(?<a>a|bc)(?<b>\\k<a>|d)\\2\\1$", ["aaaa", "adda", "bcddbc", "bcbcbcbc"], ["aaba", "addbc"]],
  ["^(?:(a|b)\\1)+$", ["aa", "aabb"], ["ab", "aab"]],
  ["(\\w)\\1", ["book", "__"], ["abc", "", "a a"]],
  ["^(?:(x)\\1|y)?z$", ["xxz", "yz", "z"], ["xz"]],
];

Deno.test("pattern() understands look-around, boundaries, escapes and classes", () => {
  for (const [source, found, missing] of CASES) {
    const languages = new Languages();
    const language = languages.pattern(source);
    for (const text of found) assert(languages.contains(language, text), `${source}: ${text}`);
    for (const text of missing) assert(!languages.contains(language, text), `${source}: ${text}`);
    const oracle = compile(source)!;
    for (const text of found) assert(isFound(oracle, text), `RegExp ${source}: ${text}`);
    for (const text of missing) assert(!isFound(oracle, text), `RegExp ${source}: ${text}`);
  }
});

Deno.test("pattern() takes sloppy syntax as RegExp does without the u flag", () => {
  const sources = ["^a\\-b\\_\\@$", "^]$", "^a{$", "^}$", "^{a}$", "^a{,b}$", "^[\\w-.]$", "^\\é$"];
  const texts = ["a-b_@", "]", "a{", "}", "{a}", "a{,b}", "a", "-", ".", ",", "aa", "é"];
  for (const source of sources) {
    const languages = new Languages();
    const language = languages.pattern(source);
    for (const text of texts) {
      assertEquals(
        languages.contains(language, text),
        new RegExp(source).test(text),
        source + text,
      );
    }
  }
});

Deno.test("pattern() refuses what is no pattern, and back references that are not regular", () => {
  const sources = [
    "(",
    ")",
    "a**",
    "*",
    "[",
    "[b-a]",
    "a{2,1}",
    "\\",
    "\\p{Nope}",
    "\\u{110000}",
    "(a*)\\1",
    "(?<n>a+|b)\\k<n>",
    "\\1(a)",
    "(a\\1)",
    "(?:(a)|b)\\1",
    "(?=(a|b))\\1",
    "(.{1,3})\\1",
    "\\1",
    "{2}",
  ];
  for (const source of sources) {
    assertThrows(() => new Languages().pattern(source), PatternError, "Cannot read the pattern");
    assertEquals(compile(source) === undefined || /\\[1k]/.test(source), true, source);
  }
  assertThrows(() => new Languages().pattern("(".repeat(100_000)), PatternError);
  assertThrows(() => new Languages().pattern("(".repeat(5000) + ")".repeat(5000)), PatternError);
});

/** Steps of work, 300 ns each, that it takes to walk a text through a pattern's automaton, compiled anew. */
function walk(source: string, text: string): { steps: number; accepted: boolean } {
  const languages = new Languages();
  const automaton = languages.automaton(languages.pattern(source));
  let state = automaton.start;
  for (const byte of new TextEncoder().encode(text)) state = automaton.step(state, byte);
  return { steps: languages.work.done, accepted: automaton.accepts(state) };
}

const HARMFUL: [source: string, text: string][] = [
  ["(a+)+$", "a".repeat(5000) + "b"],
  ["^(a|a)*b$", "a".repeat(5000)],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(2000)],
  ["^((a*)*)*b$", "a".repeat(2000)],
  ["^(a?){500}a{500}$", "a".repeat(800)],
  ["(a|b)*a(a|b){200}$", "ab".repeat(500)],
  ["^[\\s\\S]{0,65536}$", "x".repeat(5000)],
  ["^(?:\\S+\\s+){0,999}\\S+$", "word ".repeat(500)],
  ["^(?=.*a)(?=.*b)(?=.*c)(?=.*d)(?=.*e)(?=.*f)(?=.*g)(?=.*h).{1,64}$", "abcdefgh"],
];

Deno.test("patterns that are catastrophic for others take less than a tenth of a second's steps", () => {
  for (const [source, text] of HARMFUL) {
    const { steps } = walk(source, text);
    assert(steps < 300_000, `${source}: ${steps} steps`);
  }
});

Deno.test("a look-ahead with a count compiles and walks 1,000 bytes within 20 ms", () => {
  const source = CASES[0]![0];
  walk(source, "a");
  const texts = "abcDEF-._~".repeat(20);
  const times = Array.from({ length: 5 }, () => {
    const began = threadTime();
    const languages = new Languages();
    const automaton = languages.automaton(languages.pattern(source));
    for (let k = 0; k < 5; k++) {
      let state = automaton.start;
      for (let i = 0; i < texts.length; i++) state = automaton.step(state, texts.charCodeAt(i));
      assert(automaton.accepts(state));
    }
    return threadTime() - began;
  });
  assert(Math.min(...times) < 20, `${times} ms`);
});
