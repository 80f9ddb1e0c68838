// Reads the escapes and the bracketed classes of patterns into sets of characters.

import { type CharacterSet, characterSet, invertSet, uniteSets } from "./character_set.ts";
import type { PatternReader } from "./pattern_reader.ts";
import { DIGITS, propertySet, SPACES, WORD_CHARACTERS } from "./pattern_sets.ts";

const CONTROLS: Readonly<Record<string, number>> = { t: 0x9, n: 0xa, v: 0xb, f: 0xc, r: 0xd };

const CLASSES: Readonly<Record<string, CharacterSet>> = {
  d: DIGITS,
  D: invertSet(DIGITS),
  w: WORD_CHARACTERS,
  W: invertSet(WORD_CHARACTERS),
  s: SPACES,
  S: invertSet(SPACES),
};

function single(codePoint: number): CharacterSet {
  return characterSet([codePoint, codePoint]);
}

/** Reads the characters after a backslash. */
export function readEscape(reader: PatternReader, inClass: boolean): CharacterSet {
  const value = readEscapeValue(reader, inClass);
  return typeof value === "number" ? single(value) : value;
}

/** Reads a class after its opening bracket, with the closing one. */
export function readClass(reader: PatternReader): CharacterSet {
  const inverted = reader.take("^");
  const ranges: [number, number][] = [];
  let sets: CharacterSet = [];
  while (!reader.take("]")) {
    if (reader.atEnd) throw reader.error("a class is not closed");
    const low = readMember(reader);
    const isRange = reader.sees("-") && !reader.sees("-]");
    if (typeof low !== "number" || !isRange) {
      if (typeof low === "number") ranges.push([low, low]);
      else sets = uniteSets(sets, low);
      continue;
    }
    reader.take("-");
    const high = readMember(reader);
    if (typeof high === "number") {
      if (high < low) throw reader.error("a range is out of order");
      ranges.push([low, high]);
    } else {
      // A set such as \d cannot be the end of a range, so the hyphen is a literal.
      ranges.push([low, low], [0x2d, 0x2d]);
      sets = uniteSets(sets, high);
    }
  }
  const set = uniteSets(characterSet(...ranges), sets);
  return inverted ? invertSet(set) : set;
}

/** Reads a member of a class: a code point, or a set. */
function readMember(reader: PatternReader): number | CharacterSet {
  return reader.take("\\") ? readEscapeValue(reader, true) : reader.next();
}

function readEscapeValue(reader: PatternReader, inClass: boolean): number | CharacterSet {
  if (reader.atEnd) throw reader.error("a backslash escapes nothing");
  const property = reader.match(/([pP])\{([^}]*)\}/y);
  if (property) {
    const set = propertySet(property[2]!);
    if (!set) throw reader.error(`there is no Unicode property ${property[2]}`);
    return property[1] === "P" ? invertSet(set) : set;
  }
  const escape = reader.match(/[dDwWsS]/y);
  if (escape) return CLASSES[escape[0]]!;
  const control = reader.match(/[tnvfr]/y);
  if (control) return CONTROLS[control[0]]!;
  if (inClass && reader.take("b")) return 0x8;
  const letter = reader.match(/c([A-Za-z])/y);
  if (letter) return letter[1]!.charCodeAt(0) % 32;
  if (reader.match(/0(?!\d)/y)) return 0;
  if (!inClass && reader.match(/k<|[1-9]/y)) {
    throw reader.error("back-references are not supported");
  }
  if (reader.match(/[pP0-9]/y)) throw reader.error("there is no such escape");
  return readCodePoint(reader) ?? reader.next();
}

/** Reads \xHH, \uHHHH, a surrogate pair of these, or \u{H…}, after the backslash. */
function readCodePoint(reader: PatternReader): number | undefined {
  const pair = reader.match(/u([dD][89abAB][\dA-Fa-f]{2})\\u([dD][c-fC-F][\dA-Fa-f]{2})/y);
  if (pair) {
    const [high, low] = [parseInt(pair[1]!, 16), parseInt(pair[2]!, 16)];
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }
  const digits = reader.match(/x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|u\{([\dA-Fa-f]+)\}/y);
  if (!digits) return undefined;
  const codePoint = parseInt((digits[1] ?? digits[2] ?? digits[3])!, 16);
  if (codePoint > 0x10ffff) throw reader.error("there is no such character");
  return codePoint;
}
