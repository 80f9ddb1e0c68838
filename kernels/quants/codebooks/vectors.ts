// Codebooks as sets. The entries of each codebook of the IQ formats are vectors over a few levels in
// ascending order, so that one bit for each vector there could be says all: base64 of those bits.
// Which vectors they are is for the files beside to say.

/**
 * The vectors of a codebook in order, `dimension` components each. Vector number n has as its
 * components the levels that the digits of n name, n written to the base levels.length, the least
 * digit first; it is in the codebook if bit n % 8 of byte n / 8 is set.
 *
 * @param members base64 of the bits, with white space
 */
export function codebookVectors(
  members: string,
  levels: readonly number[],
  dimension: number,
): Int8Array<ArrayBuffer> {
  const bits = Uint8Array.from(atob(members), (character) => character.charCodeAt(0));
  const components: number[] = [];
  for (let number = 0; number < levels.length ** dimension; number++) {
    if ((bits[number >> 3] >> number % 8 & 1) === 0) continue;
    for (let i = 0, rest = number; i < dimension; i++) {
      components.push(levels[rest % levels.length]);
      rest = Math.floor(rest / levels.length);
    }
  }
  return Int8Array.from(components);
}
