// The error of a Go template that does not parse or cannot be run.

/** A Go template does not parse or cannot be run. */
export class GoTemplateError extends Error {
  /** Name of the class. */
  override name = "GoTemplateError";

  /** Says what is wrong. @param line of the template's source, from 1 */
  constructor(reason: string, readonly line: number) {
    super(`Cannot use the Go template: line ${line}: ${reason}`);
  }
}
