// Texts with placeholders: Python's "%s" % values and "{}".format(values), without conversions that
// no prompt uses (binary and octal digits, locales, nested fields). Defined by Python's
// printf-style formatting and its format specification mini-language.

import { countText } from "../../../text/render_budget.ts";
import { joinTexts, plain, replaceMatches, type Text } from "../../../text/tainted_text.ts";
import { formatInteger, repeatText, toRepresentation, toText } from "./text.ts";
import {
  type CallArguments,
  countCharacters,
  Dictionary,
  Float,
  JinjaError,
  sliceCharacters,
  toExactNumber,
  toNumber,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

const PERCENT = /%(?:\((\w+)\))?([-+ 0#]*)([1-9]\d*)?(?:\.(\d+))?([a-zA-Z%])/g;
const WIDEST = 10_000;

/** Python's `text % values`. Errors: JinjaError. */
export function formatPercent(text: Text, values: Value): Text {
  const list = values instanceof Tuple ? [...values] : [values];
  let next = 0;
  const result = replaceMatches(text, PERCENT, (match) => {
    const [, name, flags = "", width, precision, type = ""] = match;
    if (type === "%") return "%";
    const isNamed = name !== undefined && values instanceof Dictionary;
    const value = isNamed ? values.get(name) : list[next++];
    if (value === undefined) throw new JinjaError("not enough arguments for format string");
    const body = type === "s" || type === "r" || type === "a"
      ? shorten(type === "s" ? toText(value) : toRepresentation(value), precision)
      : formatNumber(value, type === "i" || type === "u" ? "d" : type, precision, flags);
    return pad(body, width, flags.includes("-") ? "<" : ">", flags.includes("0") ? "0" : " ");
  });
  if (next < list.length && !(values instanceof Dictionary) && next + list.length > 1) {
    throw new JinjaError("not all arguments converted during string formatting");
  }
  return result;
}

const FIELD = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::([^{}]*))?\}/g;
const SPECIFICATION = /^(?:(.)?([<>^=]))?([-+ ]?)(0?)(\d*)(,?)(?:\.(\d+))?([a-zA-Z%]?)$/su;

/**
 * Python's text.format(...).
 * @param lookUp gives the member `name` of a value, as the template language does
 * @throws JinjaError
 */
export function formatBraces(
  text: Text,
  args: CallArguments,
  lookUp: (value: Value, name: string) => Value,
): Text {
  let next = 0;
  return replaceMatches(text, FIELD, (match) => {
    const [field, path = "", conversion, specification = ""] = match;
    if (field === "{{" || field === "}}") return field[0]!;
    const [name, ...members] = path.split(/[.[\]]+/).filter((part, i) => i === 0 || part !== "");
    const first = name === ""
      ? args.positional[next++]
      : /^\d+$/.test(name!)
      ? args.positional[Number(name)]
      : args.keywords.get(name!);
    if (first === undefined) throw new JinjaError(`format() has no argument for ${field}`);
    const value = members.reduce(lookUp, first);
    return formatValue(conversion === "r" ? toRepresentation(value) : value, specification);
  });
}

function formatValue(value: Value, specification: string): Text {
  const match = SPECIFICATION.exec(specification);
  if (!match) throw new JinjaError(`Invalid format specifier '${specification}'`);
  const [, fill, align, sign = "", zero, width, comma, precision, type = ""] = match;
  const isNumber = toNumber(value) !== undefined && typeof value !== "boolean";
  let body: Text;
  if (!isNumber || type === "s") body = shorten(toText(value), precision);
  else if (type === "" && precision === undefined) body = signed(plain(toText(value)), sign);
  else body = formatNumber(value, type || "g", precision, sign);
  if (comma && typeof body === "string" && isNumber) {
    body = body.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  }
  return pad(body, width, align ?? (isNumber ? ">" : "<"), fill ?? (zero || " "));
}

function formatNumber(
  value: Value,
  type: string,
  precision: string | undefined,
  flags: string,
): string {
  const exact = toExactNumber(value);
  if (exact === undefined) {
    throw new JinjaError(
      value instanceof Undefined ? value.reason : `%${type} needs a number, not ${typeName(value)}`,
    );
  }
  const number = Number(exact);
  countText(400 + String(exact).length);
  const digits = Math.min(Number(precision ?? 6), 100);
  switch (type) {
    case "d":
      return signed(formatInteger(typeof exact === "bigint" ? exact : Math.trunc(exact)), flags);
    case "f":
    case "F":
      return signed(number.toFixed(digits), flags);
    case "e":
      return signed(number.toExponential(digits).replace(/e([+-])(\d)$/, "e$10$2"), flags);
    case "g":
      return signed(
        plain(toText(new Float(Number(number.toPrecision(digits || 1))))).replace(/\.0$/, ""),
        flags,
      );
    case "x":
    case "X":
      return type === "x" ? exact.toString(16) : exact.toString(16).toUpperCase();
    case "%":
      return signed((number * 100).toFixed(digits), flags) + "%";
    default:
      throw new JinjaError(`unsupported format character '${type}'`);
  }
}

function signed(digits: string, flags: string): string {
  if (digits.startsWith("-")) return digits;
  return (flags.includes("+") ? "+" : flags.includes(" ") ? " " : "") + digits;
}

function pad(text: Text, width: string | undefined, align: string, fill: string): Text {
  const wanted = Math.min(Number(width || 0), WIDEST);
  const missing = wanted === 0 ? 0 : wanted - countCharacters(text);
  if (missing <= 0) return text;
  if (align === "<") return joinTexts([text, repeatText(fill === "0" ? " " : fill, missing)]);
  if (align === "^") {
    const before = missing >> 1;
    return joinTexts([repeatText(fill, before), text, repeatText(fill, missing - before)]);
  }
  const sign = fill === "0" && typeof text === "string" && /^[+-]/.test(text) ? text[0]! : "";
  const rest = typeof text === "string" ? text.slice(sign.length) : text;
  return joinTexts([sign, repeatText(fill, missing), rest]);
}

function shorten(text: Text, precision: string | undefined): Text {
  return precision === undefined ? text : sliceCharacters(text, 0, Number(precision));
}
