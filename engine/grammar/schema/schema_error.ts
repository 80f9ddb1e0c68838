// The error of schemas that cannot be enforced: malformed, unsupported, without any value, or above
// a limit. It always says where and why.

import { EngineError } from "../../errors.ts";
import { LanguageError, PatternError } from "../language/mod.ts";
import { NumberError } from "../number/mod.ts";

/** A JSON Schema that cannot be enforced. */
export class SchemaError extends EngineError {
  /**
   * An error that says where and why.
   *
   * @param pointer JSON pointer into the schema; "" is its root
   * @param keyword the keyword at fault; "" if there is no single one
   * @param reason what is wrong
   * @param subject whose schema it is
   */
  constructor(
    readonly pointer: string,
    readonly keyword: string,
    readonly reason: string,
    readonly subject = "the schema",
  ) {
    super(warningText({ pointer, keyword, reason }, subject));
  }
}

/** A reference to something that its own document would have to contain, which nobody can follow. */
export class DanglingReferenceError extends SchemaError {}

/** A keyword that is not enforced, although the schema as a whole is. */
export interface SchemaWarning {
  /** JSON pointer into the schema; "" is its root. */
  readonly pointer: string;
  /** The keyword. */
  readonly keyword: string;
  /** Why. */
  readonly reason: string;
}

/** A warning in the words of errors. @param subject whose schema it is */
export function warningText(
  { pointer, keyword, reason }: SchemaWarning,
  subject = "the schema",
): string {
  const location = pointer === "" ? "its root" : pointer;
  return `Cannot enforce ${subject} at ${location}${keyword && ` ("${keyword}")`}: ${reason}`;
}

/**
 * An algebraic step that exceeds a limit. A caller that knows the location turns it into a {@linkcode
 * SchemaError}.
 */
export class AlgebraError extends EngineError {}

/** Whether a caller that knows the location turns the error into a {@linkcode SchemaError}. */
export function isLimit(error: unknown): error is Error {
  return error instanceof AlgebraError || error instanceof LanguageError ||
    error instanceof PatternError || error instanceof NumberError;
}
