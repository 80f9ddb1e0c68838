// Masks equal what every token does byte by byte, at places all over documents that are written at
// random; and what steers a document to its end.

import { assert, assertEquals } from "@std/assert";
import { Languages } from "../../../../engine/grammar/language/mod.ts";
import { createMachine, type Matcher } from "../../../../engine/grammar/machine/mod.ts";
import type { TokenTable } from "../../../../engine/grammar/machine/token_table.ts";
import { allNumbers, integers } from "../../../../engine/grammar/number/mod.ts";
import type { ValueType } from "../../../../engine/grammar/types.ts";
import { ANY, array, machineFor, object, ofCharacters, tableOf, words } from "./fake_automata.ts";

const text = (language: number, min = 0, max = Infinity) => ({ language, min, max });

/** Types with everything in them, the root first. */
const TYPES: readonly ValueType[] = [
  {
    objects: [
      object({ name: 1, "nam?": 5, "tags?": 2, "kind?": 3, "any?": 4 }, {
        others: [{ keys: 0, type: 5 }],
      }),
      object({ name: 1, "items": 6 }),
      object({ long: 8, name: 1 }),
    ],
  },
  { strings: text(3, 1, 12) },
  { arrays: [array({ rest: 1, unique: true, max: 4 })] },
  { strings: text(1) },
  {
    null: true,
    booleans: [false, true],
    numbers: allNumbers(),
    strings: text(0),
    arrays: [array({ rest: 4 })],
    objects: [object({}, { others: [{ keys: 3, type: 4 }] })],
  },
  { numbers: integers(), null: true },
  { arrays: [array({ prefix: [3, 5], rest: 7, min: 3, max: 5 })] },
  { strings: text(2, 2, 5) },
  { strings: text(3, 24, 40) },
];

