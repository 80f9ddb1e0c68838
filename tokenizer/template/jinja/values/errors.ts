// The error of a template that does not parse or cannot be run, before chat_template.ts says so to
// the caller.

/** A template that does not parse or cannot be run, with the reason as Jinja would give it. */
export class JinjaError extends Error {
  /** Name of the class. */
  override name = "JinjaError";
}
