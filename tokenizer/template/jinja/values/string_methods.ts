// The methods of Python's str that templates call. Indices and widths count code points. Defined by
// Python's built-in type str.

import { countRead, countSearch, countSteps, countText } from "../../../text/render_budget.ts";
import {
  addText,
  cutText,
  joinTexts,
  plain,
  replaceMatches,
  sliceText,
  type Text,
  withSpansOf,
} from "../../../text/tainted_text.ts";
import { repeatText, toText } from "./text.ts";
import {
  type CallArguments,
  characters,
  countCharacters,
  isText,
  iterate,
  JinjaError,
  sliceCharacters,
  Tuple,
  typeName,
  type Value,
} from "./values.ts";

type Method = (text: Text, args: CallArguments) => Value;

/** Most characters to which a text is padded. */
const WIDEST = 10_000;

const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACES = new RegExp(`[${SPACE}]`, "u");
const WORDS = new RegExp(`[^${SPACE}]+`, "gu");
const LINE_ENDS = "\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029";
const LINE_END = new RegExp(`\\r\\n|[${LINE_ENDS}]`, "g");

/**
 * Python's strip(), lstrip() and rstrip(): removes white space, or characters of `set`, at the
 * sides.
 */
export function strip(text: Text, set: string | undefined, side: "both" | "left" | "right"): Text {
  const units = plain(text);
  countRead(units.length);
  const isStripped = (character: string) => {
    countSteps(set === undefined ? 0.1 : 1 + set.length / 64);
    return set === undefined ? SPACES.test(character) : set.includes(character);
  };
  let [start, end] = [0, units.length];
  while (side !== "right" && start < end) {
    const first = String.fromCodePoint(units.codePointAt(start)!);
    if (!isStripped(first)) break;
    start += first.length;
  }
  while (side !== "left" && end > start) {
    const isPair = end - start > 1 && units.codePointAt(end - 2)! > 0xffff;
    const last = units.slice(end - (isPair ? 2 : 1), end);
    if (!isStripped(last)) break;
    end -= last.length;
  }
  return sliceText(text, start, end);
}

/** Python's splitlines(). */
export function splitLines(text: Text, keepsEnds = false): Text[] {
  countRead(text.length);
  const lines: Text[] = [];
  let start = 0;
  for (const { index, 0: end } of plain(text).matchAll(LINE_END)) {
    lines.push(cutText(text, start, keepsEnds ? index + end.length : index));
    start = index + end.length;
  }
  if (start < text.length) lines.push(cutText(text, start));
  return lines;
}

/** A text that is made from another unit by unit, with as many units or about as many. */
export function convert(text: Text, change: (text: string) => string): Text {
  countText(2 * text.length);
  return withSpansOf(change(plain(text)), text);
}

/** Python's capitalize(). */
export function capitalize(text: string): string {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0);
  return text === "" ? "" : first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** Python's center(). */
export function center(text: Text, width: number, fill: Text = " "): Text {
  const missing = Math.min(width, WIDEST) - countCharacters(text);
  if (missing <= 0) return text;
  const left = (missing >> 1) + (missing & width & 1);
  return joinTexts([repeatText(fill, left), text, repeatText(fill, missing - left)]);
}

/** Python's replace(). @param count most replacements; all if negative */
export function replaceText(text: Text, old: Text, by: Text, count = -1): Text {
  const parts = old.length === 0
    ? ["", ...characters(text), ""]
    : splitAt(text, plain(old), count < 0 ? Infinity : count);
  if (old.length > 0 || count < 0) return joinTexts(parts, by);
  const head = joinTexts(parts.slice(0, count + 1), by);
  return addText(head, joinTexts(parts.slice(count + 1)));
}

/** The parts of a text between the first `most` places of a separator. */
function splitAt(text: Text, separator: string, most = Infinity): Text[] {
  countSearch(text.length, separator.length);
  const units = plain(text);
  const parts: Text[] = [];
  let start = 0;
  while (parts.length < most) {
    const at = units.indexOf(separator, start);
    if (at < 0) break;
    parts.push(cutText(text, start, at));
    start = at + separator.length;
  }
  return [...parts, cutText(text, start)];
}

/** The ranges of a text's words. */
function findWords(text: Text): { start: number; end: number }[] {
  countRead(text.length);
  return Array.from(plain(text).matchAll(WORDS), ({ index, 0: word }) => {
    countSteps();
    return { start: index, end: index + word.length };
  });
}

