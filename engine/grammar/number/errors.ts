// The error of number sets: a set that cannot be computed exactly in reasonable time.

/** A set of numbers that cannot be built: a bound or a divisor that is too large or too fine. */
export class NumberError extends Error {
  /** Name of the class. */
  override name = "NumberError";
}
