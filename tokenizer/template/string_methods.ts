// The methods of Python's str that templates call on texts. Indices and widths count code points.
// Fixed by Python's built-in type str.

import { JinjaError } from "./errors.ts";
import { toText } from "./text.ts";
import { type CallArguments, characters, iterate, Tuple, typeName, type Value } from "./values.ts";

type Method = (text: string, args: CallArguments) => Value;

const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACES = new RegExp(`[${SPACE}]+`, "u");
const LEADING_SPACE = new RegExp(`^[${SPACE}]+`, "u");
const LINE_ENDS = "\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029";
const LINE_END = new RegExp(`\\r\\n|[${LINE_ENDS}]`, "g");

/** Python's strip(), lstrip() and rstrip(): removes white space, or any of `set`, at the sides. */
export function strip(text: string, set: string | undefined, side: "both" | "left" | "right") {
  const all = characters(text);
  const isStripped = set === undefined
    ? (character: string) => SPACES.test(character)
    : (character: string) => set.includes(character);
  let [start, end] = [0, all.length];
  if (side !== "right") { while (start < end && isStripped(all[start]!)) start++; }
  if (side !== "left") { while (end > start && isStripped(all[end - 1]!)) end--; }
  return all.slice(start, end).join("");
}

/** Python's splitlines(). */
export function splitLines(text: string, keepsEnds = false): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const { index, 0: end } of text.matchAll(LINE_END)) {
    lines.push(text.slice(start, keepsEnds ? index + end.length : index));
    start = index + end.length;
  }
  return start < text.length ? [...lines, text.slice(start)] : lines;
}

/** Python's capitalize(). */
export function capitalize(text: string): string {
  const [first = "", ...rest] = characters(text);
  return first.toUpperCase() + rest.join("").toLowerCase();
}

/** Python's center(). */
export function center(text: string, width: number, fill = " "): string {
  const missing = Math.min(width, 10_000) - characters(text).length;
  if (missing <= 0) return text;
  const left = (missing >> 1) + (missing & width & 1);
  return fill.repeat(left) + text + fill.repeat(missing - left);
}

/** Python's replace(). @param count how many at most; negative is all */
export function replaceText(text: string, old: string, by: string, count = -1): string {
  if (count < 0) return text.replaceAll(old, () => by);
  const parts = old === "" ? ["", ...characters(text), ""] : text.split(old);
  const kept = parts.slice(count + 1);
  const head = parts.slice(0, count + 1).join(by);
  return kept.length === 0 ? head : head + old + kept.join(old);
}

function split(text: string, args: CallArguments): string[] {
  const [separator, limit] = [separatorOf(args), args.integer(1, "maxsplit") ?? -1];
  if (separator !== undefined) {
    const parts = text.split(separator);
    if (limit < 0 || parts.length <= limit + 1) return parts;
    return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
  }
  const parts: string[] = [];
  let rest = text.replace(LEADING_SPACE, "");
  while (rest !== "" && (limit < 0 || parts.length < limit)) {
    const space = SPACES.exec(rest);
    parts.push(space ? rest.slice(0, space.index) : rest);
    rest = space ? rest.slice(space.index + space[0].length) : "";
  }
  return rest === "" ? parts : [...parts, rest];
}

function splitFromRight(text: string, args: CallArguments): string[] {
  const limit = args.integer(1, "maxsplit") ?? -1;
  if (limit < 0) return split(text, args);
  const separator = separatorOf(args);
  if (separator !== undefined) {
    const parts = text.split(separator);
    const cut = Math.max(0, parts.length - limit);
    return cut === 0 ? parts : [parts.slice(0, cut).join(separator), ...parts.slice(cut)];
  }
  const parts: string[] = [];
  let rest = strip(text, undefined, "right");
  while (rest !== "" && parts.length < limit) {
    const word = new RegExp(`[^${SPACE}]+$`, "u").exec(rest)!;
    parts.unshift(word[0]);
    rest = strip(rest.slice(0, word.index), undefined, "right");
  }
  return rest === "" ? parts : [rest, ...parts];
}

function separatorOf(args: CallArguments): string | undefined {
  const separator = args.text(0, "sep");
  if (separator === "") throw new JinjaError("empty separator");
  return separator;
}

function partition(text: string, args: CallArguments, fromRight: boolean): Tuple {
  const separator = separatorOf(args);
  if (separator === undefined) throw new JinjaError("partition() needs a separator");
  const at = fromRight ? text.lastIndexOf(separator) : text.indexOf(separator);
  if (at < 0) return fromRight ? Tuple.of("", "", text) : Tuple.of(text, "", "");
  return Tuple.of(text.slice(0, at), separator, text.slice(at + separator.length));
}

