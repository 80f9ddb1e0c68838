// Jinja's filters for texts and numbers. Defined by the list of built-in filters in Jinja's
// template designer documentation.

import { countRead, countSteps, countText } from "../../../text/render_budget.ts";
import {
  addText,
  joinTexts,
  plain,
  replaceMatches,
  sliceText,
  taintLike,
  type Text,
} from "../../../text/tainted_text.ts";
import { formatPercent } from "../values/format.ts";
import { parseInteger } from "../values/integers.ts";
import { repeatText, toRepresentation, toText } from "../values/text.ts";
import {
  capitalize,
  center,
  convert,
  replaceText,
  splitLines,
  strip,
} from "../values/string_methods.ts";
import {
  type CallArguments,
  countCharacters,
  Dictionary,
  Float,
  isText,
  iterate,
  JinjaError,
  sliceCharacters,
  toInteger as integerOf,
  toNumber,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "../values/values.ts";

type Filter = (value: Value, args: CallArguments) => Value;

function numberOf(value: Value): number {
  const number = toNumber(value);
  if (number !== undefined) return number;
  throw new JinjaError(
    value instanceof Undefined ? value.reason : `a number is needed, not ${typeName(value)}`,
  );
}

const INTEGER = /^[+-]?\d+(?:_\d+)*$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

function toInteger(value: Value, args: CallArguments): Value {
  if (value instanceof Undefined) throw new JinjaError(value.reason);
  const number = toNumber(value);
  if (typeof value === "bigint") return value;
  if (number !== undefined && Number.isFinite(number)) return integerOf(BigInt(Math.trunc(number)));
  const base = args.integer(1, "base") ?? 10;
  const text = isText(value) ? plain(strip(value, undefined, "both")) : "";
  countText(2 * text.length);
  const digits = text.replace(/^0[xob]/i, "");
  if (base !== 10 && /^[0-9a-z]+$/i.test(digits)) {
    const parsed = Number.parseInt(digits, base);
    if (!Number.isNaN(parsed)) return parsed;
  }
  if (INTEGER.test(text)) return parseInteger(text.replaceAll("_", ""));
  const decimal = DECIMAL.test(text) ? Math.trunc(Number(text)) : NaN;
  if (Number.isFinite(decimal)) return integerOf(BigInt(decimal));
  const fallback = args.get(0, "default");
  return fallback === undefined ? 0 : fallback;
}

function toFloat(value: Value, args: CallArguments): Value {
  if (value instanceof Undefined) throw new JinjaError(value.reason);
  const number = toNumber(value);
  if (number !== undefined) return new Float(number);
  const text = isText(value) ? plain(strip(value, undefined, "both")) : "";
  countText(2 * text.length);
  if (DECIMAL.test(text)) return new Float(Number(text));
  const fallback = args.get(0, "default");
  return fallback === undefined ? new Float(0) : fallback;
}

/** Python's round(), halves to even. */
function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

function round(value: Value, args: CallArguments): Value {
  if (typeof value === "bigint") return value;
  const number = numberOf(value);
  const scale = 10 ** (args.integer(0, "precision") ?? 0);
  switch (args.plainText(1, "method") ?? "common") {
    case "ceil":
      return new Float(Math.ceil(number * scale) / scale);
    case "floor":
      return new Float(Math.floor(number * scale) / scale);
    default: {
      const rounded = roundHalfToEven(number * scale) / scale;
      return value instanceof Float ? new Float(rounded) : rounded;
    }
  }
}

function absolute(value: Value): Value {
  if (typeof value === "bigint") return value < 0n ? -value : value;
  const size = Math.abs(numberOf(value));
  return value instanceof Float ? new Float(size) : size;
}

function indent(value: Value, args: CallArguments): Text {
  const width = args.get(0, "width") ?? 4;
  const space = isText(width) ? width : repeatText(" ", numberOf(width));
  const indentsBlank = args.flag(2, "blank");
  const lines = splitLines(addText(toText(value), "\n")).map((line, i) => {
    const isIndented = i === 0 ? args.flag(1, "first") : line !== "" || indentsBlank;
    return isIndented ? joinTexts([space, line]) : line;
  });
  return joinTexts(lines, "\n");
}

function truncate(value: Value, args: CallArguments): Text {
  const text = toText(value);
  const length = args.integer(0, "length") ?? 255;
  const end = args.text(2, "end") ?? "...";
  if (countCharacters(text) <= length + (args.integer(3, "leeway") ?? 5)) return text;
  const cut = sliceCharacters(text, 0, Math.max(0, length - end.length));
  if (args.flag(1, "killwords")) return addText(cut, end);
  const space = plain(cut).lastIndexOf(" ");
  return addText(space < 0 ? cut : sliceText(cut, 0, space), end);
}

function title(value: Value): Text {
  const text = toText(value);
  countSteps(text.length);
  return convert(text, (units) => units.split(/([-\s({[<]+)/u).map(capitalize).join(""));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

function escapeHtml(value: Value): Text {
  return replaceMatches(toText(value), /[&<>"']/g, ([character]) => ENTITIES[character]!);
}

function encodeUrl(value: Value): Text {
  const quote = (part: Value, space: string, slash: string) => {
    const text = toText(part);
    countText(9 * text.length);
    const encoded = encodeURIComponent(plain(text)).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
    return taintLike(encoded.replaceAll("%20", space).replaceAll("%2F", slash), text);
  };
  if (isText(value)) return quote(value, "%20", "/");
  const pairs = value instanceof Dictionary
    ? value.pairs()
    : iterate(value).map((pair) => iterate(pair));
  return joinTexts(
    pairs.map((pair) => joinTexts([...pair].map((part) => quote(part, "+", "%2F")), "=")),
    "&",
  );
}

function countWords(value: Value): number {
  const text = toText(value);
  countRead(text.length);
  let count = 0;
  for (const _ of plain(text).matchAll(/[\p{L}\p{N}_]+/gu)) {
    countSteps();
    count++;
  }
  return count;
}

/** Filters by name. */
export const textFilters: Readonly<Record<string, Filter>> = {
  abs: absolute,
  capitalize: (value) => convert(toText(value), capitalize),
  center: (value, args) => center(toText(value), args.integer(0, "width") ?? 80),
  e: escapeHtml,
  escape: escapeHtml,
  float: toFloat,
  forceescape: escapeHtml,
  format: (value, args) =>
    formatPercent(
      toText(value),
      args.keywords.size > 0 ? new Dictionary(args.keywords) : Tuple.from(args.positional),
    ),
  indent,
  int: toInteger,
  lower: (value) => convert(toText(value), (text) => text.toLowerCase()),
  pprint: toRepresentation,
  replace: (value, args) =>
    replaceText(
      toText(value),
      toText(args.require(0, "old")),
      toText(args.require(1, "new")),
      args.integer(2, "count"),
    ),
  round,
  safe: (value) => value,
  title,
  trim: (value, args) => strip(toText(value), args.plainText(0, "chars"), "both"),
  truncate,
  upper: (value) => convert(toText(value), (text) => text.toUpperCase()),
  urlencode: encodeUrl,
  wordcount: countWords,
};
