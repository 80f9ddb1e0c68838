// The encoding of codebooks. The entries of each codebook of the IQ formats are vectors over a few
// levels, in ascending order. So a codebook is a set, given by one bit for each possible vector, in
// base64.

/**
 * The vectors of a codebook in order, `dimension` components each. The components of vector n are
 * the levels selected by the digits of n in base levels.length, the least significant digit first.
 * It is in the codebook if bit n % 8 of byte n / 8 is set.
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
