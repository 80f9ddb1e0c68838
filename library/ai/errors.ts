// The error of requests that AI SDK can make and that a model here has no way to take.

/** A part of a prompt, or an option, that cannot be given to the model. */
export class UnsupportedRequestError extends Error {
  /** Name of the class. */
  override name = "UnsupportedRequestError";
}
