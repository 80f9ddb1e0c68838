// Random expressions over number sets, each with a predicate that says by BigInt arithmetic what is in
// it: numbers are counted in units of 10^-12.

import { Decimal } from "../../../../engine/grammar/json/mod.ts";
import {
  complement,
  exactly,
  integers,
  intersect,
  interval,
  multipleOf,
  type NumberSet,
  union,
} from "../../../../engine/grammar/number/mod.ts";

/** Units of the number 1. */
export const ONE = 10n ** 12n;

/** A set and what is in it. */
export interface Sample {
  readonly set: NumberSet;
  readonly has: (units: bigint) => boolean;
  readonly text: string;
}

/** The number of so many units. */
export function ofUnits(units: bigint): Decimal {
  return Decimal.scaled(units, -12);
}

/** The units of a JSON number with at most 12 decimal places, by the definition of JSON. */
export function unitsOf(literal: string): bigint {
  const [mantissa, power = "0"] = literal.toLowerCase().split("e");
  const [whole, fraction = ""] = mantissa!.split(".");
  return BigInt(whole! + fraction) * 10n ** BigInt(12 + Number(power) - fraction.length);
}

/** An integer from 0 to `limit` - 1, the same in every run (mulberry32). */
export function random(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** An expression of at most 2^depth sets. */
export function sample(next: (limit: number) => number, depth: number): Sample {
  if (depth === 0) return leaf(next);
  const a = sample(next, depth - 1);
  if (next(4) === 0) {
    return { set: complement(a.set), has: (x) => !a.has(x), text: `not (${a.text})` };
  }
  const b = sample(next, depth - 1);
  return next(2) === 0
    ? {
      set: union(a.set, b.set),
      has: (x) => a.has(x) || b.has(x),
      text: `(${a.text}) or (${b.text})`,
    }
    : {
      set: intersect(a.set, b.set),
      has: (x) => a.has(x) && b.has(x),
      text: `(${a.text}) and (${b.text})`,
    };
}

function leaf(next: (limit: number) => number): Sample {
  const bounds = ["0", "1", "-1", "0.5", "2.5", "-1.25", "0.01", "3.999", "12", "100", "-7"];
  const value = Decimal.parse(bounds[next(bounds.length)]!);
  const units = unitsOf(value.toString());
  switch (next(7)) {
    case 0:
      return { set: integers(), has: (x) => x % ONE === 0n, text: "integers" };
    case 1: {
      const divisors = ["2", "3", "0.5", "0.1", "0.01", "0.04", "0.75", "10", "20"];
      const divisor = divisors[next(divisors.length)]!;
      const step = unitsOf(divisor);
      const set = multipleOf(Decimal.parse(divisor));
      return { set, has: (x) => x % step === 0n, text: `multiples of ${divisor}` };
    }
    case 2:
      return { set: interval({ min: value }), has: (x) => x >= units, text: `>= ${value}` };
    case 3:
      return { set: interval({ max: value }), has: (x) => x <= units, text: `<= ${value}` };
    case 4:
      return { set: interval({ exclusiveMin: value }), has: (x) => x > units, text: `> ${value}` };
    case 5:
      return { set: interval({ exclusiveMax: value }), has: (x) => x < units, text: `< ${value}` };
    default:
      return {
        set: exactly([value, Decimal.from(2)]),
        has: (x) => x === units || x === 2n * ONE,
        text: `{${value}, 2}`,
      };
  }
}
