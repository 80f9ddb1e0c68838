// The tests of Jinja: what stands behind `is`, and what select() and its kin choose by.
// Fixed by the list of built-in tests in Jinja's template designer documentation.

import { JinjaError } from "./errors.ts";
import { applyOperator, contains } from "./operators.ts";
import {
  type CallArguments,
  Float,
  isEqual,
  toNumber,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

type Test = (value: Value, args: CallArguments) => boolean;

/** Whether a value passes the test. Error: JinjaError where there is no such test. */
export function passesTest(name: string, value: Value, args: CallArguments): boolean {
  if (!Object.hasOwn(tests, name)) throw new JinjaError(`No test named '${name}'.`);
  return tests[name]!(value, args);
}

function byOperator(operator: string): Test {
  return (value, args) => applyOperator(operator, value, args.require(0)) === true;
}

function whole(value: Value): number {
  const number = toNumber(value);
  if (number === undefined) throw new JinjaError(`a number is needed, not ${typeName(value)}`);
  return number;
}

const equal: Test = (value, args) => isEqual(value, args.require(0));
const isNumber: Test = (value) => toNumber(value) !== undefined;
/** Strings, lists and dictionaries; Jinja's undefined passes, too, since it has a length of 0. */
const isSequence: Test = (value) =>
  typeof value === "string" || Array.isArray(value) || value instanceof Map ||
  value instanceof Undefined;

const tests: Readonly<Record<string, Test>> = {
  boolean: (value) => typeof value === "boolean",
  callable: (value) => typeof value === "function",
  defined: (value) => !(value instanceof Undefined),
  divisibleby: (value, args) => applyOperator("%", value, args.require(0)) === 0,
  "==": equal,
  eq: equal,
  equalto: equal,
  escaped: () => false,
  even: (value) => whole(value) % 2 === 0,
  false: (value) => value === false,
  float: (value) => value instanceof Float,
  "!=": byOperator("!="),
  ne: byOperator("!="),
  ">": byOperator(">"),
  gt: byOperator(">"),
  greaterthan: byOperator(">"),
  ">=": byOperator(">="),
  ge: byOperator(">="),
  "<": byOperator("<"),
  lt: byOperator("<"),
  lessthan: byOperator("<"),
  "<=": byOperator("<="),
  le: byOperator("<="),
  in: (value, args) => contains(args.require(0), value),
  integer: (value) => typeof value === "number",
  iterable: isSequence,
  lower: (value) =>
    typeof value === "string" && /\p{L}/u.test(value) && value === value.toLowerCase(),
  mapping: (value) => value instanceof Map,
  none: (value) => value === null,
  number: isNumber,
  odd: (value) => Math.abs(whole(value) % 2) === 1,
  sameas: (value, args) => value === args.require(0),
  sequence: isSequence,
  string: (value) => typeof value === "string",
  true: (value) => value === true,
  undefined: (value) => value instanceof Undefined,
  upper: (value) =>
    typeof value === "string" && /\p{L}/u.test(value) && value === value.toUpperCase(),
};
