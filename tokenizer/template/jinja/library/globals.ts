// The functions that every template can call, besides those that transformers adds. Defined by the
// list of global functions in Jinja's template designer documentation.

import { countItems, countObjects, countSteps, countText } from "../../../text/render_budget.ts";
import { plain } from "../../../text/tainted_text.ts";
import { applyOperator, contains } from "../values/operators.ts";
import {
  type CallArguments,
  Dictionary,
  Float,
  isEqual,
  isText,
  iterate,
  JinjaError,
  Namespace,
  toNumber,
  Undefined,
  type Value,
} from "../values/values.ts";

/** Most items of range(), so that no template fills the memory. */
const MAXIMUM_RANGE = 100_000;

function range(args: CallArguments): Value {
  const [first, second] = [args.integer(0) ?? 0, args.integer(1)];
  const step = args.integer(2) ?? 1;
  const [from, to] = second === undefined ? [0, first] : [first, second];
  if (step === 0) throw new JinjaError("range() arg 3 must not be zero");
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (length > MAXIMUM_RANGE) {
    throw new JinjaError(`range() of ${length} numbers: at most ${MAXIMUM_RANGE} are allowed`);
  }
  countSteps(length / 16);
  countItems(length);
  return Array.from({ length }, (_, index) => from + index * step);
}

function dictionary(args: CallArguments): Dictionary {
  const given = args.get(0);
  const pairs = given instanceof Dictionary
    ? given.pairs()
    : given === undefined
    ? []
    : iterate(given);
  const result = new Dictionary();
  for (const pair of pairs) {
    countObjects(1);
    const [key, value] = Array.isArray(pair) ? pair : iterate(pair);
    if (key === undefined || value === undefined) throw new JinjaError("dict() takes pairs");
    result.put(key, value);
  }
  countObjects(args.keywords.size);
  for (const [name, value] of args.keywords.pairs()) result.put(name!, value!);
  return result;
}

function namespace(args: CallArguments): Namespace {
  const result = new Namespace();
  for (const [name, value] of dictionary(args)) result.set(String(name), value);
  return result;
}

/** A function that returns nothing at first, and the separator in later calls. */
function joiner(args: CallArguments): Value {
  const separator = args.text(0, "sep") ?? ", ";
  let isUsed = false;
  return () => {
    const text = isUsed ? separator : "";
    isUsed = true;
    return text;
  };
}

/** The global names and their values. */
export const globals: ReadonlyMap<string, Value> = new Map<string, Value>([
  ["range", range],
  ["dict", dictionary],
  ["namespace", namespace],
  ["joiner", joiner],
]);

// Jinja's tests: the words after `is`, which select() and others use, too. Defined by the list of
// built-in tests in Jinja's template designer documentation.

type Test = (value: Value, args: CallArguments) => boolean;

/** Whether a value passes the test. Errors: JinjaError if there is no such test. */
export function passesTest(name: string, value: Value, args: CallArguments): boolean {
  countSteps();
  if (!Object.hasOwn(tests, name)) throw new JinjaError(`No test named '${name}'.`);
  return tests[name]!(value, args);
}

function byOperator(operator: string): Test {
  return (value, args) => applyOperator(operator, value, args.require(0)) === true;
}

/** Whether a number leaves a rest when it is divided. */
function leaves(value: Value, divisor: Value, rest: number): boolean {
  return toNumber(applyOperator("%", value, divisor)) === rest;
}

/** Whether a text has letters, and changing their case changes nothing. */
function isCased(change: (text: string) => string): Test {
  return (value) => {
    if (!isText(value)) return false;
    countText(2 * value.length);
    const text = plain(value);
    return /\p{L}/u.test(text) && text === change(text);
  };
}

const equal: Test = (value, args) => isEqual(value, args.require(0));
const isNumber: Test = (value) => toNumber(value) !== undefined;
/** Strings, lists and dictionaries. Jinja's undefined passes, too, since it has a length of 0. */
const isSequence: Test = (value) =>
  isText(value) || Array.isArray(value) || value instanceof Dictionary ||
  value instanceof Undefined;

const tests: Readonly<Record<string, Test>> = {
  boolean: (value) => typeof value === "boolean",
  callable: (value) => typeof value === "function",
  defined: (value) => !(value instanceof Undefined),
  divisibleby: (value, args) => leaves(value, args.require(0), 0),
  "==": equal,
  eq: equal,
  equalto: equal,
  escaped: () => false,
  even: (value) => leaves(value, 2, 0),
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
  integer: (value) => typeof value === "number" || typeof value === "bigint",
  iterable: isSequence,
  lower: isCased((text) => text.toLowerCase()),
  mapping: (value) => value instanceof Dictionary,
  none: (value) => value === null,
  number: isNumber,
  odd: (value) => leaves(value, 2, 1),
  sameas: (value, args) => {
    const other = args.require(0);
    return isText(value) ? isText(other) && isEqual(value, other) : value === other;
  },
  sequence: isSequence,
  string: isText,
  true: (value) => value === true,
  undefined: (value) => value instanceof Undefined,
  upper: isCased((text) => text.toUpperCase()),
};