function hasAffix(args: CallArguments, test: (affix: string) => boolean): boolean {
  const affixes = args.require(0);
  return (affixes instanceof Tuple ? [...affixes] : [affixes]).some((affix) => {
    if (typeof affix === "string") return test(affix);
    throw new JinjaError(`an affix must be str or a tuple of str, not ${typeName(affix)}`);
  });
}

/** The part of `text` that `start` and `end` of find(), count() and the like select. */
function within(text: string, args: CallArguments, first: number): string {
  const [start, end] = [args.integer(first), args.integer(first + 1)];
  if (start === undefined && end === undefined) return text;
  return characters(text).slice(start, end).join("");
}

function find(text: string, args: CallArguments, fromRight: boolean): number {
  const part = args.text(0) ?? "";
  const searched = within(text, args, 1);
  const at = fromRight ? searched.lastIndexOf(part) : searched.indexOf(part);
  if (at < 0) return -1;
  const start = args.integer(1) ?? 0;
  const length = characters(text).length;
  return characters(searched.slice(0, at)).length +
    (start < 0 ? Math.max(0, length + start) : start);
}

function index(text: string, args: CallArguments, fromRight: boolean): number {
  const at = find(text, args, fromRight);
  if (at < 0) throw new JinjaError("substring not found");
  return at;
}

function join(separator: string, args: CallArguments): string {
  return iterate(args.require(0)).map((item) => {
    if (typeof item === "string") return item;
    throw new JinjaError(`sequence item: expected str instance, ${typeName(item)} found`);
  }).join(separator);
}

function fillZeros(text: string, args: CallArguments): string {
  const sign = /^[+-]/.exec(text)?.[0] ?? "";
  const width = Math.min(args.integer(0) ?? 0, 10_000);
  return sign + text.slice(sign.length).padStart(width - sign.length, "0");
}

function isCased(text: string, cased: string): boolean {
  return text === cased && text.toLowerCase() !== text.toUpperCase();
}

function fill(text: string, args: CallArguments): string {
  const missing = Math.min(args.integer(0) ?? 0, 10_000) - characters(text).length;
  return (args.text(1) ?? " ").repeat(Math.max(0, missing));
}

/** Methods by name; `format` is not here, since it looks members up. */
export const stringMethods: Readonly<Record<string, Method>> = {
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  casefold: (text) => text.toLowerCase().replaceAll("ß", "ss"),
  capitalize,
  title: (text) => text.replace(/\p{L}+/gu, capitalize),
  swapcase: (text) =>
    text.replace(
      /\p{L}/gu,
      (letter) => letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
    ),
  strip: (text, args) => strip(text, args.text(0), "both"),
  lstrip: (text, args) => strip(text, args.text(0), "left"),
  rstrip: (text, args) => strip(text, args.text(0), "right"),
  removeprefix: (text, args) => {
    const prefix = args.text(0) ?? "";
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  },
  removesuffix: (text, args) => {
    const suffix = args.text(0) ?? "";
    return text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text;
  },
  startswith: (text, args) => hasAffix(args, (affix) => within(text, args, 1).startsWith(affix)),
  endswith: (text, args) => hasAffix(args, (affix) => within(text, args, 1).endsWith(affix)),
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
  count: (text, args) => {
    const [searched, part] = [within(text, args, 1), args.text(0) ?? ""];
    return part === "" ? characters(searched).length + 1 : searched.split(part).length - 1;
  },
  join,
  zfill: fillZeros,
  ljust: (text, args) => text + fill(text, args),
  rjust: (text, args) => fill(text, args) + text,
  center: (text, args) => center(text, args.integer(0) ?? 0, args.text(1)),
  expandtabs: (text, args) => text.replaceAll("\t", " ".repeat(args.integer(0) ?? 8)),
  isdigit: (text) => /^\p{Nd}+$/u.test(text),
  isdecimal: (text) => /^\p{Nd}+$/u.test(text),
  isnumeric: (text) => /^\p{N}+$/u.test(text),
  isalpha: (text) => /^\p{L}+$/u.test(text),
  isalnum: (text) => /^[\p{L}\p{N}]+$/u.test(text),
  isspace: (text) => text !== "" && strip(text, undefined, "both") === "",
  isascii: (text) => /^[\0-\x7f]*$/.test(text),
  isupper: (text) => isCased(text, text.toUpperCase()),
  islower: (text) => isCased(text, text.toLowerCase()),
};
