// The named sets of patterns: . \d \w \s and \p{…} of ECMA-262, and those that only other dialects have. The
// tables of properties are read from the platform's own RegExp, once for each property, so they are those
// of its Unicode version.

import {
  ANY_CHARACTER,
  type CharacterSet,
  characterSet,
  hasCharacter,
  intersectSets,
  invertSet,
  lastCodePoint,
  uniteSets,
} from "./character_set.ts";

const set = (characters: string) =>
  characterSet(
    ...[...characters].map((one) => [one.codePointAt(0)!, one.codePointAt(0)!] as const),
  );
const range = (low: string, high: string) => characterSet([low.charCodeAt(0), high.charCodeAt(0)]);

/** \d */
export const DIGITS = range("0", "9");
const LOWER = range("a", "z");
const UPPER = range("A", "Z");
const LETTERS = uniteSets(LOWER, UPPER);
const ALPHANUMERIC = uniteSets(LETTERS, DIGITS);

/** \w */
export const WORD_CHARACTERS = uniteSets(ALPHANUMERIC, set("_"));

/** White space that is not at the end of a line: \h of PCRE and Java. */
const HORIZONTAL = uniteSets(
  set("\t \xa0\u1680\u180e\u202f\u205f\u3000"),
  characterSet([0x2000, 0x200a]),
);
/** The ends of lines and pages: \R of PCRE and Java, apart from \r\n. */
export const VERTICAL = set("\n\v\f\r\x85\u2028\u2029");
/** \s */
const SPACES = uniteSets(
  set("\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"),
  characterSet([0x2000, 0x200a]),
);
const LINE_ENDS = set("\n\r\u2028\u2029");

/** A set as dialects have it that differ: its characters in all of them, and in any of them. */
interface Differing {
  readonly all: CharacterSet;
  readonly any: () => CharacterSet;
}

/** The sets of ECMA-262, and what they are in the dialects of Python, Rust, Go, Java and PCRE. */
const SETS: Readonly<Record<string, { readonly here: CharacterSet; readonly there: Differing }>> = {
  d: { here: DIGITS, there: { all: DIGITS, any: () => propertySet("Nd")! } },
  w: {
    here: WORD_CHARACTERS,
    there: {
      all: WORD_CHARACTERS,
      any: () =>
        ["L", "M", "N", "Pc", "Alphabetic", "Join_Control"]
          .map((name) => propertySet(name)!).reduce(uniteSets),
    },
  },
  s: {
    here: SPACES,
    there: {
      all: set("\t\n\f\r "),
      any: () => uniteSets(propertySet("White_Space")!, characterSet([0x1c, 0x1f])),
    },
  },
  // The characters that the dot does not match.
  ".": { here: LINE_ENDS, there: { all: set("\n"), any: () => uniteSets(LINE_ENDS, set("\x85")) } },
};

export interface SetReading {
  /** Whether the pattern is in another dialect than ECMA-262. */
  readonly isForeign: boolean;
  /** Whether the set is to have the characters of any dialect, or only those of all. */
  readonly isWide: boolean;
}

/** The set of \d, \w or \s, or that of the characters that the dot does not match. */
export function namedSet(name: string, { isForeign, isWide }: SetReading): CharacterSet {
  const { here, there } = SETS[name]!;
  return isForeign ? isWide ? there.any() : there.all : here;
}

/** The sets of escapes that ECMA-262 does not have. */
export const FOREIGN_SETS: Readonly<Record<string, CharacterSet>> = {
  h: HORIZONTAL,
  H: invertSet(HORIZONTAL),
  V: invertSet(VERTICAL),
  N: invertSet(set("\n")),
};

/** The classes of POSIX by name, of ASCII as in PCRE, Rust and Go. */
export const POSIX_CLASSES: ReadonlyMap<string, CharacterSet> = new Map([
  ["alnum", ALPHANUMERIC],
  ["alpha", LETTERS],
  ["ascii", characterSet([0, 0x7f])],
  ["blank", set("\t ")],
  ["cntrl", characterSet([0, 0x1f], [0x7f, 0x7f])],
  ["digit", DIGITS],
  ["graph", range("!", "~")],
  ["lower", LOWER],
  ["print", range(" ", "~")],
  ["punct", intersectSets(range("!", "~"), invertSet(ALPHANUMERIC))],
  ["space", set("\t\n\v\f\r ")],
  ["upper", UPPER],
  ["word", WORD_CHARACTERS],
  ["xdigit", [DIGITS, range("A", "F"), range("a", "f")].reduce(uniteSets)],
]);

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

// Characters that differ in case only, for the flag i: the simple case folding of Unicode, as ECMA-262 has it
// with the u flag, and that of ASCII alone, which Java has. Which characters are equal is asked of the platform's own RegExp, once.

const ASCII = characterSet([0, 0x7f]);

/** Characters that differ in case only, for each of them. */
let orbits: ReadonlyMap<number, readonly number[]> | undefined;

/** A set with all characters of ASCII that differ from one of its own in case only. */
export function withAsciiCase(set: CharacterSet): CharacterSet {
  const letters = intersectSets(withAnyCase(intersectSets(set, ASCII)), ASCII);
  return uniteSets(set, letters);
}

/** A set with all characters that differ from one of its own in case only. */
export function withAnyCase(set: CharacterSet): CharacterSet {
  orbits ??= findOrbits();
  const added: [number, number][] = [];
  const add = (orbit: readonly number[]) => orbit.forEach((point) => added.push([point, point]));
  if (set.length === 2 && set[0] === set[1]) add(orbits.get(set[0]!) ?? []);
  else for (const [point, orbit] of orbits) if (hasCharacter(set, point)) add(orbit);
  return added.length === 0 ? set : uniteSets(set, characterSet(...added));
}

function findOrbits(): Map<number, number[]> {
  const found = new Map<number, number[]>();
  const join = (a: number, b: number) => {
    const [first, second] = [found.get(a) ?? [a], found.get(b) ?? [b]];
    if (first === second || !isSame(a, b)) return;
    const orbit = [...first, ...second];
    for (const point of orbit) found.set(point, orbit);
  };
  const byUpperCase = new Map<string, number[]>();
  for (const name of ["Changes_When_Casemapped", "Changes_When_Casefolded"]) {
    const set = propertySet(name)!;
    for (let i = 0; i < set.length; i += 2) {
      for (let point = set[i]!; point <= set[i + 1]!; point++) {
        const text = String.fromCodePoint(point);
        for (const other of [text.toLowerCase(), text.toUpperCase()]) {
          if ([...other].length === 1) join(point, other.codePointAt(0)!);
        }
        // Some differ in case only although neither is the other's upper or lower case.
        const alike = byUpperCase.get(text.toUpperCase()) ?? [];
        byUpperCase.set(text.toUpperCase(), alike);
        for (const other of alike) join(point, other);
        alike.push(point);
      }
    }
  }
  return found;
}

function isSame(a: number, b: number): boolean {
  return new RegExp(`\\u{${a.toString(16)}}`, "iu").test(String.fromCodePoint(b));
}
