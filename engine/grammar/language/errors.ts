// The errors of regular languages: a pattern that is invalid or not regular, and a language that
// exceeds its limits.

/** A pattern that is not ECMA-262 syntax, or no regular language (back-references). */
export class PatternError extends Error {
  /** Name of the class. */
  override name = "PatternError";
}

/** A language that needs more states or steps than are allowed. */
export class LanguageError extends Error {
  /** Name of the class. */
  override name = "LanguageError";
}

/**
 * The limit of all languages of a schema together is reached. This says nothing about the language
 * that is being examined, so it must not be treated as empty.
 */
export class LanguageLimitError extends LanguageError {
  /** Name of the class. */
  override name = "LanguageLimitError";
}

/** The result of `find`, or a substitute if that exceeds the limits of one language. */
export function inTime<T>(find: () => T, otherwise: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof LanguageError) || error instanceof LanguageLimitError) throw error;
    return otherwise();
  }
}
