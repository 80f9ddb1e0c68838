// What can go wrong with regular languages: a pattern that is wrong or cannot be decided, and a
// language that outgrows its limits.

/** A pattern that is not ECMA-262 syntax, or no regular language (back-references). */
export class PatternError extends Error {
  /** Name of the class. */
  override name = "PatternError";
}

/** A language that takes more states or steps than allowed to decide. */
export class LanguageError extends Error {
  /** Name of the class. */
  override name = "LanguageError";
}

/** What is found, or what stands for it where that takes more than allowed. */
export function inTime<T>(find: () => T, otherwise: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    return otherwise();
  }
}
