// Numbers of JSON texts (RFC 8259, section 6) as they are written. JavaScript's numbers are doubles:
// they make 1 of 1.0 and 9007199254740992 of 9007199254740993. Numbers that a double would change
// keep their text, from the body of a request to the prompt, the token mask and the answer.

/** Most characters of a number. Longer ones have no use, and take time to compute with. */
export const LONGEST_NUMBER = 1024;

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether JSON.stringify writes a text for this number that means the same to every reader. */
function isPlain(value: number): boolean {
  return Number.isSafeInteger(value) || Number.isFinite(value) && !Number.isInteger(value);
}

/**
 * A JSON number that keeps its text: 1.0, 1e21, 2^64. JSON.stringify writes that text. It is a
 * String object because postMessage copies those, as plain String objects; `isJsonNumber` knows
 * both.
 */
export class JsonNumber extends String {
  /** The number that a JSON text writes. Errors: SyntaxError if it is none, or over 1024 characters. */
  constructor(text: string) {
    if (text.length > LONGEST_NUMBER || !NUMBER.test(text)) {
      throw new SyntaxError(`Read a number: "${text.slice(0, 40)}" is none`);
    }
    super(text);
  }

  /** The value that JSON.stringify writes as it is. */
  toJSON(): unknown {
    return rawNumber(this);
  }
}

/**
 * What JSON.stringify has to find in place of a number to write its text; for its second argument.
 *
 * @param number one that keeps its text, or a bigint
 */
export function rawNumber(number: { toString(): string }): unknown {
  // The types of TypeScript lack it (TC39, "JSON.parse source text access").
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(number.toString());
}

/** Whether a value is a JSON number that keeps its text, also after postMessage has copied it. */
export function isJsonNumber(value: unknown): value is { toString(): string } {
  return value instanceof JsonNumber ||
    value instanceof String && value.length <= LONGEST_NUMBER && NUMBER.test(value.toString());
}

/** Whether a value is a JSON object: no array, and no number that keeps its text. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !isJsonNumber(value);
}

/**
 * The number of a JSON text: JavaScript's, if that prints as the same text.
 *
 * @throws SyntaxError if it is no number, or has more than 1024 characters
 */
export function jsonNumber(text: string): number | JsonNumber {
  const value = Number(text);
  return isPlain(value) && String(value) === text ? value : new JsonNumber(text);
}

/** The nearest double of a number that keeps its text; any other value as it is. */
export function asDouble(value: unknown): unknown {
  return isJsonNumber(value) ? Number(value) : value;
}

/**
 * The text of a number as JSON writes it: of a JavaScript number, that of JSON.stringify.
 * Undefined for a value that is no number, or not finite.
 */
export function numberText(value: unknown): string | undefined {
  if (isJsonNumber(value)) return value.toString();
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" && Number.isFinite(value) ? JSON.stringify(value) : undefined;
}

/** Whether a double is the number that a JSON text writes, as JavaScript prints it. */
export function isSameNumber(text: string, double: number): boolean {
  return Number.isFinite(double) && normalized(text) === normalized(String(double));
}

/** A text that equal numbers share: all digits from the first to the last that is not 0. */
function normalized(text: string): string {
  const [, sign, whole, fraction = "", power = "0"] = NUMBER.exec(text)!;
  const digits = (whole! + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const exponent = Number(power) - fraction.length + digits.length - significant.length;
  return `${sign}${significant}e${exponent}`;
}
