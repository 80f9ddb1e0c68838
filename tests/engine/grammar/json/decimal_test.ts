// Exact decimals, against BigInt fractions and JavaScript's own numbers.

import { assertEquals, assertThrows } from "@std/assert";
import { Decimal, JsonError } from "../../../../engine/grammar/json/mod.ts";
import { threadTime } from "../../../cpu_time.ts";

const LITERALS = ["0", "1", "12", "99", "100", "1.5", "0.1", "0.099", "12.34", "9007199254740993"]
  .flatMap((text) => [text, `-${text}`])
  .flatMap((text) => [text, `${text}e3`, `${text}E-2`, `${text}e+20`, `${text}e-20`]);

/** The literal times 10^40, by the definition of JSON numbers. */
function scaled(literal: string): bigint {
  const [mantissa, power = "0"] = literal.toLowerCase().split("e");
  const [whole, fraction = ""] = mantissa!.split(".");
  return BigInt(whole! + fraction) * 10n ** BigInt(40 + Number(power) - fraction.length);
}

Deno.test("Decimal compares and rounds as exact fractions do", () => {
  for (const a of LITERALS) {
    const decimal = Decimal.parse(a);
    for (const b of LITERALS) {
      const difference = scaled(a) - scaled(b);
      const expected = difference < 0n ? -1 : difference > 0n ? 1 : 0;
      assertEquals(Math.sign(decimal.compare(Decimal.parse(b))), expected, `${a} ${b}`);
      assertEquals(decimal.equals(Decimal.parse(b)), expected === 0);
    }
    assertEquals(scaled(decimal.toString()), scaled(a));
    assertEquals(scaled(decimal.negate().shift(2).toString()), -100n * scaled(a));
    assertEquals(decimal.isInteger, scaled(a) % 10n ** 40n === 0n, a);
    for (const exponent of [-22, -3, 0, 2, 30]) {
      const unit = 10n ** BigInt(40 + exponent);
      const rest = ((scaled(a) % unit) + unit) % unit;
      assertEquals(decimal.floorAt(exponent), (scaled(a) - rest) / unit, `${a} ${exponent}`);
    }
  }
});

Deno.test("Decimal writes numbers as JavaScript does", () => {
  for (const value of [0, 1, -1.5, 1e20, 1e21, 1.5e21, 1e-6, 1.2e-7, 123.456, 5e-324, 1e308]) {
    assertEquals(Decimal.from(value).toString(), String(value).replace("e+", "e"));
    assertEquals(Decimal.from(value).toNumber(), value);
  }
  assertEquals(Decimal.from(-0).toString(), "0");
  assertEquals(Decimal.from(2n ** 64n).toString(), "18446744073709551616");
});

Deno.test("Decimal keeps a text that is not the usual one, and is equal all the same", () => {
  for (const text of ["1.0", "-0", "1e21", "1E5", "0.50", "0.0", "1e-7", "0e999999999"]) {
    const number = Decimal.parse(text);
    assertEquals(number.written, text);
    assertEquals(number.writtenOut.written, undefined);
    assertEquals(number.equals(number.writtenOut), true);
    assertEquals(number.negate().written, undefined);
  }
  for (const text of ["1", "-1.5", "100", "0", "9007199254740993", "0.0000000001"]) {
    assertEquals(Decimal.parse(text).written, undefined);
  }
});

Deno.test("Decimal compares numbers of far magnitudes at once and refuses what is no number", () => {
  const start = threadTime();
  const large = Decimal.parse("1e999999");
  assertEquals(Math.sign(large.compare(Decimal.parse("1e-999999"))), 1);
  assertEquals(Math.sign(large.negate().compare(Decimal.from(1))), -1);
  assertEquals(threadTime() - start < 100, true);
  for (
    const text of ["", "-", "+1", "01", "1.", ".1", "1e", "0x1", " 1", "Infinity", "1e1000001"]
  ) {
    assertThrows(() => Decimal.parse(text), JsonError);
  }
  assertThrows(() => Decimal.from(Infinity), JsonError);
});
