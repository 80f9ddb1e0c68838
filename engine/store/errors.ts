// The errors of the store. For models that do not exist there is ModelNotFoundError
// (engine/errors.ts).

import { EngineError } from "../errors.ts";

/**
 * The store cannot do what was requested: a bad name, a missing blob, a folder that cannot be
 * written.
 */
export class StoreError extends EngineError {}

/** The content of a blob does not have its digest. */
export class DigestError extends StoreError {
  /** The message has both digests, in the words of Ollama. */
  constructor(readonly expected: string, readonly actual: string) {
    super(`digest mismatch, expected "${expected}", got "${actual}"`);
  }
}
