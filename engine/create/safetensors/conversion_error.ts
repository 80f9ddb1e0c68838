// The error that a folder of Hugging Face's layout cannot be converted as it is.

import { RequestError } from "../../errors.ts";

/** A file of the folder is missing, not sound, or says what no GGUF file can. */
export class ConversionError extends RequestError {
  /** Name of the class. */
  override name = "ConversionError";
  /**
   * Says where in which file.
   *
   * @param file path
   * @param field the key or tensor at fault
   * @param state what is so
   */
  constructor(readonly file: string, readonly field: string, state: string) {
    super(`Cannot convert "${file}": ${field}: ${state}`);
  }
}
