// How values print: Go's fmt.Sprint and the verbs of fmt.Sprintf that templates use. Defined by the
// documentation of Go's package fmt.

import {
  addText,
  countSteps,
  countText,
  cutText,
  joinTexts,
  plain,
  replaceMatches,
  taint,
  taintLike,
  type Text,
} from "../../tokenizer/mod.ts";
import { bare, Float64, type GoValue, isText, Stringer, Struct } from "./values.ts";

const WIDEST = 10_000;

/** The text that `{{ value }}` prints. */
export function printValue(value: GoValue): Text {
  return value === null ? "<no value>" : formatValue(value);
}

/** The verb %v. */
export function formatValue(value: GoValue): Text {
  countSteps();
  if (isText(value)) return value;
  if (value instanceof Stringer) return value.text;
  if (value === null) return "<nil>";
  if (value instanceof Float64) return value.text ?? formatFloat(value.value);
  if (Array.isArray(value)) {
    return joinTexts(["[", joinTexts(value.map(formatValue), " "), "]"]);
  }
  if (value instanceof Map) {
    const entries = Array.from(
      value,
      ([key, item]) => joinTexts([taint(key), ":", formatValue(item)]),
    );
    return joinTexts(["map[", joinTexts(entries, " "), "]"]);
  }
  if (value instanceof Struct) {
    const fields = value.fields.map((field) => formatValue(field.value));
    return joinTexts(["{", joinTexts(fields, " "), "}"]);
  }
  return String(value);
}

/** Go's Sprint, with a space between neighbours if neither is a string. */
export function print(values: readonly GoValue[]): Text {
  return joinTexts(values.flatMap((value, i) => {
    const isSpaced = i > 0 && !isText(value) && !isText(values[i - 1]);
    return isSpaced ? [" ", formatValue(value)] : [formatValue(value)];
  }));
}

/** Go's Sprintf. */
export function printFormatted(format: Text, values: readonly GoValue[]): Text {
  let next = 0;
  const text = replaceMatches(format, VERB, (match) => {
    const [, flags = "", width = "0", precision, verb = ""] = match;
    if (verb === "%") return "%";
    if (next >= values.length) return `%!${verb}(MISSING)`;
    const body = formatVerb(verb, values[next++]!, precision, flags);
    const missing = Math.max(0, Math.min(Number(width), WIDEST) - body.length);
    if (flags.includes("-")) return addText(body, " ".repeat(missing));
    return addText((flags.includes("0") && verb !== "s" ? "0" : " ").repeat(missing), body);
  });
  if (next >= values.length) return text;
  const extra = joinTexts(values.slice(next).map(describe), ", ");
  return joinTexts([text, "%!(EXTRA ", extra, ")"]);
}

const VERB = /%([-+# 0]*)([1-9]\d*)?(?:\.(\d+))?([a-zA-Z%])/g;

function formatVerb(
  verb: string,
  value: GoValue,
  precision: string | undefined,
  flags: string,
): Text {
  const simple = bare(value);
  const number = simple instanceof Float64 ? simple.value : simple;
  switch (verb) {
    case "v":
      return formatValue(value);
    case "s":
      return shorten(formatValue(value), precision);
    case "q": {
      const text = formatValue(value);
      countText(6 * text.length);
      return taintLike(JSON.stringify(plain(text)), text);
    }
    case "t":
      if (typeof simple === "boolean") return String(simple);
      break;
    case "d":
      if (typeof simple === "number") {
        return (flags.includes("+") && simple >= 0 ? "+" : "") + simple;
      }
      break;
    case "x":
      if (typeof simple === "number") return simple.toString(16);
      break;
    case "f":
      if (simple instanceof Float64 && typeof number === "number") {
        return number.toFixed(Math.min(Number(precision ?? 6), 100));
      }
      break;
    case "g":
      if (simple instanceof Float64) return formatValue(simple);
  }
  return joinTexts([`%!${verb}(`, describe(value), ")"]);
}

function shorten(text: Text, precision: string | undefined): Text {
  const length = Number(precision ?? Infinity);
  return length < text.length ? cutText(text, 0, length) : text;
}

function describe(value: GoValue): Text {
  const simple = bare(value);
  if (simple === null) return "<nil>";
  const type = isText(simple)
    ? "string"
    : typeof simple === "boolean"
    ? "bool"
    : typeof simple === "number"
    ? "int"
    : simple instanceof Float64
    ? "float64"
    : "value";
  return joinTexts([`${type}=`, formatValue(value)]);
}

/** The shortest digits that read back as the same number; from a million on with an exponent. */
function formatFloat(value: number): string {
  if (Object.is(value, -0)) return "-0";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const scientific = value.toExponential();
  const exponent = Number(scientific.slice(scientific.indexOf("e") + 1));
  if (exponent < -4 || exponent >= 6) return scientific.replace(/e([+-])(\d)$/, "e$10$2");
  return String(value);
}

export function escapeHtml(text: Text): Text {
  const entities: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&#34;",
    "'": "&#39;",
    "\0": "\ufffd",
  };
  return replaceMatches(text, /[&<>"'\0]/g, ([character]) => entities[character]!);
}
