// The formats of numbers: those of OpenAPI's registry, of schemars ("int", "uint"), and of pydantic ("time-delta").

import { Decimal } from "../json/mod.ts";
import * as numbers from "../number/mod.ts";

/** The numbers of each format. */
export const NUMBER_FORMATS: ReadonlyMap<string, numbers.NumberSet> = new Map([
  ...["decimal", "decimal128", "double", "float", "time-delta"]
    .map((name) => [name, numbers.allNumbers()] as const),
  ...[8, 16, 32, 64, 128].map((bits) =>
    [`int${bits}`, integers(-(2n ** (BigInt(bits) - 1n)), bits)] as const
  ),
  ...[8, 16, 32, 64, 128].map((bits) => [`uint${bits}`, integers(0n, bits)] as const),
  ["int", integers(-(2n ** 63n), 64)],
  ["uint", integers(0n, 64)],
  ["double-int", numbers.intersect(numbers.integers(), between(1n - 2n ** 53n, 2n ** 53n))],
  ["unixtime", numbers.integers()],
]);

/** The integers of a number of bits, from a least one on. */
function integers(min: bigint, bits: number): numbers.NumberSet {
  return numbers.intersect(numbers.integers(), between(min, min + 2n ** BigInt(bits)));
}

function between(min: bigint, exclusiveMax: bigint): numbers.NumberSet {
  return numbers.interval({ min: Decimal.from(min), exclusiveMax: Decimal.from(exclusiveMax) });
}
