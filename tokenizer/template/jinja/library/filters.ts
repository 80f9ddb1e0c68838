// All filters by name: those of texts and of sequences, JSON, and those that call other filters and
// tests.

import { countSteps } from "../../../text/render_budget.ts";
import type { Text } from "../../../text/tainted_text.ts";
import { fromJson, toJson } from "../values/json.ts";
import { getPath } from "../values/members.ts";
import { type Filter, sequenceFilters } from "./sequence_filters.ts";
import { passesTest } from "./globals.ts";
import { toText } from "../values/text.ts";
import { textFilters } from "./text_filters.ts";
import {
  CallArguments,
  Dictionary,
  Generator,
  isTruthy,
  iterate,
  JinjaError,
  Undefined,
  type Value,
} from "../values/values.ts";

/** Applies a filter. Errors: JinjaError if there is none of that name, and the filter's own. */
export function applyFilter(name: string, value: Value, args: CallArguments): Value {
  countSteps();
  if (!Object.hasOwn(filters, name)) throw new JinjaError(`No filter named '${name}'.`);
  return filters[name]!(value, args);
}

function fallBack(value: Value, args: CallArguments): Value {
  const isMissing = value instanceof Undefined ||
    (args.flag(1, "boolean") && !isTruthy(value));
  if (!isMissing) return value;
  const fallback = args.get(0, "default_value");
  return fallback === undefined ? "" : fallback;
}

/**
 * A text as it is, JSON for a list of dictionaries, and Python's str() for anything else. The JSON
 * is as in the package huggingface/jinja, because templates print their tools this way, and models
 * know tools as JSON.
 */
function toString(value: Value): Text {
  const isRecords = Array.isArray(value) && value.length > 0 &&
    value.every((item) => item instanceof Dictionary);
  return isRecords ? toJson(value, new CallArguments()) : toText(value);
}

function map(value: Value, args: CallArguments): Value {
  const attribute = args.positional.length === 0 ? args.keywords.get("attribute") : undefined;
  if (attribute === undefined) {
    const name = args.plainText(0) ?? "";
    return Generator.from(iterate(value).map((item) => applyFilter(name, item, args.after(1))));
  }
  const fallback = args.keywords.get("default");
  return Generator.from(
    iterate(value).map((item) => {
      countSteps();
      const found = getPath(item, attribute);
      return found instanceof Undefined && fallback !== undefined ? fallback : found;
    }),
  );
}

/** select() and reject(), by the items or by one of their attributes. */
function choose(keeps: boolean, hasAttribute: boolean): Filter {
  return (value, args) => {
    const rest = hasAttribute ? args.after(1) : args;
    const test = rest.plainText(0);
    return Generator.from(
      iterate(value).filter((item) => {
        countSteps();
        const subject = hasAttribute ? getPath(item, args.require(0)) : item;
        const passes = test === undefined
          ? isTruthy(subject)
          : passesTest(test, subject, rest.after(1));
        return passes === keeps;
      }),
    );
  };
}

const filters: Readonly<Record<string, Filter>> = {
  ...textFilters,
  ...sequenceFilters,
  d: fallBack,
  default: fallBack,
  from_json: fromJson,
  fromjson: fromJson,
  map,
  reject: choose(false, false),
  rejectattr: choose(false, true),
  select: choose(true, false),
  selectattr: choose(true, true),
  string: toString,
  tojson: toJson,
};
