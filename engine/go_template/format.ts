// How values print: Go's fmt.Sprint and the verbs of fmt.Sprintf that templates use.
// Fixed by the documentation of Go's package fmt.

import { bare, Float64, type GoValue, Stringer, Struct } from "./values.ts";

const WIDEST = 10_000;

/** What `{{ value }}` prints. */
export function printValue(value: GoValue): string {
  return value === null ? "<no value>" : formatValue(value);
}

/** The verb %v. */
export function formatValue(value: GoValue): string {
  if (value instanceof Stringer) return value.text;
  if (value === null) return "<nil>";
  if (value instanceof Float64) return formatFloat(value.value);
  if (Array.isArray(value)) return `[${value.map(formatValue).join(" ")}]`;
  if (value instanceof Map) {
    const entries = Array.from(value, ([key, item]) => `${key}:${formatValue(item)}`);
    return `map[${entries.join(" ")}]`;
  }
  if (value instanceof Struct) {
    return `{${value.fields.map((field) => formatValue(field.value)).join(" ")}}`;
  }
  return String(value);
}

/** Go's Sprint: a space between two neighbours that are both no strings. */
export function print(values: readonly GoValue[]): string {
  return values.map((value, i) => {
    const isSpaced = i > 0 && typeof value !== "string" && typeof values[i - 1] !== "string";
    return (isSpaced ? " " : "") + formatValue(value);
  }).join("");
}

/** Go's Sprintf. */
export function printFormatted(format: string, values: readonly GoValue[]): string {
  let next = 0;
  const text = format.replace(
    /%([-+# 0]*)(\d*)(?:\.(\d+))?([a-zA-Z%])/g,
    (_, flags: string, width: string, precision: string | undefined, verb: string) => {
      if (verb === "%") return "%";
      if (next >= values.length) return `%!${verb}(MISSING)`;
      const body = formatVerb(verb, values[next++]!, precision, flags);
      const missing = Math.min(Number(width), WIDEST);
      if (flags.includes("-")) return body.padEnd(missing);
      return body.padStart(missing, flags.includes("0") && verb !== "s" ? "0" : " ");
    },
  );
  if (next >= values.length) return text;
  return `${text}%!(EXTRA ${values.slice(next).map(describe).join(", ")})`;
}

function formatVerb(
  verb: string,
  value: GoValue,
  precision: string | undefined,
  flags: string,
): string {
  const plain = bare(value);
  const number = plain instanceof Float64 ? plain.value : plain;
  switch (verb) {
    case "v":
      return formatValue(value);
    case "s":
      return formatValue(value).slice(0, precision === undefined ? undefined : Number(precision));
    case "q":
      return JSON.stringify(formatValue(value));
    case "t":
      if (typeof plain === "boolean") return String(plain);
      break;
    case "d":
      if (typeof plain === "number") return (flags.includes("+") && plain >= 0 ? "+" : "") + plain;
      break;
    case "x":
      if (typeof plain === "number") return plain.toString(16);
      break;
    case "f":
      if (plain instanceof Float64 && typeof number === "number") {
        return number.toFixed(Math.min(Number(precision ?? 6), 100));
      }
      break;
    case "g":
      if (plain instanceof Float64) return formatFloat(plain.value);
  }
  return `%!${verb}(${describe(value)})`;
}

function describe(value: GoValue): string {
  const plain = bare(value);
  if (plain === null) return "<nil>";
  const type = typeof plain === "string"
    ? "string"
    : typeof plain === "boolean"
    ? "bool"
    : typeof plain === "number"
    ? "int"
    : plain instanceof Float64
    ? "float64"
    : "value";
  return `${type}=${formatValue(value)}`;
}

/** The shortest digits that give the number back; from a million on with an exponent. */
function formatFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const scientific = value.toExponential();
  const exponent = Number(scientific.slice(scientific.indexOf("e") + 1));
  if (exponent < -4 || exponent >= 6) return scientific.replace(/e([+-])(\d)$/, "e$10$2");
  return String(value);
}

/** The function html. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&#34;",
    "'": "&#39;",
    "\0": "\ufffd",
  };
  return text.replace(/[&<>"'\0]/g, (character) => entities[character]!);
}
