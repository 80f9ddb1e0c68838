// Reads the terminals of a grammar's text: literals, classes of characters, and tokens.

import type { Grammar } from "../grammar.ts";
import type { GrammarReader } from "./grammar_reader.ts";

const LAST_CHARACTER = 0x10ffff;

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r" };

/** Reads a literal after its opening quote. */
export function readLiteral(reader: GrammarReader): Grammar {
  const start = reader.offset - 1;
  let text = "";
  while (!reader.take('"')) {
    if (reader.isAtEnd) throw reader.error("a literal is not closed", start);
    text += String.fromCodePoint(readCharacter(reader));
  }
  return { type: "literal", text };
}

/** Reads a class of characters after its opening bracket. */
export function readClass(reader: GrammarReader): Grammar {
  const start = reader.offset - 1;
  const negated = reader.take("^");
  const ranges: (readonly [number, number])[] = [];
  while (!reader.take("]")) {
    if (reader.isAtEnd) throw reader.error("a class of characters is not closed", start);
    const low = readCharacter(reader);
    const isRange = reader.sees("-") && !reader.sees("-]");
    if (isRange) reader.take("-");
    const high = isRange ? readCharacter(reader) : low;
    if (high < low) throw reader.error("a range of characters ends before it begins");
    ranges.push([low, high]);
  }
  if (ranges.length === 0 && !negated) throw reader.error("a class of characters is empty", start);
  return { type: "characters", ranges, negated };
}

/** Reads a token after its `<`: by its number, or by its piece. */
export function readToken(reader: GrammarReader, negated: boolean): Grammar {
  const start = reader.offset - 1;
  if (reader.take("[")) {
    const digits = reader.match(/\d+(?=\]>)/y);
    if (digits === undefined) throw reader.error("the number of a token is missing", start);
    reader.take("]>");
    return { type: "token", token: Number(digits), negated };
  }
  const name = reader.match(/[^>\r\n]+(?=>)/y);
  if (name === undefined) throw reader.error("a token is not closed", start);
  reader.take(">");
  return { type: "token", token: `<${name}>`, negated };
}

/** Reads a character or an escape. */
function readCharacter(reader: GrammarReader): number {
  const start = reader.offset;
  if (!reader.take("\\")) return reader.character();
  const digits = reader.match(/x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}/y);
  if (digits !== undefined) {
    const codePoint = parseInt(digits.slice(1), 16);
    if (codePoint > LAST_CHARACTER) throw reader.error("there is no such character", start);
    return codePoint;
  }
  const letter = reader.match(/[tnr"\\[\]-]/y);
  if (letter === undefined) throw reader.error("there is no such escape", start);
  return (ESCAPES[letter] ?? letter).charCodeAt(0);
}
