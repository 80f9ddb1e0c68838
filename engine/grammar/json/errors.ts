// The error of the JSON reader: a text or plain value that is not JSON, or too large.

/** A text or a value that cannot be read as JSON. */
export class JsonError extends Error {
  /** Name of the class. */
  override name = "JsonError";

  /**
   * Says what is wrong.
   *
   * @param offset where the text goes wrong, in UTF-16 units; missing if there is no text
   */
  constructor(message: string, readonly offset?: number, options?: ErrorOptions) {
    super(message, options);
  }
}
