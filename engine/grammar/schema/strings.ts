// The algebra of strings: a language with bounds of length. The bounds stay numbers if possible,
// because an automaton that counts to 65,536 is large; complements and some unions have to include
// them in the language.

import type { LanguageId, Languages } from "../language/mod.ts";
import type { StringType } from "../types.ts";
import { AlgebraError } from "./schema_error.ts";

/** Greatest length that is expressed by states. */
const MAX_COUNTED_LENGTH = 4096;

/** Most languages in one union, because they are passed as arguments. */
const MAX_UNITED = 10_000;

/** The language of exactly these texts. */
export function literals(languages: Languages, texts: readonly string[]): LanguageId {
  const united: LanguageId[] = [];
  for (let i = 0; i < texts.length; i += MAX_UNITED) {
    const some = texts.slice(i, i + MAX_UNITED);
    united.push(languages.union(...some.map((text) => languages.literal(text))));
  }
  return languages.union(...united);
}

/**
 * The strings of `language` within the bounds; undefined if there are none. Only `any` keeps a
 * minimum beside it: in other languages the lengths just above it may be missing, and a machine
 * that counts would run into the gap. A maximum is safe, because states know their shortest way to
 * the end.
 */
export function stringType(
  languages: Languages,
  language: LanguageId,
  min: number,
  max: number,
): StringType | undefined {
  if (min > max) return undefined;
  const members = language === languages.any() || min === 0
    ? language
    : languages.intersect(language, ofLength(languages, min, Infinity));
  if (languages.isEmpty(members)) return undefined;
  if (min === 0 && max === Infinity) return { language: members, min, max };
  const lengths = languages.lengths(members);
  if (lengths.min > max) return undefined;
  return {
    language: members,
    min: lengths.min >= min ? 0 : min,
    max: lengths.max <= max ? Infinity : max,
  };
}

/** The strings that are in both. */
export function intersectStrings(
  languages: Languages,
  a: StringType | undefined,
  b: StringType | undefined,
): StringType | undefined {
  if (a === undefined || b === undefined) return undefined;
  const language = languages.intersect(a.language, b.language);
  return stringType(languages, language, Math.max(a.min, b.min), Math.min(a.max, b.max));
}

/** The strings that are in at least one. */
export function uniteStrings(
  languages: Languages,
  a: StringType | undefined,
  b: StringType | undefined,
): StringType | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.language === b.language && a.min <= b.max + 1 && b.min <= a.max + 1) {
    return { ...a, min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
  }
  const whole = [a, b].find((type) => type.language === languages.any() && boundsOf(type) === 0);
  if (whole !== undefined) return whole;
  const [first, second] = boundsOf(b) > boundsOf(a) ? [b, a] : [a, b];
  // The wider bounds are right for both if they exclude nothing of the other.
  if (boundsOf(second) === 0 && fits(languages, second.language, first)) {
    return { ...first, language: languages.union(first.language, second.language) };
  }
  const language = languages.union(folded(languages, a), folded(languages, b));
  return { language, min: 0, max: Infinity };
}

/** The strings of `a` that are not in `b`. */
export function subtractStrings(
  languages: Languages,
  a: StringType | undefined,
  b: StringType | undefined,
): StringType | undefined {
  if (a === undefined || b === undefined) return a;
  if (b.language === languages.any() && boundsOf(b) === 0) return undefined;
  if (b.language === languages.any() && (b.min === 0 || b.max === Infinity)) {
    return b.min === 0
      ? stringType(languages, a.language, Math.max(a.min, b.max + 1), a.max)
      : stringType(languages, a.language, a.min, Math.min(a.max, b.min - 1));
  }
  const left = languages.intersect(a.language, languages.complement(folded(languages, b)));
  return stringType(languages, left, a.min, a.max);
}

/**
 * The language with its bounds included. @throws {AlgebraError} if it would have to count too far
 */
export function folded(languages: Languages, type: StringType): LanguageId {
  if (boundsOf(type) === 0) return type.language;
  return languages.intersect(type.language, ofLength(languages, type.min, type.max));
}

function ofLength(languages: Languages, min: number, max: number): LanguageId {
  if (Math.max(min, max === Infinity ? 0 : max) > MAX_COUNTED_LENGTH) {
    throw new AlgebraError(
      `a length over ${MAX_COUNTED_LENGTH} cannot be combined with other strings`,
    );
  }
  return languages.ofLength(min, max);
}

function boundsOf(type: StringType): number {
  return Number(type.min > 0) + Number(type.max < Infinity);
}

function fits(languages: Languages, language: LanguageId, bounds: StringType): boolean {
  const lengths = languages.lengths(language);
  return lengths.min >= bounds.min && lengths.max <= bounds.max;
}
