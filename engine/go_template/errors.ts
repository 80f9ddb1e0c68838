// The error of a Go template that does not parse or cannot be run, for any reason.

import { RenderLimitError } from "../../tokenizer/mod.ts";

/** A Go template does not parse or cannot be run. */
export class GoTemplateError extends Error {
  /** Name of the class. */
  override name = "GoTemplateError";

  /** @param line line of the template's source, from 1 */
  constructor(reason: string, readonly line: number) {
    super(`Cannot use the Go template: line ${line}: ${reason}`);
  }
}

/**
 * Runs a part of a template's work. Exceeding a limit of the rendering or of the JavaScript engine
 * becomes an error of the template. Errors: GoTemplateError, and those of the work.
 *
 * @param lineOf the current line
 */
export function refusingLimits<T>(work: () => T, lineOf = () => 1): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RenderLimitError) {
      const isEndless = error.limit === "steps";
      throw new GoTemplateError(isEndless ? "the template does not end" : error.message, lineOf());
    }
    // RangeError: stack overflow, or an array or a text beyond the engine's limits.
    if (error instanceof RangeError) {
      throw new GoTemplateError("it nests too deeply, or makes too much at once", lineOf());
    }
    throw error;
  }
}
