// What is thrown when a schema cannot be enforced: it is malformed, asks for what is not supported, has
// no value at all, or exceeds a cap. It never says less than where and why.

import { EngineError } from "../../errors.ts";
import { LanguageError, PatternError } from "../language/mod.ts";
import { NumberError } from "../number/mod.ts";

/** A JSON Schema that cannot be enforced. */
export class SchemaError extends EngineError {
  /** Name of the class. */
  override name = "SchemaError";
  /**
   * Says where and why.
   *
   * @param pointer JSON pointer into the schema; "" is its root
   * @param keyword the keyword at fault, or "" where no single one is
   * @param reason what is so
   * @param subject whose schema it is
   */
  constructor(
    readonly pointer: string,
    readonly keyword: string,
    readonly reason: string,
    readonly subject = "the schema",
  ) {
    const place = pointer === "" ? "its root" : pointer;
    super(`Cannot enforce ${subject} at ${place}${keyword && ` ("${keyword}")`}: ${reason}`);
  }
}

/** An algebraic step that exceeds a cap; whoever knows the place makes a {@linkcode SchemaError} of it. */
export class AlgebraError extends EngineError {
  /** Name of the class. */
  override name = "AlgebraError";
}

/** True for what whoever knows the place makes a {@linkcode SchemaError} of. */
export function isLimit(error: unknown): error is Error {
  return error instanceof AlgebraError || error instanceof LanguageError ||
    error instanceof PatternError || error instanceof NumberError;
}