const LANGUAGES = [
  ofCharacters(/[A-Zé"]/),
  words("one", "other", "o\n"),
  ofCharacters(/[a-z0-9é]/),
  ANY,
];

const PIECES = [
  '{"',
  '":',
  '": "',
  '","',
  '":"',
  '":"","',
  '":1,"',
  '{"name":"',
  '"},',
  "null",
  "true,",
  "[[",
  "]]",
  "]}",
  '["',
  '","a',
  '"]',
  '""',
  '"",',
  ", ",
  ': {"',
  "12",
  "1.5e",
  "-",
  "na",
  "name",
  "tags",
  "A",
  "AB",
  'A":',
  ',"A":1,"',
  '"A":1,"A":',
  'B":null,"B',
  "kind",
  "ab",
  "abc",
  "one",
  "other",
  "é",
  "\\n",
  '\\"',
  "\\u00",
  " ",
  "  ",
  "items",
  "z9",
  "\u{1f600}",
  "x".repeat(14),
  "xyz",
  "xy",
  '{"long":"',
  Uint8Array.of(0xf0, 0x9f),
  Uint8Array.of(0x78, 0xf0, 0x9f),
  Uint8Array.of(0x98, 0x80, 0x41),
  Uint8Array.of(0x41, 0xa9),
  Uint8Array.of(0x22, 0x41, 0xa9),
  Uint8Array.of(0x22, 0x41, 0x42, 0xa9, 0x41),
  Uint8Array.of(0x41, 0xc3, 0x28),
  Uint8Array.of(0x41, 0xed, 0xa0),
  '":null,"',
  "[]",
  "{}",
  '":{},"',
  "a\nb",
  '"one",',
  '"a","a"',
];

/** Tokens that strings take whole, or in part. */
const STRING_PIECES = [
  ..."abcdefghijklmnopqrstuvwxyz".split("").map((letter) => letter.repeat(3)),
  ..."abcdefghijklmnopqrstuvwxyz".split("").map((letter) => `${letter}a-1 ${letter}`),
  ...["..", "./", "...", ".a", "..b", "b/", "b/1", "1c", "d,", ",e", "éé", "éa", "ü", "名", "aü"],
  ...['aa"', 'éb"', '\\"a', "a\\n", "b\\u001f", '.."', "/..", "a b c d e f g h i j k l m n"],
  ...Array.from({ length: 10 }, (_, at) => ` ${String.fromCodePoint(0xff40 + at)}`),
  ...["\u3000", "\u3000a", "\u00a0 b", "a\u2003", "b \u3000 c", "a a", " a", " ab", "b b "],
  Uint8Array.of(0xe3, 0x80),
  Uint8Array.of(0x61, 0xc2),
  Uint8Array.of(0x61, 0xe5),
  Uint8Array.of(0xe5, 0x90),
  Uint8Array.of(0x8d, 0x22),
];

/** Numbers from 0 to 1, the same in every run. */
function randomNumbers(seed: number): () => number {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

function tokensOf(mask: Uint32Array): number[] {
  const tokens: number[] = [];
  mask.forEach((word, index) => {
    for (let bit = 0; bit < 32; bit++) if ((word >>> bit) & 1) tokens.push(32 * index + bit);
  });
  return tokens;
}

/** The tokens that bytes alone allow, of a matcher brought to a place by bytes. */
function simulate(table: TokenTable, begin: () => Matcher, document: Uint8Array): number[] {
  const allowed: number[] = [];
  const here = begin();
  assert(here.acceptBytes(document));
  for (let token = 0; token < table.size; token++) {
    if (table.endTokens.has(token)) {
      if (here.isComplete) allowed.push(token);
    } else {
      const matcher = begin();
      matcher.acceptBytes(document);
      const isTaken = [...table.bytesOf(token)].every((byte) =>
        matcher.acceptBytes(Uint8Array.of(byte))
      );
      if (isTaken) allowed.push(token);
    }
  }
  return allowed;
}

Deno.test("mask() equals a simulation of every token byte by byte", () => {
  const table = tableOf(...PIECES);
  for (const anyOrder of [false, true]) {
    const machine = machineFor(TYPES, LANGUAGES, { table, anyOrder });
    const random = randomNumbers(anyOrder ? 7 : 3);
    for (let document = 0; document < 8; document++) {
      const matcher = machine.matcher();
      const bytes: number[] = [];
      for (let step = 0; step < 20 && !matcher.isEnded; step++) {
        const expected = simulate(table, () => machine.matcher(), Uint8Array.from(bytes));
        const written = new TextDecoder().decode(Uint8Array.from(bytes));
        assertEquals(tokensOf(matcher.mask()), expected, `after ${written}`);
        assert(expected.length > 0, `nothing may follow ${written}`);
        const pieces = expected.filter((token) => token > 256);
        const choice = pieces.length > 0 && random() < 0.8 ? pieces : expected;
        const token = choice[Math.floor(random() * choice.length)]!;
        assert(matcher.accept(token), `token ${token} after ${written}`);
        if (!table.endTokens.has(token)) bytes.push(...table.bytesOf(token));
      }
    }
  }
});

Deno.test("masks of counted and patterned strings equal a simulation of every token", () => {
  const table = tableOf(...PIECES, ...STRING_PIECES);
  const languages = new Languages();
  const cases: [pattern: string, min: number, max: number][] = [
    ["", 0, Infinity],
    ["", 3, Infinity],
    ["", 2, 40],
    ["", 0, 300],
    ["^[a-z]{1,200}$", 0, Infinity],
    ["^[A-Za-z][a-z0-9_ -]*$", 5, 9],
    ["^[a-z0-9é]{2,20}(,[a-z]{1,30})*$", 0, 25],
    ["b/\\d+c", 0, 12],
    ["^(?!name$|other$|x{14}$)", 0, 20],
    [String.raw`^(?!\.\.?(?:\/|$))[A-Za-z0-9_\-.~:@+]{1,30}$`, 0, Infinity],
    [String.raw`^(?=[\s\S]*a$)(?:a|[\s\S]*b)$`, 0, Infinity],
    ["^[^\\n]*$", 0, Infinity],
    ["^[^é]{3,30}$", 0, Infinity],
    ["^(..)*$", 8, 8],
    ["^([a-z][^x])*$", 3, 11],
    ["^([a-z]{2}|[^a-z]{3})*$", 7, 9],
    ["^\\p{L}+( \\p{L}+)*$", 0, Infinity],
    ["^(?:\\S+\\s+){0,4}\\S+$", 0, 20],
    ["^\\s+$", 0, Infinity],
    ["^[\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff]{2,5}$", 0, Infinity],
    ["^(/[^/]+)*$", 3, 12],
  ];
  const random = randomNumbers(5);
  for (const [pattern, min, max] of cases) {
    const { language, ...count } = languages.withoutCount(languages.pattern(pattern));
    const strings = { language, min: Math.max(min, count.min), max: Math.min(max, count.max) };
    const machine = createMachine({ types: [{ strings }], root: 0 }, languages, { table });
    for (let document = 0; document < 4; document++) {
      const matcher = machine.matcher();
      const bytes: number[] = [];
      for (let step = 0; step < 14 && !matcher.isEnded; step++) {
        const expected = simulate(table, () => machine.matcher(), Uint8Array.from(bytes));
        const written = new TextDecoder().decode(Uint8Array.from(bytes));
        assertEquals(tokensOf(matcher.mask()), expected, `${pattern} after ${written}`);
        const token = expected[Math.floor(random() * expected.length)]!;
        assert(matcher.accept(token), `token ${token} after ${written}`);
        if (!table.endTokens.has(token)) bytes.push(...table.bytesOf(token));
      }
    }
  }
});

Deno.test("accept() of a token that may not come changes nothing", () => {
  const table = tableOf(...PIECES);
  const matcher = machineFor(TYPES, LANGUAGES, { table }).matcher();
  const before = tokensOf(matcher.mask());
  assertEquals(matcher.accept(table.size - 1), false);
  assertEquals(matcher.accept(256 + PIECES.indexOf("null")), false);
  assertEquals(tokensOf(matcher.mask()), before);
});

Deno.test("mask() with a budget brings every document to its end in time", () => {
  const table = tableOf(...PIECES);
  const machine = machineFor(TYPES, LANGUAGES, { table });
  const random = randomNumbers(11);
  for (const budget of [30, 45, 70, 200]) {
    for (let document = 0; document < 10; document++) {
      const matcher = machine.matcher();
      for (let remaining = budget; remaining > 0 && !matcher.isEnded; remaining--) {
        const tokens = tokensOf(matcher.mask({ remaining }));
        assert(matcher.accept(tokens[Math.floor(random() * tokens.length)]!));
      }
      assert(matcher.isComplete, `a budget of ${budget} tokens is spent`);
    }
  }
});

Deno.test("forced() gives the bytes up to the next choice", () => {
  const machine = machineFor(
    [
      { objects: [object({ name: 1, kind: 2 })] },
      { strings: text(0) },
      { null: true },
    ],
    [ANY],
    { whitespace: "none" },
  );
  const matcher = machine.matcher();
  assertEquals(new TextDecoder().decode(matcher.forced()), '{"name":"');
  assert(matcher.acceptBytes(new TextEncoder().encode('{"name":"x"')));
  assertEquals(new TextDecoder().decode(matcher.forced()), ',"kind":null}');
});

Deno.test("a matcher outlives the states that its machine gives up", () => {
  const machine = machineFor([
    { arrays: [array({ rest: 1, unique: true })] },
    { numbers: integers() },
  ]);
  const matcher = machine.matcher();
  const items = [...Array(6000).keys()].map(String);
  assert(matcher.acceptBytes(new TextEncoder().encode("[")));
  for (const item of items) assert(matcher.acceptBytes(new TextEncoder().encode(`${item},`)));
  assertEquals(matcher.acceptBytes(new TextEncoder().encode("17]")), false);
  assertEquals(matcher.acceptBytes(new TextEncoder().encode("6000]")), true);
});

Deno.test("items of a unique array may be as long as they like", () => {
  const machine = machineFor([
    { arrays: [array({ rest: 1, unique: true })] },
    { strings: text(0) },
  ], [ANY]);
  const long = JSON.stringify("x".repeat(20_000));
  const matcher = machine.matcher();
  assert(matcher.acceptBytes(new TextEncoder().encode(`[${long},${long.slice(0, -1)}`)));
  const tokens = tokensOf(matcher.mask());
  assertEquals([tokens.includes(0x22), tokens.includes(0x78)], [false, true]);
});
