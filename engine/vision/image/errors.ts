// The error that a picture raises when it cannot be used. It is the request's fault, not the
// model's: servers answer 400.

import { RequestError } from "../../errors.ts";

/** A picture that is damaged, of a format that is not read, or of a size that is not allowed. */
export class ImageError extends RequestError {
  /** Name of the class. */
  override name = "ImageError";
  /** Says why. @param state what is so, in words that follow a colon */
  constructor(state: string) {
    super(`Cannot read the image: ${state}`);
  }
}
