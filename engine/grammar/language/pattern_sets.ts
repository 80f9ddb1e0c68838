// The named sets of ECMA-262 patterns: . \d \w \s and \p{…}. The tables of properties are read from
// the platform's own RegExp, once for each property, so they are those of its Unicode version.

import {
  ANY_CHARACTER,
  type CharacterSet,
  characterSet,
  invertSet,
  lastCodePoint,
} from "./character_set.ts";

const code = (character: string) => character.charCodeAt(0);

/** \d */
export const DIGITS = characterSet([code("0"), code("9")]);

/** \w */
export const WORD_CHARACTERS = characterSet(
  [code("0"), code("9")],
  [code("A"), code("Z")],
  [code("_"), code("_")],
  [code("a"), code("z")],
);

/** \s */
export const SPACES = characterSet(
  [0x9, 0xd],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
);

/** The dot: all characters except line terminators. */
export const NOT_LINE_ENDS = invertSet(
  characterSet([0xa, 0xa], [0xd, 0xd], [0x2028, 0x2029]),
);

const properties = new Map<string, CharacterSet>();
let everything: string | undefined;

/** All characters in order as one string, so that a property takes one run of a RegExp. */
function allCharacters(): string {
  if (everything !== undefined) return everything;
  // Decoded from UTF-16 all at once: joining parts takes ten times as long.
  const units = new Uint16Array(2 * (ANY_CHARACTER.at(-1)! + 1));
  let length = 0;
  for (let i = 0; i < ANY_CHARACTER.length; i += 2) {
    for (let point = ANY_CHARACTER[i]!; point <= ANY_CHARACTER[i + 1]!; point++) {
      if (point < 0x10000) units[length++] = point;
      else {
        units[length++] = 0xd800 | (point - 0x10000) >> 10;
        units[length++] = 0xdc00 | point & 0x3ff;
      }
    }
  }
  const decoder = new TextDecoder("utf-16le", { ignoreBOM: true });
  return everything = decoder.decode(units.subarray(0, length));
}

/**
 * The characters with a Unicode property.
 * @param name the text in \p{…}, such as "L" or "Script=Greek"
 * @returns undefined if there is no such property
 */
export function propertySet(name: string): CharacterSet | undefined {
  const known = properties.get(name);
  if (known) return known;
  if (!/^\w+(?:=\w+)?$/.test(name)) return undefined;
  let runs: RegExp;
  try {
    runs = new RegExp(`\\p{${name}}+`, "gu");
  } catch {
    return undefined;
  }
  const ranges: [number, number][] = [];
  for (const [run] of allCharacters().matchAll(runs)) {
    // A run may include the surrogates, which characterSet removes again.
    ranges.push([run.codePointAt(0)!, lastCodePoint(run, run.length)]);
  }
  const set = characterSet(...ranges);
  properties.set(name, set);
  return set;
}
