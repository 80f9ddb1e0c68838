// Reads the bracketed classes of patterns into sets of characters. What dialects read differently is refused,
// unless the whole pattern is one of ECMA-262, which then is what it means.

import { type CharacterSet, characterSet, invertSet, uniteSets } from "./character_set.ts";
import type { PatternReader } from "./pattern_reader.ts";
import {
  FOREIGN_SETS,
  namedSet,
  POSIX_CLASSES,
  propertySet,
  withAnyCase,
  withAsciiCase,
} from "./pattern_sets.ts";

/** From a bracket that ends an empty class to a later one that then closes nothing. */
const LONE_BRACKET = /\](?:\\[^]|\[\^?(?:\\[^]|[^\]\\])*\]|[^\]\\[])*\]/y;

/**
 * Reads a class after its opening bracket, with the closing one.
 *
 * @param isWide whether with the characters of any dialect
 */
export function readClass(reader: PatternReader, isWide: boolean): CharacterSet {
  const start = reader.position - 1;
  const inverted = reader.take("^");
  const areWide = isWide !== inverted;
  const ranges: [number, number][] = [];
  let sets: CharacterSet = [];
  if (beginsWithBracket(reader, start)) ranges.push([reader.next(), 0x5d]);
  while (!reader.take("]")) {
    if (reader.atEnd) throw reader.error("a class is not closed", start);
    const low = readMember(reader, areWide);
    const isRange = reader.sees("-") && !reader.sees("-]");
    if (typeof low !== "number" || !isRange) {
      if (typeof low === "number") ranges.push([low, low]);
      else sets = uniteSets(sets, low);
      continue;
    }
    reader.take("-");
    const high = readMember(reader, areWide);
    if (typeof high === "number") {
      if (high < low) throw reader.error("a range is out of order");
      ranges.push([low, high]);
    } else {
      // A set such as \d cannot be the end of a range, so the hyphen is a literal.
      ranges.push([low, low], [0x2d, 0x2d]);
      sets = uniteSets(sets, high);
    }
  }
  const set = cased(reader, uniteSets(characterSet(...ranges), sets), areWide);
  return inverted ? invertSet(set) : set;
}

/**
 * Whether a bracket right at the beginning is a member. In ECMA-262 the class is empty, but a later bracket
 * that would close nothing tells that this is not meant.
 */
function beginsWithBracket(reader: PatternReader, start: number): boolean {
  if (reader.isStrict || !reader.sees("]")) return false;
  if (reader.looksAt(LONE_BRACKET)) return reader.isForeign = true;
  if (!reader.looksAt(/\][^\]]*\]/y)) return false;
  throw reader.error("a class that begins with ] has several meanings: write \\] there", start);
}

