// Number automata, against exact arithmetic on thousands of literals, random walks, and doubles.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Decimal } from "../../../../engine/grammar/json/mod.ts";
import {
  allNumbers,
  complement,
  exactly,
  hasNumber,
  integers,
  intersect,
  interval,
  isEmptyNumbers,
  multipleOf,
  type NumberAutomaton,
  numberAutomaton,
  NumberError,
  type NumberSet,
  union,
} from "../../../../engine/grammar/number/mod.ts";
import { random, sample, unitsOf } from "./samples.ts";
import { slowness, threadTime } from "../../../cpu_time.ts";

const number = Decimal.parse;

/** The state after a text. */
function walk(automaton: NumberAutomaton, text: string, state = automaton.start): number {
  for (const character of text) state = automaton.step(state, character.charCodeAt(0));
  return state;
}

function accepts(automaton: NumberAutomaton, text: string): boolean {
  return automaton.accepts(walk(automaton, text));
}

function completed(automaton: NumberAutomaton, text: string): string {
  return text + new TextDecoder().decode(automaton.completion(walk(automaton, text)));
}

function combinations(...parts: string[][]): string[] {
  return parts.reduce((all, part) => all.flatMap((text) => part.map((next) => text + next)), [""]);
}

const WHOLE = [...Array(25).keys()].map(String).concat("99", "100", "101", "120", "999", "1000");
const FRACTIONS = ["", ".0", ".00", ".1", ".5", ".50", ".25", ".04", ".125", ".75", ".999", ".001"];
const EXPONENTS = ["e0", "e1", "E+2", "e-1", "e-3", "e03", "e-02"];
const PLAIN = combinations(["", "-"], WHOLE, FRACTIONS);
const SCALED = combinations(["", "-"], WHOLE, FRACTIONS, EXPONENTS);

Deno.test("automata of 60 random sets accept exactly the members among 5,952 literals", () => {
  const next = random(7);
  for (let round = 0; round < 60; round++) {
    const { set, has, text } = sample(next, round % 4);
    if (isEmptyNumbers(set)) continue;
    const automaton = numberAutomaton(set);
    for (const literal of PLAIN) {
      assertEquals(accepts(automaton, literal), has(unitsOf(literal)), `${literal} in ${text}`);
    }
    for (const literal of SCALED) {
      if (accepts(automaton, literal)) assert(has(unitsOf(literal)), `${literal} in ${text}`);
    }
  }
});

Deno.test("unbounded numbers take all spellings, integers those that begin as integers", () => {
  const all = numberAutomaton(allNumbers());
  const gapped = numberAutomaton(complement(exactly([number("120"), number("-0.25")])));
  const whole = numberAutomaton(integers());
  for (const literal of SCALED) {
    assert(accepts(all, literal), literal);
    const units = unitsOf(literal);
    const gap = units === unitsOf("120") || units === unitsOf("-0.25");
    assertEquals(accepts(gapped, literal), !gap, literal);
    const [mantissa, exponent] = literal.toLowerCase().split("e");
    const begins = Number.isInteger(Number(mantissa)) &&
      (Number(exponent) >= 0 || Number(mantissa) === 0);
    assertEquals(accepts(whole, literal), begins, literal);
  }
  for (
    const literal of ["-0.0", "1e+24", "1.256e-06", "1.7976931348623157e307", "2.2e-308"].concat(
      ["123456789012345678901", "0.0000012345678901234567", "0.30000000000000004"],
    )
  ) assert(accepts(all, literal), literal);
  for (
    const wrong of ["", "-", "+1", "01", "-01", "1.", ".1", "1e", "1e+", "1.e1", "--1", "1e1.0"]
  ) {
    assert(!accepts(all, wrong), wrong);
  }
});

Deno.test("plain automata have one spelling for every member", () => {
  const next = random(11);
  for (let round = 0; round < 40; round++) {
    const { set, has, text } = sample(next, round % 4);
    if (isEmptyNumbers(set)) continue;
    const automaton = numberAutomaton(set, { plain: true });
    for (const literal of [...PLAIN, ...SCALED]) {
      const isPlain = !/e|\.\d*0$|^-0$/i.test(literal);
      assertEquals(
        accepts(automaton, literal),
        isPlain && has(unitsOf(literal)),
        `${literal} in ${text}`,
      );
    }
  }
});

