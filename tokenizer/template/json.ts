// JSON as templates write and read it: Python's json.dumps() with its separators, its indents and
// its floats, and json.loads(). Fixed by Python's json module; transformers leaves characters
// beyond ASCII as they are unless asked.

import { JinjaError } from "./errors.ts";
import { formatFloat, formatInteger } from "./text.ts";
import {
  type CallArguments,
  Float,
  type Key,
  toValue,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

interface JsonStyle {
  ensureAscii: boolean;
  sortKeys: boolean;
  /** What one level is indented by; undefined writes everything on one line. */
  indent: string | undefined;
  separator: string;
  keySeparator: string;
}

/** The filter tojson(ensure_ascii, indent, separators, sort_keys). Error: JinjaError. */
export function toJson(value: Value, args: CallArguments): string {
  const indent = args.get(1, "indent") ?? undefined;
  const separators = args.get(2, "separators") ?? undefined;
  const [separator, keySeparator] = Array.isArray(separators)
    ? separators.map(String)
    : [indent === undefined ? ", " : ",", ": "];
  return write(value, {
    ensureAscii: args.flag(0, "ensure_ascii"),
    sortKeys: args.flag(3, "sort_keys"),
    indent: typeof indent === "number" ? " ".repeat(Math.max(0, indent)) : indent?.toString(),
    separator: separator ?? ", ",
    keySeparator: keySeparator ?? ": ",
  }, "\n");
}

/** The filter from_json. Error: JinjaError. */
export function fromJson(value: Value): Value {
  if (typeof value !== "string") return value;
  try {
    return toValue(JSON.parse(value));
  } catch (error) {
    throw new JinjaError(`from_json: ${(error as Error).message}`, { cause: error });
  }
}

function write(value: Value, style: JsonStyle, newline: string): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return formatInteger(value);
  if (value instanceof Float) return writeFloat(value.value);
  if (typeof value === "string") return writeText(value, style);
  const inner = newline + (style.indent ?? "");
  if (Array.isArray(value)) {
    return enclose("[]", value.map((item) => write(item, style, inner)), style, newline);
  }
  if (value instanceof Map) {
    const entries = [...value];
    if (style.sortKeys) entries.sort(([a], [b]) => a! < b! ? -1 : 1);
    const members = entries.map(([key, item]) =>
      writeText(keyText(key), style) + style.keySeparator + write(item, style, inner)
    );
    return enclose("{}", members, style, newline);
  }
  throw new JinjaError(
    value instanceof Undefined
      ? value.reason
      : `Object of type ${typeName(value)} is not JSON serializable`,
  );
}

function enclose(
  [open, close]: string,
  items: string[],
  style: JsonStyle,
  newline: string,
): string {
  if (style.indent === undefined || items.length === 0) {
    return open + items.join(style.separator) + close;
  }
  const inner = newline + style.indent;
  return open + inner + items.join(style.separator + inner) + newline + close;
}

function keyText(key: Key): string {
  return typeof key === "number" && !Number.isInteger(key) ? formatFloat(key) : String(key);
}

function writeFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  return formatFloat(value);
}

function writeText(text: string, style: JsonStyle): string {
  const json = JSON.stringify(text);
  if (!style.ensureAscii) return json;
  return json.replace(
    /[\x7f-\uffff]/g,
    (unit) => unit === "\x7f" ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
