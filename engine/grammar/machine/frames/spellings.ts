// The JSON texts of all values that equal a value: objects are equal in any order of their members.
// Other spellings of numbers are not listed, nor are orders if they are too many.

const BACKSLASH = 0x5c;

const QUOTE = 0x22;

const OPEN = "[{";

const CLOSE = "]}";

/** Most texts that are listed for one value. */
const MAX_SPELLINGS = 24;

/**
 * A JSON text without white space, with each object in every order of its members; only the text
 * itself if there are too many.
 */
export function spellingsOf(text: Uint8Array): readonly Uint8Array[] {
  if (!text.includes(0x7b)) return [text];
  let bytes = "";
  for (const byte of text) bytes += String.fromCharCode(byte);
  const spelled = spell(bytes);
  return spelled?.map((one) => Uint8Array.from(one, (byte) => byte.charCodeAt(0))) ?? [text];
}

function spell(text: string): readonly string[] | undefined {
  const opening = text[0]!;
  if (!OPEN.includes(opening) || text.length === 2) return [text];
  let bodies: readonly string[][] = [[]];
  for (const part of split(text.slice(1, -1), ",")) {
    const at = opening === "{" ? split(part, ":")[0]!.length + 1 : 0;
    const values = spell(part.slice(at));
    if (!values || bodies.length * values.length > MAX_SPELLINGS) return undefined;
    const key = part.slice(0, at);
    bodies = bodies.flatMap((body) => values.map((value) => [...body, key + value]));
  }
  if (opening === "{") {
    if (bodies.length * factorial(bodies[0]!.length) > MAX_SPELLINGS) return undefined;
    bodies = bodies.flatMap(orders);
  }
  return bodies.map((body) => opening + body.join(",") + text.at(-1)!);
}

/**
 * The parts of a text between separators that are outside of strings, arrays and objects within it.
 */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let begin = 0;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isInText && unit === BACKSLASH) at++;
    else if (unit === QUOTE) isInText = !isInText;
    else if (isInText) continue;
    else if (OPEN.includes(text[at]!)) depth++;
    else if (CLOSE.includes(text[at]!)) depth--;
    else if (depth === 0 && text[at] === separator) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  return [...parts, text.slice(begin)];
}

function orders(list: readonly string[]): string[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((first, at) => orders(list.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

function factorial(count: number): number {
  return count < 2 ? 1 : Math.min(count * factorial(count - 1), MAX_SPELLINGS + 1);
}
