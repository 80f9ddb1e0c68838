// Python's ints, which have any size: JavaScript's numbers while these are exact, else bigints. A
// bound of their digits bounds the work. Defined by Python's integer arithmetic.

import { countRead } from "../../../text/render_budget.ts";
import { JinjaError, toInteger } from "./values.ts";

/** Most digits of an int: as many as Python converts to text. */
const MOST_DIGITS = 4300;
const MOST_HEXADECIMAL_DIGITS = Math.ceil(MOST_DIGITS * Math.log(10) / Math.log(16));

/** The int that a text of decimal digits with a sign writes. Errors: JinjaError if it is too long. */
export function parseInteger(digits: string): number | bigint {
  refuseLonger(digits.length, MOST_DIGITS);
  return toInteger(BigInt(digits.replace(/^\+/, "")));
}

/**
 * The result of `+ - * // % **`; the divisor is not 0, the exponent not negative. Errors: JinjaError
 * if it is too long.
 */
export function calculateInteger(operator: string, a: bigint, b: bigint): bigint {
  const [left, right] = [digitsOf(a), digitsOf(b)];
  const product = operator === "**" ? left * Number(b) : left + right;
  refuseLonger(operator === "*" || operator === "**" ? product : 0, MOST_HEXADECIMAL_DIGITS);
  countRead(product);
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "//":
      return floorDivide(a, b);
    case "%":
      return a - b * floorDivide(a, b);
    case "**":
      return a ** b;
    default:
      throw new JinjaError(`unknown operator ${operator}`);
  }
}

function floorDivide(a: bigint, b: bigint): bigint {
  const isInexact = a % b !== 0n;
  return isInexact && a < 0n !== b < 0n ? a / b - 1n : a / b;
}

/** The hexadecimal digits, which take less time to count than decimal ones. */
function digitsOf(value: bigint): number {
  return value.toString(16).length;
}

function refuseLonger(length: number, most: number): void {
  if (length > most) throw new JinjaError(`an int of over ${MOST_DIGITS} digits`);
}
