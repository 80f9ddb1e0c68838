// The errors of regular languages: a pattern that is invalid or not regular, and a language that
// exceeds its limits.

/** A pattern that is malformed, has no meaning that is known, or is no regular language. */
export class PatternError extends Error {
  /** Name of the class. */
  override name = "PatternError";

  /**
   * An error that says where and why.
   *
   * @param column where in the pattern, in characters from 1; undefined if it is the pattern as a whole
   */
  constructor(readonly reason: string, readonly column?: number) {
    super(
      `Cannot read the pattern${column === undefined ? "" : ` at column ${column}`}: ${reason}`,
    );
  }
}

/** A language that needs more states or steps than are allowed. */
export class LanguageError extends Error {
  /** Name of the class. */
  override name: string = this.constructor.name;
}

/**
 * The limit of all languages of a schema together is reached. This says nothing about the language
 * that is being examined, so it must not be treated as empty.
 */
export class LanguageLimitError extends LanguageError {}

/** The result of `find`, or a substitute if that exceeds the limits of one language. */
export function inTime<T>(find: () => T, otherwise: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof LanguageError) || error instanceof LanguageLimitError) throw error;
    return otherwise();
  }
}
