// How values print: Python's str() and repr(), on which templates rely when they write a dict or a
// number into a prompt. Defined by Python's built-in types.

import { countObjects, countSteps, countText } from "../../../text/render_budget.ts";
import { joinTexts, plain, taintLike, type Text } from "../../../text/tainted_text.ts";
import { Dictionary, Float, isText, Tuple, typeName, Undefined, type Value } from "./values.ts";

/** Python's str(). */
export function toText(value: Value): Text {
  if (isText(value)) return value;
  return value instanceof Undefined ? "" : toRepresentation(value);
}

/** Python's repr(). */
export function toRepresentation(value: Value): Text {
  countSteps();
  if (value === null) return "None";
  if (isText(value)) return taintLike(quote(plain(value)), value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number" || typeof value === "bigint") return formatInteger(value);
  if (value instanceof Float) return value.text ?? formatFloat(value.value);
  if (Array.isArray(value)) {
    const items = joinTexts([...value].map(toRepresentation), ", ");
    if (!(value instanceof Tuple)) return joinTexts(["[", items, "]"]);
    return joinTexts(["(", items, value.length === 1 ? ",)" : ")"]);
  }
  if (value instanceof Dictionary) {
    const entries = value.pairs().map(([key, item]) =>
      joinTexts([toRepresentation(key!), ": ", toRepresentation(item!)])
    );
    return joinTexts(["{", joinTexts(entries, ", "), "}"]);
  }
  return value instanceof Undefined ? "Undefined" : `<${typeName(value)}>`;
}

/** A text, repeated. Errors: RenderLimitError, before it is made. */
export function repeatText(text: Text, times: number): Text {
  const count = Math.max(0, Math.trunc(times)) || 0;
  countText(text.length * count);
  if (typeof text === "string") return text.repeat(count);
  countObjects(count);
  return joinTexts(Array<Text>(count).fill(text));
}

/** The digits of an int, without an exponent. */
export function formatInteger(value: number | bigint): string {
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

/** Python's repr() of a float: the shortest digits that read back as the same number. */
export function formatFloat(value: number): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function quote(text: string): string {
  // A character beyond U+FFFF may become ten.
  countText(5 * text.length);
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\\p{C}\p{Z}'"]/gu, (character) => {
    if (character === " ") return character;
    if (character === "'" || character === '"') {
      return character === mark ? `\\${mark}` : character;
    }
    return ESCAPES[character] ?? escapeCodePoint(character.codePointAt(0)!);
  });
  return mark + body + mark;
}

function escapeCodePoint(codePoint: number): string {
  const [letter, width] = codePoint < 0x100 ? ["x", 2] : codePoint < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${codePoint.toString(16).padStart(width as number, "0")}`;
}