const HARD: [NumberSet, string][] = [
  [interval({ min: number("0.1"), max: number("0.3") }), "0.1"],
  [interval({ exclusiveMin: number("0"), exclusiveMax: number("1e-7") }), "0.00000001"],
  [interval({ min: number("-2.5"), exclusiveMax: number("-2.4") }), "-2.5"],
  [
    interval({ min: number("9007199254740993"), max: number("9007199254740993") }),
    "9007199254740993",
  ],
  [
    intersect(integers(), interval({ exclusiveMin: number("9007199254740993") })),
    "9007199254740994",
  ],
  [interval({ min: number("1e30") }), "1" + "0".repeat(30)],
  [
    intersect(multipleOf(number("700")), interval({ min: number("1e25") })),
    "1" + "0".repeat(22) + "200",
  ],
  [
    intersect(multipleOf(number("0.123456789")), interval({ exclusiveMin: number("3") })),
    "123456.789",
  ],
  [exactly([number("1e-7"), number("-1.5e300")]), "1e-7"],
  [exactly([number("123456"), number("0.001")]), "0.001"],
  [multipleOf(number("999983")), "0"],
  [intersect(multipleOf(number("999983")), interval({ exclusiveMin: number("0") })), "999983"],
  [intersect(multipleOf(number("0.07")), complement(multipleOf(number("0.1")))), "0.07"],
  [union(interval({ max: number("-100") }), exactly([number("250")])), "250"],
  [complement(union(interval({ max: number("7") }), integers())), "7.1"],
];

Deno.test("completions are the shortest, and members from wherever a walk leads", () => {
  const next = random(3);
  const sets = HARD.map(([set]) => set);
  for (let round = 0; round < 30; round++) {
    const { set } = sample(next, round % 4);
    if (!isEmptyNumbers(set)) sets.push(set);
  }
  for (const [set, expected] of HARD) {
    assertEquals(completed(numberAutomaton(set), ""), expected);
  }
  for (const set of sets) {
    for (const plain of [false, true]) {
      const automaton = numberAutomaton(set, { plain });
      for (let tries = 0; tries < 20; tries++) {
        let text = "";
        let state = automaton.start;
        for (let length = next(40); length > 0; length--) {
          const character = "0123456789.-+eE"[next(15)]!;
          const target = automaton.step(state, character.charCodeAt(0));
          if (target === 0) continue;
          text += character;
          state = target;
        }
        if (automaton.accepts(state)) assert(hasNumber(set, number(text)), text);
        const whole = completed(automaton, text);
        assertEquals(whole.length, text.length + automaton.shortest(state), text);
        assert(accepts(automaton, whole) && hasNumber(set, number(whole)), `${text} to ${whole}`);
      }
    }
  }
});

Deno.test("what is written stays a member when it is read as a double", () => {
  const open = numberAutomaton(
    interval({ exclusiveMin: number("0.1"), exclusiveMax: number("1") }),
  );
  const not = numberAutomaton(complement(exactly([number("0.3"), number("5")])));
  const greedy = (automaton: NumberAutomaton, text: string, digit: string) => {
    while (walk(automaton, text + digit) !== 0) text += digit;
    return completed(automaton, text);
  };
  assert(Number(greedy(open, "0.", "9")) < 1);
  assert(Number(greedy(open, "0.1", "0")) > 0.1);
  assert(Number(greedy(not, "5.", "0")) !== 5);
  assert(Number(greedy(not, "4.", "9")) !== 5);
  assert(Number(greedy(not, "0.3", "0")) !== 0.3);
  for (const literal of ["0.9999999999999999", "0.10000000000000002"]) {
    assert(accepts(open, literal), literal);
  }
  const next = random(5);
  const threes = numberAutomaton(multipleOf(number("3")));
  for (let round = 0; round < 200; round++) {
    let text = "";
    for (let length = 0; length < 30; length++) {
      const digit = String(next(10));
      if (walk(threes, text + digit) !== 0) text += digit;
    }
    assertEquals(Number(completed(threes, text)) % 3, 0);
  }
});

