// The error that a picture raises when it cannot be used. It is the request's fault, not the
// model's: servers answer 400. Clients of Ollama know it by the words "invalid image input".

import { RequestError } from "../../errors.ts";

/** A picture that is damaged, of a format that is not read, or of a size that is not allowed. */
export class ImageError extends RequestError {
  /** Name of the class. */
  override name = "ImageError";
  /**
   * Says which and why.
   *
   * @param state what is so, in words that follow a colon
   * @param which it is, where there are several
   */
  constructor(readonly state: string, which = "the image") {
    super(`Cannot read ${which}: invalid image input: ${state}`);
  }
}