/** Reads a member of a class: a code point, or a set. */
function readMember(reader: PatternReader, isWide: boolean): number | CharacterSet {
  const quoted = reader.quoted();
  if (quoted !== undefined) return quoted;
  const start = reader.position;
  if (reader.take("\\")) return readEscapedMember(reader, isWide);
  if (!reader.isStrict) {
    const posix = reader.matchForeign(/\[:(\^?)(\w+):\]/y);
    if (posix) {
      const [, not, name = ""] = posix;
      const set = POSIX_CLASSES.get(name);
      if (set === undefined) throw reader.error(`there is no class [:${name}:]`, start);
      return not ? invertSet(set) : set;
    }
    if (reader.looksAt(/\[[.=]|&&|~~/y)) {
      throw reader.error("this has several meanings in a class: escape it with \\", start);
    }
    if (reader.flags.extended && reader.looksAt(/[\s#]/y)) {
      throw reader.error(
        "white space and # in a class have several meanings with the flag x",
        start,
      );
    }
    if (reader.sees("[")) reader.bracketWithin = start;
  }
  return reader.next();
}

// Reads what a backslash begins, in ECMA-262 with the u flag and beyond: escapes that Python, Rust, Go, Java and
// PCRE have are read where those that have them agree. A letter that none has, or that differs, is refused;
// other characters stand for themselves.

const CONTROLS: Readonly<Record<string, number>> = { t: 0x9, n: 0xa, v: 0xb, f: 0xc, r: 0xd };
/** Those that ECMA-262 does not have. */
const FOREIGN_CONTROLS: Readonly<Record<string, number>> = { a: 0x7, e: 0x1b };

/**
 * Reads the characters after a backslash, outside of classes.
 *
 * @param isWide whether with the characters of any dialect
 */
export function readEscapedSet(reader: PatternReader, isWide: boolean): CharacterSet {
  const member = readEscape(reader, isWide);
  return typeof member === "number" ? characterSet([member, member]) : member;
}

/** Reads the characters after a backslash in a class: a code point, or a set. */
function readEscapedMember(reader: PatternReader, isWide: boolean): number | CharacterSet {
  return reader.take("b") ? 0x8 : readEscape(reader, isWide);
}

/** A set as the flags have it. @param isWide whether with the characters of any dialect */
export function cased(
  { flags, knowsForeign }: PatternReader,
  set: CharacterSet,
  isWide: boolean,
): CharacterSet {
  if (!flags.ignoreCase) return set;
  return knowsForeign && !isWide ? withAsciiCase(set) : withAnyCase(set);
}

function readEscape(reader: PatternReader, isWide: boolean): number | CharacterSet {
  const start = reader.position - 1;
  if (reader.atEnd) throw reader.error("a backslash escapes nothing", start);
  const set = readSet(reader, isWide, start);
  if (set) return set;
  const control = reader.match(/[tnvfr]/y);
  if (control) return CONTROLS[control[0]]!;
  const foreign = reader.matchForeign(/[ae]/y);
  if (foreign) return FOREIGN_CONTROLS[foreign[0]]!;
  const letter = reader.match(/c([A-Za-z])/y);
  if (letter) return letter[1]!.charCodeAt(0) % 32;
  if (reader.match(/0(?!\d)/y)) return 0;
  const octal = reader.matchForeign(/0([0-7]{1,2})(?!\d)/y);
  if (octal) return parseInt(octal[1]!, 8);
  const codePoint = readCodePoint(reader, start);
  if (codePoint !== undefined) return codePoint;
  const unknown = reader.match(/[A-Za-z0-9]/y);
  if (unknown === undefined) return reader.next();
  throw reader.error(`\\${unknown[0]} has no meaning that all dialects share`, start);
}

/** Reads the name of a set. */
function readSet(reader: PatternReader, isWide: boolean, start: number): CharacterSet | undefined {
  const named = reader.match(/[dws]/iy)?.[0];
  if (named !== undefined) {
    const isForeign = reader.knowsForeign;
    const isInverted = named < "a";
    const set = namedSet(named.toLowerCase(), { isForeign, isWide: isWide !== isInverted });
    // What is no character of a word in one case is none in the other.
    return isInverted ? invertSet(cased(reader, set, !isWide)) : set;
  }
  const foreign = reader.matchForeign(/[hHV]|N(?!\{)/y);
  if (foreign) return FOREIGN_SETS[foreign[0]]!;
  const property = reader.match(/([pP])(?:\{(\^?)([^}]*)\}|([A-Z]))/y);
  if (property === undefined) return undefined;
  const [, sign, not = "", long, short] = property;
  const name = (long ?? short)!;
  let found = not || short ? undefined : propertySet(name);
  if (found === undefined) {
    reader.isForeign = true;
    // Others name scripts without "Script=", and cased letters by "L&".
    found = propertySet(name === "L&" ? "LC" : name) ?? propertySet(`Script=${name}`);
  }
  if (!found) throw reader.error(`there is no Unicode property ${name}`, start);
  if ((sign === "P") === (not === "^")) return found;
  // In ECMA-262 the flag i is about the characters without the property, elsewhere about those with it.
  return invertSet(reader.knowsForeign ? cased(reader, found, !isWide) : found);
}

/**
 * Reads \xHH, \uHHHH, a surrogate pair of these, or \u{H…}, after the backslash; \x{H…} and \UHHHHHHHH of
 * others.
 */
function readCodePoint(reader: PatternReader, start: number): number | undefined {
  const pair = reader.match(/u([dD][89abAB][\dA-Fa-f]{2})\\u([dD][c-fC-F][\dA-Fa-f]{2})/y);
  if (pair) {
    const [high, low] = [parseInt(pair[1]!, 16), parseInt(pair[2]!, 16)];
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }
  const digits = reader.match(/x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|u\{([\dA-Fa-f]+)\}/y) ??
    reader.matchForeign(/x\{([\dA-Fa-f]+)\}|U([\dA-Fa-f]{8})/y);
  if (!digits) return undefined;
  const codePoint = parseInt(digits.slice(1).find((one) => one !== undefined)!, 16);
  if (codePoint > 0x10ffff) throw reader.error("there is no such character", start);
  return codePoint;
}
