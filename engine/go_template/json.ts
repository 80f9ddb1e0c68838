// Values as Go's encoding/json writes them: no spaces, and the characters of HTML escaped.

import {
  countSteps,
  countText,
  joinTexts,
  plain,
  taint,
  taintLike,
  type Text,
} from "../../tokenizer/mod.ts";
import { bare, Float64, type GoValue, isText, isTrue, Stringer, Struct } from "./values.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

export function writeJson(value: GoValue): Text {
  countSteps();
  if (value instanceof Stringer) return writeJson(value.json);
  if (value instanceof Float64) return value.text ?? writeNumber(value.value);
  if (isText(value)) return writeText(value);
  if (Array.isArray(value)) return joinTexts(["[", joinTexts(value.map(writeJson), ","), "]"]);
  if (value instanceof Map) {
    const members = Array.from(value, ([key, item]) => writeMember(taint(key), item));
    return joinTexts(["{", joinTexts(members, ","), "}"]);
  }
  if (value instanceof Struct) {
    const shown = value.fields.filter((field) => !field.omitsEmpty || !isEmpty(field.value));
    const members = shown.map(({ key, value }) => writeMember(key, value));
    return joinTexts(["{", joinTexts(members, ","), "}"]);
  }
  return JSON.stringify(value);
}

function writeNumber(value: number): string {
  return Object.is(value, -0) ? "-0" : JSON.stringify(value);
}

function writeMember(key: Text, value: GoValue): Text {
  return joinTexts([writeText(key), ":", writeJson(value)]);
}

function writeText(text: Text): Text {
  // No unit becomes more than six.
  countText(6 * text.length);
  const json = JSON.stringify(plain(text).toWellFormed());
  return taintLike(json.replace(/[<>&\u2028\u2029]/g, (unit) => ESCAPES[unit]!), text);
}

function isEmpty(value: GoValue): boolean {
  return !(bare(value) instanceof Struct) && !isTrue(value);
}