function split(text: Text, args: CallArguments): Text[] {
  const [separator, limit] = [separatorOf(args), args.integer(1, "maxsplit") ?? -1];
  if (separator !== undefined) return splitAt(text, separator, limit < 0 ? Infinity : limit);
  const words = findWords(text);
  const kept = limit < 0 ? words : words.slice(0, limit);
  const parts = kept.map(({ start, end }) => cutText(text, start, end));
  const rest = words[kept.length];
  return rest ? [...parts, cutText(text, rest.start)] : parts;
}

function splitFromRight(text: Text, args: CallArguments): Text[] {
  const limit = args.integer(1, "maxsplit") ?? -1;
  if (limit < 0) return split(text, args);
  const separator = separatorOf(args);
  if (separator !== undefined) {
    const parts = splitAt(text, separator);
    const cut = Math.max(0, parts.length - limit);
    if (cut < 2) return parts;
    return [joinTexts(parts.slice(0, cut), separator), ...parts.slice(cut)];
  }
  const words = findWords(text);
  const kept = limit === 0 ? [] : words.slice(-limit);
  const parts = kept.map(({ start, end }) => cutText(text, start, end));
  const rest = words[words.length - kept.length - 1];
  return rest ? [cutText(text, 0, rest.end), ...parts] : parts;
}

function separatorOf(args: CallArguments): string | undefined {
  const separator = args.plainText(0, "sep");
  if (separator === "") throw new JinjaError("empty separator");
  return separator;
}

function partition(text: Text, args: CallArguments, fromRight: boolean): Tuple {
  const separator = separatorOf(args);
  if (separator === undefined) throw new JinjaError("partition() needs a separator");
  const at = indexOf(text, separator, fromRight);
  if (at < 0) return fromRight ? Tuple.of<Value>("", "", text) : Tuple.of<Value>(text, "", "");
  const end = at + separator.length;
  return Tuple.of<Value>(cutText(text, 0, at), cutText(text, at, end), cutText(text, end));
}

/** The place of a part in a text, in UTF-16 units; -1 if it is not there. */
function indexOf(text: Text, part: string, fromRight: boolean): number {
  countSearch(text.length, part.length);
  return fromRight ? plain(text).lastIndexOf(part) : plain(text).indexOf(part);
}

function hasAffix(args: CallArguments, test: (affix: string) => boolean): boolean {
  const affixes = args.require(0);
  return (affixes instanceof Tuple ? [...affixes] : [affixes]).some((affix) => {
    if (!isText(affix)) {
      throw new JinjaError(`an affix must be str or a tuple of str, not ${typeName(affix)}`);
    }
    countRead(affix.length);
    return test(plain(affix));
  });
}

/** The part of `text` that the arguments `start` and `end` of find(), count() and others select. */
function within(text: Text, args: CallArguments, first: number): Text {
  const [start, end] = [args.integer(first), args.integer(first + 1)];
  countRead(text.length / 4);
  return start === undefined && end === undefined ? text : sliceCharacters(text, start, end);
}

function find(text: Text, args: CallArguments, fromRight: boolean): number {
  const part = args.plainText(0) ?? "";
  const searched = within(text, args, 1);
  const at = indexOf(searched, part, fromRight);
  if (at < 0) return -1;
  const start = args.integer(1) ?? 0;
  const before = countCharacters(plain(searched).slice(0, at));
  return before + (start < 0 ? Math.max(0, countCharacters(text) + start) : start);
}

function index(text: Text, args: CallArguments, fromRight: boolean): number {
  const at = find(text, args, fromRight);
  if (at < 0) throw new JinjaError("substring not found");
  return at;
}

function count(text: Text, args: CallArguments): number {
  const [searched, part] = [within(text, args, 1), args.plainText(0) ?? ""];
  if (part === "") return countCharacters(searched) + 1;
  return splitAt(searched, part).length - 1;
}

function join(separator: Text, args: CallArguments): Text {
  const texts = iterate(args.require(0)).map((item) => {
    if (isText(item)) return item;
    throw new JinjaError(`sequence item: expected str instance, ${typeName(item)} found`);
  });
  return joinTexts(texts, separator);
}

