// The automaton over the bytes of JSON strings against JSON.stringify: it takes exactly the one
// spelling of the members, is never in a state that leads nowhere, and completes to members.

import { assert, assertEquals } from "@std/assert";
import {
  Languages,
  PatternError,
  type StringAutomaton,
} from "../../../../engine/grammar/language/mod.ts";
import { createDraw, randomPattern, randomText } from "./random.ts";
import { threadTime } from "../../../cpu_time.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The content of `text` as a JSON string. */
function spell(text: string): Uint8Array {
  return encoder.encode(JSON.stringify(text).slice(1, -1));
}

function walk(
  automaton: StringAutomaton,
  bytes: Iterable<number>,
  state = automaton.start,
): number {
  for (const byte of bytes) state = automaton.step(state, byte);
  return state;
}

Deno.test("any() takes every character in JSON.stringify's spelling and no other", () => {
  const languages = new Languages();
  const automaton = languages.automaton(languages.any());
  const characters = [0, 8, 9, 0xa, 0xb, 0xc, 0xd, 0x1f, 0x20, 0x22, 0x5c, 0x7f, 0x80, 0x7ff];
  for (const codePoint of [...characters, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]) {
    const bytes = spell(String.fromCodePoint(codePoint));
    assert(automaton.accepts(walk(automaton, bytes)), codePoint.toString(16));
    for (let i = 1; i < bytes.length; i++) {
      const state = walk(automaton, bytes.subarray(0, i));
      assert(!automaton.isBoundary(state) && !automaton.accepts(state));
      assertEquals(automaton.shortest(state), 1);
    }
  }
  const wrong = [
    "\\/",
    "\\u0041",
    "\\u001F",
    "\\u000a",
    "\\x",
    '"',
    "\n",
    "\\ud83d\\ude00",
    "\\u0020",
  ];
  for (const text of wrong) assertEquals(walk(automaton, encoder.encode(text)), 0, text);
  const invalid = [[0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x9f, 0x80], [0xed, 0xa0, 0x80], [
    0xf0,
    0x8f,
  ]];
  for (const bytes of [...invalid, [0xf4, 0x90], [0xf5], [0x80], [0xff], [0xc2, 0x41]]) {
    assertEquals(walk(automaton, bytes), 0, `${bytes}`);
  }
});

Deno.test("an automaton takes the spellings of exactly the members, for 600 random patterns", () => {
  const draw = createDraw(4);
  const count = { accepted: 0, refused: 0 };
  for (let i = 0; i < 600; i++) {
    const languages = new Languages();
    let language: number;
    try {
      language = languages.pattern(randomPattern(draw));
    } catch (error) {
      assert(error instanceof PatternError);
      continue;
    }
    const automaton = languages.automaton(language);
    for (let k = 0; k < 10; k++) {
      const text = randomText(draw);
      const accepted = automaton.accepts(walk(automaton, spell(text)));
      assertEquals(accepted, languages.contains(language, text));
      count[accepted ? "accepted" : "refused"]++;
    }
  }
  assert(count.accepted > 1000 && count.refused > 1000, JSON.stringify(count));
});

/** Random bytes that the automaton lets pass, then its completion. */
function sample(automaton: StringAutomaton, draw: (bound: number) => number): number[] {
  const bytes: number[] = [];
  let state = automaton.start;
  for (let n = draw(12); n > 0; n--) {
    const steps = Array.from({ length: 256 }, (_, byte) => byte)
      .filter((byte) => automaton.step(state, byte) !== 0);
    if (steps.length === 0) break;
    const byte = steps[draw(steps.length)]!;
    bytes.push(byte);
    state = automaton.step(state, byte);
  }
  const completion = automaton.completion(state);
  assert(automaton.accepts(walk(automaton, completion, state)));
  return [...bytes, ...completion];
}

