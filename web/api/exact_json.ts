// JSON with its numbers as they are written, such as 1.0 and 2^64, where the browser tells their text
// (TC39, "JSON.parse source text access": Chrome 114, Firefox 135, Safari 18.4). In others they are
// JavaScript's.

/** The parts of JSON that the types of TypeScript lack. */
const json = JSON as unknown as {
  parse(
    text: string,
    revive: (key: string, value: unknown, context?: { source?: string }) => unknown,
  ): unknown;
  rawJSON?(text: string): unknown;
};

/**
 * The value of a JSON text. A number that JavaScript would print in another way is a String object,
 * which the browser's database keeps. @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  return json.parse(text, (_key, value, context) => {
    const source = context?.source;
    if (typeof value !== "number" || source === undefined || !json.rawJSON) return value;
    const isSame = String(value) === source &&
      (Number.isSafeInteger(value) || !Number.isInteger(value));
    return isSame ? value : Object(source);
  });
}

/** The JSON text of such a value. */
export function writeExact(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, part) => part instanceof String ? json.rawJSON?.(part.toString()) : part,
    indent,
  );
}
