// JSON in templates: Python's json.dumps() with its separators, indents and floats, and
// json.loads(). Defined by Python's json module. As in transformers, characters beyond ASCII are
// only escaped on request.

import { parseExactJson } from "../../../json/mod.ts";
import { countItems, countSteps, countText } from "../../../text/render_budget.ts";
import {
  addText,
  joinTexts,
  plain,
  taint,
  taintLike,
  type Text,
} from "../../../text/tainted_text.ts";
import { formatFloat, formatInteger, repeatText, toText } from "./text.ts";
import {
  type CallArguments,
  Dictionary,
  Float,
  isText,
  JinjaError,
  toValue,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

interface JsonStyle {
  ensureAscii: boolean;
  sortKeys: boolean;
  /** The indent of one level. Undefined: all on one line. */
  indent: Text | undefined;
  separator: Text;
  keySeparator: Text;
}

/** The filter tojson(ensure_ascii, indent, separators, sort_keys). Errors: JinjaError. */
export function toJson(value: Value, args: CallArguments): Text {
  const indent = args.get(1, "indent") ?? undefined;
  const separators = args.get(2, "separators") ?? undefined;
  const [separator, keySeparator] = Array.isArray(separators)
    ? separators.map(toText)
    : [indent === undefined ? ", " : ",", ": "];
  return write(value, {
    ensureAscii: args.flag(0, "ensure_ascii"),
    sortKeys: args.flag(3, "sort_keys"),
    indent: indent === undefined
      ? undefined
      : typeof indent === "number"
      ? repeatText(" ", indent)
      : toText(indent),
    separator: separator ?? ", ",
    keySeparator: keySeparator ?? ": ",
  }, "\n");
}

/** The filter from_json. Errors: JinjaError. */
export function fromJson(value: Value): Value {
  if (!isText(value)) return value;
  // A document that consists of brackets takes the most memory for its length.
  countItems(8 * value.length);
  const makeText = typeof value === "string" ? plain : taint;
  try {
    return toValue(parseExactJson(plain(value)), makeText);
  } catch (error) {
    throw new JinjaError(`from_json: ${(error as Error).message}`, { cause: error });
  }
}

function write(value: Value, style: JsonStyle, newline: Text): Text {
  countSteps();
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number" || typeof value === "bigint") return formatInteger(value);
  if (value instanceof Float) return value.text ?? writeFloat(value.value);
  if (isText(value)) return writeText(value, style);
  const inner = addText(newline, style.indent ?? "");
  if (Array.isArray(value)) {
    return enclose("[]", value.map((item) => write(item, style, inner)), style, newline);
  }
  if (value instanceof Dictionary) {
    const entries = value.pairs();
    if (style.sortKeys) {
      entries.sort(([a], [b]) => {
        countSteps();
        return keyText(a!).toString() < keyText(b!).toString() ? -1 : 1;
      });
    }
    const members = entries.map(([key, item]) =>
      joinTexts([writeText(keyText(key!), style), style.keySeparator, write(item!, style, inner)])
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
  items: Text[],
  style: JsonStyle,
  newline: Text,
): Text {
  if (style.indent === undefined || items.length === 0) {
    return joinTexts([open!, joinTexts(items, style.separator), close!]);
  }
  const inner = addText(newline, style.indent);
  const members = joinTexts(items, addText(style.separator, inner));
  return joinTexts([open!, inner, members, newline, close!]);
}

function keyText(key: Value): Text {
  if (isText(key)) return key;
  return typeof key === "number" && !Number.isInteger(key) ? formatFloat(key) : String(key);
}

function writeFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  return formatFloat(value);
}

function writeText(text: Text, style: JsonStyle): Text {
  // A control character becomes six characters, and so do those beyond ASCII if they are escaped.
  countText(6 * text.length);
  const json = JSON.stringify(plain(text));
  if (!style.ensureAscii) return taintLike(json, text);
  const ascii = json.replace(
    /[\x7f-\uffff]/g,
    (unit) => unit === "\x7f" ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return taintLike(ascii, text);
}
