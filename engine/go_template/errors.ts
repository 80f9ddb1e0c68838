// The error of a Go template that does not parse or cannot be run, whatever it is that stops it.

import { RenderLimitError } from "../../tokenizer/mod.ts";

/** A Go template does not parse or cannot be run. */
export class GoTemplateError extends Error {
  /** Name of the class. */
  override name = "GoTemplateError";

  /** Says what is wrong. @param line of the template's source, from 1 */
  constructor(reason: string, readonly line: number) {
    super(`Cannot use the Go template: line ${line}: ${reason}`);
  }
}

/**
 * Runs a part of a template's work. What goes beyond a limit, that of a rendering or that of the
 * language below, is the template's fault. Errors: GoTemplateError, and any others that it has.
 *
 * @param lineOf the line that is at work
 */
export function refusingLimits<T>(work: () => T, lineOf = () => 1): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RenderLimitError) {
      const isEndless = error.limit === "steps";
      throw new GoTemplateError(isEndless ? "the template does not end" : error.message, lineOf());
    }
    // The stack is full, or an array or a text is larger than any may be.
    if (error instanceof RangeError) {
      throw new GoTemplateError("it nests too deeply, or makes too much at once", lineOf());
    }
    throw error;
  }
}