Deno.test("an automaton of a free number has few states and quick steps", () => {
  const start = threadTime();
  const automaton = numberAutomaton(allNumbers());
  const states = new Set([automaton.start]);
  for (const state of states) {
    for (const byte of new TextEncoder().encode("0123456789.-+eE")) {
      const target = automaton.step(state, byte);
      if (target !== 0) states.add(target);
    }
  }
  assert(states.size < 5000, `${states.size} states`);
  assert(threadTime() - start < 5000);
});

Deno.test("long lists and long numbers are spelled within a second", () => {
  const spell = () => {
    const start = threadTime();
    const many = exactly(
      Array.from({ length: 20_000 }, (_, index) => Decimal.from(index * 37 + 0.5)),
    );
    assertEquals(completed(numberAutomaton(many), "7399"), "739926.5");
    assert(accepts(numberAutomaton(complement(many)), "38"));
    assertEquals(completed(numberAutomaton(interval({ min: number("1e300") })), "").length, 301);
    const digits = "1." + "123456789".repeat(30);
    assertEquals(completed(numberAutomaton(exactly([number(digits)])), ""), digits);
    return threadTime() - start;
  };
  const limit = 1000 * slowness();
  const times = [spell()];
  while (times.at(-1)! >= limit && times.length < 3) times.push(spell());
  assert(times.at(-1)! < limit, `${times.join(", ")}; limit ${limit}`);
});

Deno.test("numbers of 309 digits are spelled where they are asked for and finite", () => {
  for (const plain of [true, false]) {
    const digits = "1" + "0".repeat(308);
    assertEquals(completed(numberAutomaton(exactly([number("1e308")]), { plain }), "10"), digits);
    const far = numberAutomaton(interval({ min: number("1e308") }), { plain });
    assert(accepts(far, digits) && accepts(far, digits.replace("10", "17")));
    assert(!accepts(far, digits.replace("10", "19")));
  }
  assert(accepts(numberAutomaton(exactly([number("1e308")])), "1e+308"));
});

Deno.test("listed numbers are written as they are listed, and others as usual", () => {
  const listed = ["1.0", "-0", "1e21", "1E5", "2.50", "1e-7", "7", "1e900", "-3.5e-900", "2.5e1"];
  const set = union(
    exactly(listed.map(number)),
    intersect(integers(), interval({ min: number("30"), max: number("40.0") })),
  );
  const automaton = numberAutomaton(set, { plain: true, asListed: true });
  for (const text of [...listed, "30", "40"]) assert(accepts(automaton, text), text);
  for (
    const text of ["1", "1.00", "0", "-0.0", "1e5", "1e+21", "2.5", "25", "7.0", "1E900", "40.0"]
  ) assert(!accepts(automaton, text), text);
  assertEquals(completed(automaton, "1e9"), "1e900");
  assertEquals(completed(automaton, "2.5e"), "2.5e1");
  assertEquals(automaton.shortest(walk(automaton, "-3")), 7);
  assertEquals(completed(automaton, ""), "7");
  // Among integers, and where a neighbour is a member too, numbers are written out.
  const whole = intersect(integers(), exactly(["1.0", "2e3"].map(number)));
  for (const plain of ["1", "2000"]) {
    assert(accepts(numberAutomaton(whole, { plain: true, asListed: true }), plain));
  }
  const dense = numberAutomaton(union(exactly([number("1.0")]), interval({ max: number("1") })), {
    plain: true,
    asListed: true,
  });
  assert(accepts(dense, "1") && !accepts(dense, "1.0"));
});

Deno.test("sets that cannot be spelled are refused", () => {
  assertThrows(() => numberAutomaton(exactly([])), NumberError, "empty");
  assertThrows(() => numberAutomaton(exactly([number("1e350")])), NumberError, "digits");
  assertThrows(() => numberAutomaton(interval({ min: number("1e350") })), NumberError, "digits");
  assertThrows(() => numberAutomaton(exactly([number("1e-350")])), NumberError, "digits");
});