function fillZeros(text: Text, args: CallArguments): Text {
  const sign = /^[+-]/.test(plain(text)) ? 1 : 0;
  const missing = Math.min(args.integer(0) ?? 0, WIDEST) - countCharacters(text);
  if (missing <= 0) return text;
  return joinTexts([cutText(text, 0, sign), repeatText("0", missing), cutText(text, sign)]);
}

function isCased(text: string, cased: string): boolean {
  return text === cased && text.toLowerCase() !== text.toUpperCase();
}

function fill(text: Text, args: CallArguments): Text {
  const missing = Math.min(args.integer(0) ?? 0, WIDEST) - countCharacters(text);
  return repeatText(args.text(1) ?? " ", missing);
}

function removeAffix(text: Text, affix: string, side: "start" | "end"): Text {
  countRead(text.length / 4 + affix.length);
  if (side === "start") return plain(text).startsWith(affix) ? cutText(text, affix.length) : text;
  const end = text.length - affix.length;
  return plain(text).endsWith(affix) ? cutText(text, 0, end) : text;
}

/** A method that tells whether a text passes a test. */
function is(test: (text: string) => boolean): Method {
  return (text) => {
    countText(2 * text.length);
    return test(plain(text));
  };
}

function swapCase(text: string): string {
  return text.replace(
    /\p{L}/gu,
    (letter) => letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
  );
}

/** The methods by name, except `format`, which needs to look members up. */
export const stringMethods: Readonly<Record<string, Method>> = {
  upper: (text) => convert(text, (units) => units.toUpperCase()),
  lower: (text) => convert(text, (units) => units.toLowerCase()),
  casefold: (text) => convert(text, (units) => units.toLowerCase().replaceAll("ß", "ss")),
  capitalize: (text) => convert(text, capitalize),
  title: (text) => convert(text, (units) => units.replace(/\p{L}+/gu, capitalize)),
  swapcase: (text) => convert(text, swapCase),
  strip: (text, args) => strip(text, args.plainText(0), "both"),
  lstrip: (text, args) => strip(text, args.plainText(0), "left"),
  rstrip: (text, args) => strip(text, args.plainText(0), "right"),
  removeprefix: (text, args) => removeAffix(text, args.plainText(0) ?? "", "start"),
  removesuffix: (text, args) => removeAffix(text, args.plainText(0) ?? "", "end"),
  startswith: (text, args) => {
    const searched = plain(within(text, args, 1));
    return hasAffix(args, (affix) => searched.startsWith(affix));
  },
  endswith: (text, args) => {
    const searched = plain(within(text, args, 1));
    return hasAffix(args, (affix) => searched.endsWith(affix));
  },
  split,
  rsplit: splitFromRight,
  splitlines: (text, args) => splitLines(text, args.flag(0, "keepends")),
  partition: (text, args) => partition(text, args, false),
  rpartition: (text, args) => partition(text, args, true),
  replace: (text, args) =>
    replaceText(text, toText(args.require(0)), toText(args.require(1)), args.integer(2, "count")),
  find: (text, args) => find(text, args, false),
  rfind: (text, args) => find(text, args, true),
  index: (text, args) => index(text, args, false),
  rindex: (text, args) => index(text, args, true),
  count,
  join,
  zfill: fillZeros,
  ljust: (text, args) => addText(text, fill(text, args)),
  rjust: (text, args) => addText(fill(text, args), text),
  center: (text, args) => center(text, args.integer(0) ?? 0, args.text(1)),
  expandtabs: (text, args) => {
    const spaces = repeatText(" ", args.integer(0) ?? 8);
    return replaceMatches(text, /\t/g, () => spaces);
  },
  isdigit: is((text) => /^\p{Nd}+$/u.test(text)),
  isdecimal: is((text) => /^\p{Nd}+$/u.test(text)),
  isnumeric: is((text) => /^\p{N}+$/u.test(text)),
  isalpha: is((text) => /^\p{L}+$/u.test(text)),
  isalnum: is((text) => /^[\p{L}\p{N}]+$/u.test(text)),
  isspace: is((text) => text !== "" && strip(text, undefined, "both") === ""),
  isascii: is((text) => /^[\0-\x7f]*$/.test(text)),
  isupper: is((text) => isCased(text, text.toUpperCase())),
  islower: is((text) => isCased(text, text.toLowerCase())),
};
