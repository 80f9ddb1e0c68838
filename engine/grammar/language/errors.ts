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

/**
 * What all languages of a schema may take together is used up. That says nothing about the language
 * which is looked at just then, so no one may go on as if it were empty.
 */
export class LanguageLimitError extends LanguageError {
  /** Name of the class. */
  override name = "LanguageLimitError";
}

/** What is found, or what stands for it where that takes more than one language may. */
export function inTime<T>(find: () => T, otherwise: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof LanguageError) || error instanceof LanguageLimitError) throw error;
    return otherwise();
  }
}
