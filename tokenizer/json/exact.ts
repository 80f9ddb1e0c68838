// JSON texts as values and back, with numbers as they are written.

import { isJsonNumber, rawNumber } from "./number.ts";
import { JSON_BOUNDS, parseJsonBytes } from "./parser.ts";

const encoder = new TextEncoder();

/** How many values several texts may have together, as many as one body by default. */
export class ValueBudget {
  /** How many more there may be. */
  left: number = JSON_BOUNDS.values;
}

/**
 * The value of a JSON text, as JSON.parse gives it, with numbers that keep their text.
 *
 * @param budget loses as many values as there are in the text
 * @throws {SyntaxError} if it is no JSON, or a number has more than 1024 characters
 * @throws {JsonBoundsError} if it exceeds the bounds of a request's body, or the budget
 */
export function parseExactJson(text: string, budget: ValueBudget = new ValueBudget()): unknown {
  const parser = parseJsonBytes(encoder.encode(text), { ...JSON_BOUNDS, values: budget.left });
  for (let count = 0;;) {
    const { done, value } = parser.next();
    if (done) {
      budget.left -= count;
      return value;
    }
    count = value;
  }
}

/** The JSON text of a value, as JSON.stringify writes it, with numbers that keep their text and bigints. */
export function writeExactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part) => {
    return typeof part === "bigint" || isJsonNumber(part) ? rawNumber(part) : part;
  });
}

/** A copy of a JSON value whose numbers are all JavaScript's own: the nearest doubles. */
export function withDoubles<Value>(value: Value): Value {
  return JSON.parse(writeExactJson(value));
}
