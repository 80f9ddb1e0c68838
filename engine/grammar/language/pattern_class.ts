// Reads the bracketed classes of patterns into sets of characters. What dialects read differently is refused,
// unless the whole pattern is one of ECMA-262, which then is what it means.

import { type CharacterSet, characterSet, invertSet, uniteSets } from "./character_set.ts";
import { cased, readEscapedMember } from "./pattern_escapes.ts";
import type { PatternReader } from "./pattern_reader.ts";
import { POSIX_CLASSES } from "./pattern_sets.ts";

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
