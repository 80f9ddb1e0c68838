// The functions that every template can call, besides those that transformers adds. Defined by the
// list of global functions in Jinja's template designer documentation.

import { countItems, countObjects, countSteps } from "../../../text/render_budget.ts";
import {
  type CallArguments,
  Dictionary,
  iterate,
  JinjaError,
  Namespace,
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
