// What holds when more was found than is kept, or more alternatives are open than a state holds: masks
// go on, and every token in them is accepted.

import { assert, assertEquals } from "@std/assert";
import { compileGrammar, compileSchema, type Matcher } from "../../../engine/grammar/mod.ts";
import { Decimal } from "../../../engine/grammar/json/mod.ts";
import { DEAD, Machine } from "../../../engine/grammar/machine/machine.ts";
import { Rules } from "../../../engine/grammar/machine/rules/rules.ts";
import { exactly } from "../../../engine/grammar/number/mod.ts";
import { array, automata } from "./machine/fake_automata.ts";
import { smallTokenizer, tokensOf } from "./small_tokenizer.ts";

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const LETTERS = ["a", "b", "c", "x", " ", "é"];
const tokenizer = smallTokenizer(
  [
    ...new Set(
      list(
        400,
        (index) =>
          list(
            2 + index % 9,
            (at) => LETTERS[(Math.imul(index + 7, 2654435761) >>> (3 * at + 1)) % LETTERS.length],
          ).join(""),
      ),
    ),
    ...["[[", "[[[", "[[[[", "]]", "[1", '["', '","', "1,", "1]"],
  ],
  [],
);

function drawing(seed: number): (bound: number) => number {
  return (bound) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };
}

/** Text tokens that a mask has, of several characters. */
function longTokens(mask: Uint32Array): number[] {
  return tokensOf(mask).filter((token) => token >= 256 && token < tokenizer.vocabularySize - 1);
}

const LOOK_AHEADS = `^${list(12, (index) => `(?=.*a.{${index + 1}}b)`).join("")}.*$`;

const SCHEMAS: Readonly<Record<string, object>> = {
  "look-aheads": { type: "string", pattern: LOOK_AHEADS },
  "a near past": { type: "string", pattern: "^.*a.{20}$" },
  "look-behinds": { type: "string", pattern: "((?<=a.{10})b|c(?<!a.{12})| )*" },
};

for (const [name, schema] of Object.entries(SCHEMAS)) {
  Deno.test(`masks of ${name} go on after more was found than is kept`, () => {
    const small = compileSchema(schema, tokenizer, { keptShare: 1 / 20 });
    const whole = compileSchema(schema, tokenizer);
    const draw = drawing(5);
    // Two documents at once: what one of them drops is not the other's.
    const pairs = [0, 1].map(() => [small.matcher(), whole.matcher()] as const);
    for (const pair of pairs) for (const one of pair) assert(one.accept(tokenizer.encode('"')[0]!));
    for (let count = 0; count < 60; count++) {
      const [matcher, other] = pairs[draw(2)]!;
      const tokens = longTokens(matcher.mask());
      assert(tokens.length > 3, `${tokens.length} tokens after ${count}`);
      const token = tokens[draw(tokens.length)]!;
      assert(matcher.accept(token));
      assert(other.accept(token));
      assertEquals(matcher.isComplete, other.isComplete);
    }
    for (const [matcher, other] of pairs) finish(matcher, other);
  });
}

/** Ends a document as one of two matchers completes it. */
function finish(matcher: Matcher, other: Matcher): void {
  const end = new TextDecoder().decode(matcher.completion());
  for (const token of tokenizer.encode(end)) {
    assert(matcher.accept(token));
    assert(other.accept(token));
  }
  assert(matcher.isComplete && other.isComplete);
}

Deno.test("a text of a grammar goes on after more was found than is kept", () => {
  const source = "^(a|b|c|x| |é)*a(a|b|c|x| |é){20}$";
  const root = { type: "pattern", source } as const;
  const matcher = compileGrammar({ root }, tokenizer, { keptShare: 1 / 20 }).matcher();
  const draw = drawing(7);
  let text = "";
  for (let count = 0; count < 40; count++) {
    const tokens = longTokens(matcher.mask());
    assert(tokens.length > 3, `${tokens.length} tokens after ${count}`);
    const token = tokens[draw(tokens.length)]!;
    text += tokenizer.piece(token);
    assert(matcher.accept(token));
    assertEquals(matcher.isComplete, new RegExp(source, "u").test(text));
  }
});

Deno.test("numbers of long periods go on after more was found than is kept", () => {
  const type = ["null", "boolean", "number", "string", "array", "object"];
  const schema = { type: "array", items: { type, multipleOf: 1_000_003 }, minItems: 50 };
  const small = compileSchema(schema, tokenizer, { keptShare: 1 / 2000 }).matcher();
  const whole = compileSchema(schema, tokenizer).matcher();
  const draw = drawing(3);
  for (let count = 0; count < 200; count++) {
    const tokens = tokensOf(small.mask());
    const token = tokens[draw(tokens.length)]!;
    assert(small.accept(token) && whole.accept(token));
  }
  finish(small, whole);
});

Deno.test("a state of very many alternatives goes on as all its parts do", () => {
  const count = 3000;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const numbers = list(count, (index) => ({ numbers: exactly([Decimal.from(index)]) }));
  // Arrays of unique items are not joined, as they are compared with others.
  const arrays = list(count, (index) => array({ prefix: [index], min: 1, max: 1, unique: true }));
  const rules = new Rules({ types: [...numbers, { arrays }], root: count }, automata());
  const machine = new Machine(rules);
  const run = (state: number, text: string) =>
    bytes(text).reduce((at, byte) => at === DEAD ? at : machine.step(at, byte), state);
  const whole = run(machine.start, "[");
  const stacks = machine.stacksOf(whole);
  assertEquals(stacks.length, count);
  const parts = [0, 1, 2].map((part) => machine.stateOf(stacks.filter((_, at) => at % 3 === part)));
  for (let index = 0; index < count; index += 7) {
    const isInPart = parts.some((part) => run(part, `${index}]`) !== DEAD);
    assert(isInPart && run(whole, `${index}]`) !== DEAD, `${index}`);
  }
  assert(machine.stacksOf(machine.thinned(whole)).length < count);
});
