// Python's operators between values: arithmetic, comparison and membership. What Python refuses is
// refused here, too: if a template adds a list to a text, the template is wrong, not the
// conversation.

import { countItems, countRead, countSearch, countSteps } from "../../../text/render_budget.ts";
import { addText, plain } from "../../../text/tainted_text.ts";
import { formatPercent } from "./format.ts";
import { calculateInteger } from "./integers.ts";
import { repeatText, toText } from "./text.ts";
import {
  Dictionary,
  Float,
  isEqual,
  isText,
  iterate,
  JinjaError,
  toExactNumber,
  toInteger,
  toKey,
  toNumber,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

/** Applies a binary operator other than `and` and `or`. Errors: JinjaError. */
export function applyOperator(operator: string, left: Value, right: Value): Value {
  switch (operator) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "~":
      return addText(toText(left), toText(right));
    case "in":
      return contains(right, left);
    case "not in":
      return !contains(right, left);
    case "<":
      return compare(left, right, operator) < 0;
    case ">":
      return compare(left, right, operator) > 0;
    case "<=":
      return compare(left, right, operator) <= 0;
    case ">=":
      return compare(left, right, operator) >= 0;
    default:
      return calculate(operator, left, right);
  }
}

/** Python's `in`. Errors: JinjaError. */
export function contains(container: Value, item: Value): boolean {
  if (isText(container)) {
    if (isText(item)) {
      countSearch(container.length, item.length);
      return plain(container).includes(plain(item));
    }
    throw new JinjaError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
  }
  // Tuples can be keys in Python, but not in dictionaries here.
  if (container instanceof Dictionary) {
    return !(item instanceof Tuple) && container.has(toKey(item));
  }
  if (container === null || toNumber(container) !== undefined) {
    throw new JinjaError(`argument of type '${typeName(container)}' is not iterable`);
  }
  return iterate(container).some((other) => isEqual(other, item));
}

/** Negative, zero or positive if `left` sorts before, with or after `right`. Errors: JinjaError. */
export function compare(left: Value, right: Value, operator = "<"): number {
  countSteps();
  const [a, b] = [toExactNumber(left), toExactNumber(right)];
  if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : a >= b ? 0 : NaN;
  if (isText(left) && isText(right)) {
    countRead(left.length + right.length);
    const [first, second] = [plain(left), plain(right)];
    return first < second ? -1 : first > second ? 1 : 0;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    const different = left.findIndex((item, i) => i >= right.length || !isEqual(item, right[i]!));
    if (different < 0) return left.length - right.length;
    return different < right.length ? compare(left[different]!, right[different]!, operator) : 1;
  }
  refuseUndefined(left, right);
  throw new JinjaError(
    `'${operator}' not supported between '${typeName(left)}' and '${typeName(right)}'`,
  );
}

/** Python's unary `-` and `+`. Errors: JinjaError. */
export function applySign(sign: string, value: Value): Value {
  const number = toExactNumber(value);
  if (number === undefined) {
    refuseUndefined(value);
    throw new JinjaError(`bad operand type for unary ${sign}: '${typeName(value)}'`);
  }
  const result = sign === "-" ? -number : number;
  if (typeof result === "bigint") return toInteger(result);
  return value instanceof Float ? new Float(result) : result + 0;
}

/** Python's `//` for numbers. */
function floorDivide(left: number, right: number): number {
  return Math.floor(left / right);
}

function calculate(operator: string, left: Value, right: Value): Value {
  refuseUndefined(left, right);
  const [a, b] = [toExactNumber(left), toExactNumber(right)];
  if (a !== undefined && b !== undefined) {
    const isFloat = left instanceof Float || right instanceof Float || operator === "/" ||
      (operator === "**" && b < 0);
    const result = calculateNumber(operator, Number(a), Number(b));
    if (isFloat) return new Float(result);
    const isExact = Number.isSafeInteger(result) && typeof a === "number" && typeof b === "number";
    return isExact ? result : toInteger(calculateInteger(operator, BigInt(a), BigInt(b)));
  }
  if (operator === "%" && isText(left)) return formatPercent(left, right);
  if (operator === "*" && b !== undefined) return repeat(left, Number(b));
  if (operator === "*" && a !== undefined) return repeat(right, Number(a));
  if (operator === "+") return concatenate(left, right);
  throw unsupported(operator, left, right);
}

function calculateNumber(operator: string, a: number, b: number): number {
  if (b === 0 && (operator === "/" || operator === "//" || operator === "%")) {
    throw new JinjaError("division by zero");
  }
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
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

function concatenate(left: Value, right: Value): Value {
  if (isText(left) && isText(right)) return addText(left, right);
  const areLists = Array.isArray(left) && Array.isArray(right);
  if (areLists && left instanceof Tuple === right instanceof Tuple) {
    countItems(left.length + right.length);
    return left.concat(right);
  }
  throw unsupported("+", left, right);
}

function repeat(value: Value, times: number): Value {
  if (isText(value)) return repeatText(value, times);
  if (!Array.isArray(value)) throw unsupported("*", value, times);
  const count = value.length === 0 ? 0 : Math.max(0, Math.trunc(times)) || 0;
  countItems(2 * value.length * count);
  const items = Array.from({ length: count }, () => value).flat(1) as Value[];
  return value instanceof Tuple ? Tuple.from(items) : items;
}

function unsupported(operator: string, left: Value, right: Value): JinjaError {
  return new JinjaError(
    `unsupported operand types for ${operator}: '${typeName(left)}' and '${typeName(right)}'`,
  );
}

function refuseUndefined(...values: Value[]): void {
  for (const value of values) {
    if (value instanceof Undefined) throw new JinjaError(value.reason);
  }
}
