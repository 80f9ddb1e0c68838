// Numbers that doubles do not distinguish: bounds, divisors and lists of 17 to 60 digits, against
// fractions of BigInt.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Decimal } from "../../../../engine/grammar/json/mod.ts";
import {
  exactly,
  intersect,
  interval,
  multipleOf,
  type NumberAutomaton,
  numberAutomaton,
  NumberError,
  type NumberSet,
  union,
} from "../../../../engine/grammar/number/mod.ts";
import { threadTime } from "../../../cpu_time.ts";
import { random } from "./samples.ts";

/** Decimal places of all numbers here, counted in units of 10^-PLACES. */
const PLACES = 40;
const ONE = 10n ** BigInt(PLACES);

/** A number of so many units as JSON writes it, without an exponent. */
function written(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(PLACES + 1, "0");
  const fraction = digits.slice(-PLACES).replace(/0+$/, "");
  const whole = digits.slice(0, -PLACES);
  return `${units < 0n ? "-" : ""}${whole}${fraction && `.${fraction}`}`;
}

/** The units of such a text. */
function unitsOf(text: string): bigint {
  const [whole, fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(PLACES, "0"));
}

function accepts(set: NumberSet, text: string): boolean {
  return acceptedBy(numberAutomaton(set, { plain: true }), text);
}

function acceptedBy(automaton: NumberAutomaton, text: string): boolean {
  let state = automaton.start;
  for (const character of text) state = automaton.step(state, character.charCodeAt(0));
  return automaton.accepts(state);
}

Deno.test("500 sets of long numbers accept exactly their members", () => {
  const next = random(41);
  const digits = (count: number): bigint => {
    let text = String(1 + next(9));
    while (text.length < count) text += String(next(10));
    return BigInt(text);
  };
  const decimal = (units: bigint) => Decimal.scaled(units, -PLACES);
  for (let round = 0; round < 500; round++) {
    const kind = next(6);
    // A number with 17 to 60 digits, as an integer or with decimal places. Of decimals without end
    // only those are written that doubles distinguish.
    const isEndless = kind === 0 || kind === 5;
    const step = isEndless || next(2) === 0 ? ONE : 10n ** BigInt(PLACES - 1 - next(20));
    const base = (next(2) === 0 ? -1n : 1n) * digits(17 + next(24)) * step;
    const size = base < 0n ? -base : base;
    const grid = intersect(multipleOf(decimal(step)), interval({}));
    const near = [-3n, -2n, -1n, 0n, 1n, 2n, 3n].map((count) => base + count * step);
    const multiples = [0n, 1n, 2n, 7n].flatMap((count) => [count * size, count * size + step]);
    const [set, has]: [NumberSet, (units: bigint) => boolean] = [
      (): [NumberSet, (units: bigint) => boolean] => [
        intersect(grid, interval({ min: decimal(base) })),
        (units) => units >= base,
      ],
      (): [NumberSet, (units: bigint) => boolean] => [
        intersect(
          grid,
          interval({ exclusiveMin: decimal(base - step), max: decimal(base + step) }),
        ),
        (units) => units > base - step && units <= base + step,
      ],
      (): [NumberSet, (units: bigint) => boolean] => [
        multipleOf(decimal(size)),
        (units) => units % size === 0n,
      ],
      (): [NumberSet, (units: bigint) => boolean] => [
        intersect(multipleOf(decimal(size)), interval({ exclusiveMin: decimal(0n) })),
        (units) => units > 0n && units % size === 0n,
      ],
      (): [NumberSet, (units: bigint) => boolean] => [
        exactly([decimal(base), decimal(base + 2n * step)]),
        (units) => units === base || units === base + 2n * step,
      ],
      (): [NumberSet, (units: bigint) => boolean] => [
        union(
          exactly([decimal(base + 3n * step)]),
          intersect(grid, interval({ max: decimal(base) })),
        ),
        (units) => units === base + 3n * step || units <= base,
      ],
    ][kind]!();
    const automaton = numberAutomaton(set, { plain: true });
    for (const units of [...near, ...multiples]) {
      const text = written(units);
      if (acceptedBy(automaton, text) === has(units)) continue;
      // More digits than JavaScript writes are only written where no member has fewer.
      const [whole, fraction = ""] = text.replace("-", "").split(".");
      const isLong = whole!.length > 21 || fraction.length > 23;
      assert(isLong && has(units), `${text} of a set around ${written(base)}: ${has(units)}`);
    }
    const completed = new TextDecoder().decode(automaton.completion(automaton.start));
    assert(has(unitsOf(completed)), `${completed} of a set around ${written(base)}`);
  }
});

Deno.test("divisors that doubles cannot have are divided by exactly", () => {
  const cases: [divisor: string, members: string[], others: string[]][] = [
    [
      "9007199254740993",
      ["0", "9007199254740993", "18014398509481986", "-27021597764222979"],
      ["9007199254740992", "9007199254740994", "18014398509481984", "1"],
    ],
    [
      "18446744073709551616",
      ["18446744073709551616", "36893488147419103232"],
      ["18446744073709551615", "9223372036854775808"],
    ],
    [
      "0.1234567890123456789",
      ["0.1234567890123456789", "0.2469135780246913578", "1.234567890123456789"],
      ["0.1234567890123456788", "0.12345678901234568", "0.1"],
    ],
    ["123456789012345678901234567890", ["123456789012345678901234567890"], ["1234567890"]],
  ];
  for (const [divisor, members, others] of cases) {
    const set = multipleOf(Decimal.parse(divisor));
    for (const text of members) assert(accepts(set, text), `${text} of ${divisor}`);
    for (const text of others) assert(!accepts(set, text), `${text} of ${divisor}`);
  }
  // Those that doubles have are as they are read: beyond 10^15 nobody could check them.
  assert(!accepts(multipleOf(Decimal.from(3)), "3000000000000000003"));
});

Deno.test("common multiples of long divisors are computed, within bounds", () => {
  const start = threadTime();
  const primes = ["9007199254740997", "9007199254741033", "18446744073709551557"];
  const all = primes.map((text) => multipleOf(Decimal.parse(text))).reduce(intersect);
  const product = primes.map(BigInt).reduce((a, b) => a * b).toString();
  const positive = intersect(all, interval({ exclusiveMin: Decimal.zero }));
  assert(accepts(positive, product));
  const completed = numberAutomaton(positive, { plain: true });
  assertEquals(new TextDecoder().decode(completed.completion(completed.start)), product);
  // A part of the line for each divisor: the residue must serve all of them.
  const parts = Array.from({ length: 40 }, (_, index) =>
    intersect(
      multipleOf(Decimal.parse(`1${"0".repeat(60)}${2 * index + 1}`)),
      interval({
        min: Decimal.scaled(BigInt(index), 70),
        exclusiveMax: Decimal.scaled(BigInt(index + 1), 70),
      }),
    ));
  assertThrows(() => numberAutomaton(parts.reduce(union)), NumberError, "digits");
  assert(threadTime() - start < 5000);
});
