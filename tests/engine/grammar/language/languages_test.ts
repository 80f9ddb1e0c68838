// The algebra of languages against boolean logic on random texts, and the questions about members
// against enumeration.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { LanguageError, Languages, PatternError } from "../../../../engine/grammar/language/mod.ts";
import { createDraw, randomPattern, randomText } from "./random.ts";
import { threadTime } from "../../../cpu_time.ts";

/** A random pattern's language; another where it is refused. */
function drawLanguage(languages: Languages, draw: (bound: number) => number): number {
  try {
    return languages.pattern(randomPattern(draw, 2));
  } catch (error) {
    assert(error instanceof PatternError);
    return languages.literal(randomText(draw));
  }
}

Deno.test("union(), intersect() and complement() are or, and and not on 500 random pairs", () => {
  const draw = createDraw(2);
  const count = { in: 0, out: 0 };
  for (let i = 0; i < 500; i++) {
    const languages = new Languages();
    const [a, b] = [drawLanguage(languages, draw), drawLanguage(languages, draw)];
    const union = languages.union(a, b);
    const both = languages.intersect(a, b);
    const onlyA = languages.intersect(a, languages.complement(b));
    for (let k = 0; k < 8; k++) {
      const text = randomText(draw);
      const [inA, inB] = [languages.contains(a, text), languages.contains(b, text)];
      count[inA && inB ? "in" : "out"]++;
      assertEquals(languages.contains(union, text), inA || inB, text);
      assertEquals(languages.contains(both, text), inA && inB, text);
      assertEquals(languages.contains(onlyA, text), inA && !inB, text);
      if (inA && !inB) assert(!languages.isEmpty(onlyA));
    }
    for (const language of [union, both, onlyA]) {
      const shortest = languages.shortest(language);
      assertEquals(shortest === undefined, languages.isEmpty(language));
      if (shortest === undefined) continue;
      assert(languages.contains(language, shortest));
      assertEquals([...shortest].length, languages.lengths(language).min);
    }
  }
  assert(count.in > 400 && count.out > 400, JSON.stringify(count));
});

Deno.test("equal construction gives equal ids, and laws hold by construction", () => {
  const languages = new Languages();
  const [a, b] = [languages.pattern("^a+$"), languages.pattern("b")];
  assertEquals(languages.pattern("^a+$"), a);
  assertEquals(languages.union(a, b), languages.union(b, a, languages.none()));
  assertEquals(languages.intersect(a, languages.any()), a);
  assertEquals(languages.complement(languages.complement(a)), a);
  assertEquals(languages.union(a, languages.complement(a)), languages.any());
  assertEquals(languages.intersect(a, languages.complement(a)), languages.none());
  assertEquals(languages.literal("\ud800"), languages.none());
  assertEquals(languages.pattern(""), languages.any());
});

Deno.test("isEmpty() decides languages that no law simplifies", () => {
  const languages = new Languages();
  const within = (a: string, b: string) =>
    languages.isEmpty(
      languages.intersect(languages.pattern(a), languages.complement(languages.pattern(b))),
    );
  assert(within("^(?:ab)+$", "^(?:ab|ba)*$"));
  assert(within("^a{3,5}$", "^(?:aa|aaa|a)+$"));
  assert(!within("^(?:ab|ba)*$", "^(?:ab)*$"));
  assert(within("^(?!tag$).*$", "^(?:(?!tag$)|tagged).*$"));
  assert(within("^\\d{4}$", "^(?:\\d\\d){1,4}$"));
  assert(languages.isEmpty(languages.pattern("a^")));
  assert(
    languages.isEmpty(
      languages.intersect(languages.pattern("^a{30}$"), languages.ofLength(31, 90)),
    ),
  );
});

