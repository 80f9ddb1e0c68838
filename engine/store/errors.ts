// The errors of the store. That a model is not there at all is ModelNotFoundError (engine/errors.ts).

import { EngineError } from "../errors.ts";

/** The store cannot do what was asked: a bad name, a missing blob, a folder that cannot be written. */
export class StoreError extends EngineError {
  /** Name of the class. */
  override name = "StoreError";
}

/** The content of a blob is not what its digest says. */
export class DigestError extends StoreError {
  /** Name of the class. */
  override name = "DigestError";
  /** Says both digests, in the words of Ollama. */
  constructor(readonly expected: string, readonly actual: string) {
    super(`digest mismatch, expected "${expected}", got "${actual}"`);
  }
}
