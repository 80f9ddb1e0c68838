// The parameters of a model, by the names and types of Ollama's options: parsed from Modelfiles,
// checked, and merged. Their meaning is not known here.

import { RequestError } from "../errors.ts";
import { OPTIONS, type OptionTypes, UNUSED_PARAMETERS } from "../types/mod.ts";

/** Parameters by name. */
export type Parameters = Readonly<Record<string, unknown>>;

type Kind = keyof OptionTypes;

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...Object.values(OPTIONS).map(({ name, type }) => [name, type] as const),
  ...Object.entries(UNUSED_PARAMETERS),
]);

/** The texts that Go accepts as booleans. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "True", "TRUE"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "False", "FALSE"].map((text) => [text, false] as const),
]);

/**
 * The value of a Modelfile's text. For `stop`, one of its texts in an array.
 *
 * @throws {RequestError} if there is no such parameter, or the text does not have its type
 */
export function readParameter(name: string, text: string): unknown {
  const kind = KINDS.get(name);
  if (!kind) throw new RequestError(`unknown parameter '${name}'`);
  const value = readKind(kind, text);
  if (value !== undefined) return value;
  throw new RequestError(`parameter ${name} must be of type ${kind}, not "${text}"`);
}

/** Whether a value has the parameter's type. Unknown parameters may have any. */
export function isParameterValue(name: string, value: unknown): boolean {
  switch (KINDS.get(name)) {
    case "number":
      return Number.isFinite(value);
    case "integer":
      return Number.isInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "text":
      return typeof value === "string";
    case "texts":
      return Array.isArray(value) && value.every((text) => typeof text === "string");
    default:
      return true;
  }
}

/**
 * Parameters, overridden by others. A single text counts as a list of one where a list is expected;
 * null removes a parameter.
 *
 * @throws {RequestError} if a value has the wrong type
 */
export function mergeParameters(base: Parameters, others: Parameters): Record<string, unknown> {
  const merged = { ...base };
  for (const [name, given] of Object.entries(others)) {
    const isText = typeof given === "string" && KINDS.get(name) === "texts";
    const value = isText ? [given] : given;
    if (value === null || value === undefined) delete merged[name];
    else if (isParameterValue(name, value)) merged[name] = value;
    else throw new RequestError(`option "${name}" must be of type ${KINDS.get(name)}`);
  }
  return merged;
}

/** The number that a text is, as Go writes them; undefined if it is none. */
export function readNumber(text: string): number | undefined {
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

function readKind(kind: Kind, text: string): unknown {
  switch (kind) {
    case "number":
      return readNumber(text);
    case "integer":
      return /^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text))
        ? Number(text)
        : undefined;
    case "boolean":
      return BOOLEANS.get(text);
    case "text":
      return text;
    case "texts":
      return [text];
  }
}
