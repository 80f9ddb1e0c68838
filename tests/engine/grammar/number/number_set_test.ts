// The algebra of number sets, against predicates over BigInt: a set and what it should hold are
// built side by side, then compared on a fine grid of numbers.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Decimal } from "../../../../engine/grammar/json/mod.ts";
import {
  allNumbers,
  complement,
  exactly,
  finiteNumbers,
  hasNumber,
  integers,
  intersect,
  interval,
  isEmptyNumbers,
  multipleOf,
  NumberError,
  type NumberSet,
  sameNumbers,
  union,
} from "../../../../engine/grammar/number/mod.ts";
import { ofUnits, ONE, random, sample } from "./samples.ts";
import { threadTime } from "../../../cpu_time.ts";

/** From -13 to 13 in steps of 1/400, and around the bounds -7, 12 and 100 besides. */
const GRID = Array.from({ length: 10_401 }, (_, index) => (BigInt(index) - 5200n) * ONE / 400n)
  .concat([-7n, 12n, 100n].flatMap((bound) => [bound * ONE - 1n, bound * ONE, bound * ONE + 1n]));

Deno.test("number sets agree with predicates on 10,000 numbers for 80 random expressions", () => {
  const next = random(1);
  for (let round = 0; round < 80; round++) {
    const { set, has, text } = sample(next, round % 4);
    for (const units of GRID) assertEquals(hasNumber(set, ofUnits(units)), has(units), text);
    if (GRID.some(has)) assert(!isEmptyNumbers(set), text);
    const listed = finiteNumbers(set, 20_000)?.map(String);
    if (listed !== undefined) {
      assertEquals(listed, [...new Set(listed)], text);
      for (const units of GRID) {
        assertEquals(listed.includes(`${ofUnits(units)}`), has(units), text);
      }
    }
    assert(sameNumbers(complement(complement(set)), set), text);
    assert(isEmptyNumbers(intersect(set, complement(set))), text);
    assert(sameNumbers(union(set, complement(set)), allNumbers()), text);
  }
});

Deno.test("emptiness is exact where members lie far apart, beyond 2^53, or nowhere", () => {
  const number = Decimal.parse;
  const cases: [NumberSet, string[] | undefined][] = [
    [intersect(integers(), interval({ exclusiveMin: number("0"), exclusiveMax: number("1") })), []],
    [interval({ min: number("5"), max: number("3") }), []],
    [interval({ min: number("5"), max: number("5") }), ["5"]],
    [interval({ exclusiveMin: number("5"), max: number("5") }), []],
    [
      intersect(
        integers(),
        interval({ min: number("9007199254740992.5"), max: number("9007199254740994") }),
      ),
      ["9007199254740993", "9007199254740994"],
    ],
    [
      intersect(multipleOf(number("7e5")), interval({ min: number("1e6"), max: number("2.2e6") })),
      ["1400000", "2100000"],
    ],
    [intersect(multipleOf(number("6")), complement(multipleOf(number("3")))), []],
    [intersect(multipleOf(number("1e-8")), interval({ min: number("0"), max: number("2e-8") })), [
      "0",
      "1e-8",
      "2e-8",
    ]],
    [interval({ exclusiveMin: number("0"), exclusiveMax: number("1e-300") }), undefined],
  ];
  for (const [set, members] of cases) {
    assertEquals(isEmptyNumbers(set), members?.length === 0);
    assertEquals(finiteNumbers(set, 10)?.map(String), members);
  }
  assert(sameNumbers(intersect(integers(), multipleOf(number("1e-8"))), integers()));
  const fine = intersect(integers(), multipleOf(number("0.123456789")));
  assert(sameNumbers(fine, multipleOf(number("123456789"))));
  assert(!hasNumber(fine, number("1e308")) && hasNumber(fine, number("123456789e300")));
  assert(
    sameNumbers(
      intersect(multipleOf(number("4")), multipleOf(number("0.6"))),
      multipleOf(number("12")),
    ),
  );
});

Deno.test("sets beyond the limits are refused at once", () => {
  const start = threadTime();
  assertThrows(() => multipleOf(Decimal.zero), NumberError);
  const a = multipleOf(Decimal.parse("1009"));
  const b = multipleOf(Decimal.parse("1013"));
  assert(sameNumbers(intersect(a, b), multipleOf(Decimal.parse("1022117"))));
  assertThrows(() => union(a, b), NumberError, "1022117 steps");
  assertThrows(() => multipleOf(Decimal.parse("1e999999")), NumberError, "1024 digits");
  assertThrows(() => exactly([Decimal.parse("1e-999999")]), NumberError, "1024 digits");
  assert(threadTime() - start < 500);
});

Deno.test("bounds beyond all numbers bound all or none, and fine ones the next number", () => {
  const [huge, tiny] = [Decimal.parse("1e999999"), Decimal.parse("1e-999999")];
  const one = Decimal.parse("1");
  assert(isEmptyNumbers(interval({ min: huge })));
  assert(isEmptyNumbers(interval({ exclusiveMax: huge.negate() })));
  assert(sameNumbers(interval({ max: huge, min: huge.negate() }), allNumbers()));
  for (const limits of [{ min: tiny }, { exclusiveMin: tiny }]) {
    const set = interval(limits);
    assert(hasNumber(set, one) && hasNumber(set, Decimal.parse("1e-400")));
    assert(!hasNumber(set, Decimal.zero) && !hasNumber(set, one.negate()));
  }
  const below = interval({ max: tiny.negate() });
  assert(hasNumber(below, Decimal.parse("-1e-400")) && !hasNumber(below, Decimal.zero));
});
