// Characters that differ in case only, for the flag i: the simple case folding of Unicode, as ECMA-262 has it
// with the u flag, and that of ASCII alone, which Java has. Which characters are equal is asked of the platform's own RegExp, once.

import {
  type CharacterSet,
  characterSet,
  hasCharacter,
  intersectSets,
  uniteSets,
} from "./character_set.ts";
import { propertySet } from "./pattern_sets.ts";

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