Deno.test("finite() gives all members, or nothing if they are too many", () => {
  const languages = new Languages();
  const members = (source: string, limit: number) =>
    languages.finite(languages.pattern(source), limit);
  assertEquals(members("^(?:yes|no|[a-c]1?)$", 8)!.sort(), [
    "a",
    "a1",
    "b",
    "b1",
    "c",
    "c1",
    "no",
    "yes",
  ]);
  assertEquals(members("^(?:yes|no|[a-c]1?)$", 7), undefined);
  assertEquals(members("^(?!b)[ab]{2}$", 5)!.sort(), ["aa", "ab"]);
  assertEquals(members("^a*$", 1000), undefined);
  assertEquals(members("^.$", 1000), undefined);
  assertEquals(languages.finite(languages.none(), 0), []);
  assertEquals(languages.finite(languages.literal(""), 1), [""]);
});

Deno.test("lengths() counts characters, not code units", () => {
  const languages = new Languages();
  const lengths = (source: string) => languages.lengths(languages.pattern(source));
  assertEquals(lengths("^😀{2,5}$"), { min: 2, max: 5 });
  assertEquals(lengths("^(?!aaa)a{1,3}b?$"), { min: 1, max: 3 });
  assertEquals(lengths("^(?!a{9})a*$"), { min: 0, max: 8 });
  assertEquals(lengths("^(?!b)(?:a|b)*$"), { min: 0, max: Infinity });
  assertEquals(lengths("x"), { min: 1, max: Infinity });
  assertEquals(languages.lengths(languages.none()), { min: Infinity, max: 0 });
});

Deno.test("withoutCount() moves a count out of a language and changes no member", () => {
  const languages = new Languages();
  const sources = ["^[ab]{1,3}$", "^c[ab]{0,2}$", "^(?!a)[ab]{1,3}$", "^[ab]{2}c?$", "[ab]{2}"];
  const counted = ["^[ab]{1,3}$", "^c[ab]{0,2}$", "^(?!a)[ab]{1,3}$"];
  const draw = createDraw(3);
  for (const source of sources) {
    const language = languages.pattern(source);
    const { language: free, min, max } = languages.withoutCount(language);
    assertEquals(max < Infinity, counted.includes(source), source);
    for (let k = 0; k < 300; k++) {
      const text = Array.from({ length: draw(6) }, () => "abc"[draw(3)]).join("");
      const inside = languages.contains(free, text) && text.length >= min && text.length <= max;
      assertEquals(inside, languages.contains(language, text), `${source}: ${text}`);
    }
  }
});

Deno.test("thousands of literals make a language that is fast to exclude and to walk", () => {
  const began = threadTime();
  const languages = new Languages();
  const keys = Array.from({ length: 3000 }, (_, i) => `property_${(i * 7919) % 3001}`);
  const others = languages.complement(
    languages.union(...keys.map((key) => languages.literal(key))),
  );
  const automaton = languages.automaton(others);
  for (const key of keys.slice(0, 50)) {
    let state = automaton.start;
    for (const byte of new TextEncoder().encode(key)) state = automaton.step(state, byte);
    assert(state !== 0 && !automaton.accepts(state));
  }
  assert(languages.contains(others, "property_"));
  const time = threadTime() - began;
  assert(time < 1000, `${time} ms`);
});

Deno.test("a language too big to decide ends in a LanguageError in time", () => {
  const began = threadTime();
  const languages = new Languages();
  const a = languages.pattern("^(?:a|b)*a(?:a|b){60}$");
  const b = languages.pattern("^(?:a|b)*b(?:a|b){60}$");
  assertThrows(() => languages.isEmpty(languages.intersect(a, b)), LanguageError, "Searching");
  const endless = languages.pattern("^((a{1000}){1000}){1000}$");
  assertThrows(() => languages.automaton(endless), LanguageError, "Searching");
  let nested = languages.pattern("a");
  assertThrows(
    () => {
      for (let i = 0; i < 1000; i++) {
        nested = languages.union(languages.complement(nested), languages.literal(`${i}`));
      }
    },
    LanguageError,
    "nests",
  );
  // It is a second on an idle machine.
  const time = threadTime() - began;
  assert(time < 3000, `${time} ms`);
});