Deno.test("every state that is not 0 completes to a member, in its canonical spelling", () => {
  const draw = createDraw(5);
  const sources = [
    "^(?!a).{2,4}$",
    "é|[^\\w]",
    '^[\\0-\\x1f"\\\\]{3}$',
    "^\\p{L}+$",
    "^[😀-😎]x?$",
  ];
  for (const source of sources) {
    const languages = new Languages();
    const language = languages.pattern(source);
    const automaton = languages.automaton(language);
    for (let i = 0; i < 60; i++) {
      const content = decoder.decode(Uint8Array.from(sample(automaton, draw)));
      const text = JSON.parse(`"${content}"`);
      assertEquals(JSON.stringify(text), `"${content}"`);
      assert(languages.contains(language, text), `${source}: ${content}`);
    }
  }
});

Deno.test("shortest(), completion() and its length agree with a search by layers", () => {
  const languages = new Languages();
  for (
    const source of ["^(?:abc|é|\\n\\x01)$", "^(?!a|😀)[a😀b]{2,}$", "^\\x01$|^😀\\t$", "^a{7}b*$"]
  ) {
    const automaton = languages.automaton(languages.pattern(source));
    const seen = new Set([automaton.start]);
    for (const state of seen) {
      let layer = new Set([state]);
      let bytes = 0;
      for (; ![...layer].some((each) => automaton.accepts(each)); bytes++) {
        layer = new Set([...layer].flatMap((each) => stepsFrom(automaton, each)));
      }
      assertEquals(automaton.completion(state).length, bytes);
      assertEquals(automaton.completionLength(state), bytes);
      const nexts = stepsFrom(automaton, state);
      const after = nexts.map((next) => automaton.shortest(next) + +automaton.isBoundary(next));
      const characters = automaton.accepts(state) ? 0 : Math.min(...after);
      assertEquals(automaton.shortest(state), characters, source);
      for (const next of nexts) seen.add(next);
    }
  }
});

function stepsFrom(automaton: StringAutomaton, state: number): number[] {
  const next = Array.from({ length: 256 }, (_, byte) => automaton.step(state, byte));
  return [...new Set(next)].filter((each) => each !== 0);
}

Deno.test("automata of one Languages share the states of equal rests", () => {
  const languages = new Languages();
  const first = languages.automaton(languages.pattern("^a[0-9]+$"));
  const second = languages.automaton(languages.pattern("^bb[0-9]+$"));
  assertEquals(walk(first, encoder.encode("a")), walk(second, encoder.encode("bb")));
  assertEquals(languages.automaton(languages.none()).start, 0);
});

Deno.test("a string of 30,000 characters is completed from anywhere within a second", () => {
  const languages = new Languages();
  const automaton = languages.automaton(languages.literal("é".repeat(30_000)));
  const began = threadTime();
  let state = automaton.start;
  for (let left = 60_000; left > 59_000; left--) {
    assertEquals(automaton.completionLength(state), left);
    assertEquals(automaton.shortest(state), Math.ceil(left / 2));
    state = automaton.step(state, left % 2 === 0 ? 0xc3 : 0xa9);
  }
  assertEquals(automaton.completion(state).length, 59_000);
  const time = threadTime() - began;
  assert(time < 1000, `${time} ms`);
});

Deno.test("a state tells where all bytes lead in as many steps as it has different ones", () => {
  const languages = new Languages();
  const automata = [
    languages.literal("k17"),
    languages.pattern("^[a-m]{3}x.*$"),
    languages.complement(languages.literal("k17")),
  ].map((language) => languages.automaton(language));
  for (const automaton of automata) {
    automaton.step(automaton.start, 0x7f);
    const before = languages.work.done;
    for (let byte = 0; byte < 256; byte++) {
      const next = automaton.step(automaton.start, byte);
      if (byte >= 0xc2 && next !== 0) automaton.step(next, 0x80);
    }
    const steps = languages.work.done - before;
    assert(steps < 120, `${steps} steps`);
  }
});
