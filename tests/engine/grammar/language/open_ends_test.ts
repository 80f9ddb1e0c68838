// How much any plain text lacks to be in a language, told from the form of an expression: never less
// than what the shortest end of a text takes that is walked byte by byte.

import { assert, assertEquals } from "@std/assert";
import {
  type LanguageId,
  Languages,
  PatternError,
} from "../../../../engine/grammar/language/mod.ts";
import { createDraw, type Draw, randomPattern } from "./random.ts";

const encoder = new TextEncoder();
const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Plain characters, some of which the patterns name. */
const CHARACTERS = ["a", "b", "c", "x", "-", " ", "é", "日", "😀"];

/** Patterns that nothing written before them prevents, put together in all ways. */
const OPEN = ["a.{3}b", "^.*b.{0,4}c", "x", "(ab|c{2})-", ".{5}$", "^.{2,}é", "[ab]\\n", "a(?=b)"];

/** The language of a random pattern; some are refused. */
function anyPattern(languages: Languages, draw: Draw): LanguageId {
  for (;;) {
    try {
      return languages.pattern(randomPattern(draw));
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
    }
  }
}

Deno.test("no plain text lacks more characters than an open language tells", () => {
  const draw = createDraw(11);
  let open = 0;
  for (let round = 0; round < 400; round++) {
    const languages = new Languages();
    const patterns = list(1 + draw(3), () => {
      const language = draw(3) > 0
        ? languages.pattern(OPEN[draw(OPEN.length)]!)
        : anyPattern(languages, draw);
      return draw(6) === 0 ? languages.complement(language) : language;
    });
    const language: LanguageId = draw(3) > 0
      ? languages.intersect(...patterns)
      : languages.union(...patterns);
    if (languages.isEmpty(language)) continue;
    const automaton = languages.automaton(language);
    const most = automaton.mostMissing(automaton.start);
    if (most === Infinity) continue;
    open++;
    for (let text = 0; text < 6; text++) {
      const written = list(draw(9), () => CHARACTERS[draw(CHARACTERS.length)]).join("");
      let state = automaton.start;
      for (const byte of encoder.encode(written)) state = automaton.step(state, byte);
      const about = `${JSON.stringify(written)} in round ${round}`;
      assert(state !== 0, `nothing may follow ${about}`);
      assert(automaton.shortest(state) <= most, about);
    }
  }
  assert(open > 60, `${open} open languages`);
});

Deno.test("what several parts ask for is added up where no part undoes another", () => {
  const languages = new Languages();
  const mostOf = (language: LanguageId) => {
    const automaton = languages.automaton(language);
    return automaton.mostMissing(automaton.start);
  };
  const found = (source: string) => languages.pattern(source);
  assertEquals(mostOf(languages.intersect(found("a.{2}b"), found("é"))), 5);
  assertEquals(mostOf(languages.intersect(found("a.{2}b"), found("c$"))), 5);
  assertEquals(mostOf(found("^(?=.*a.{1}b)(?=.*a.{2}b).*$")), 7);
  // Which one comes last matters, and a dot stands for no line break.
  assertEquals(mostOf(languages.intersect(found("b$"), found("c$"))), Infinity);
  assertEquals(mostOf(languages.intersect(found("^.*a"), found("\\n"))), Infinity);
});
