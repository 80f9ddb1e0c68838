// The random generator Philox4x32-10, for the reference: the counter-based generator of Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3" (SC11).

/** The four random words of a counter of four words under a key of 64 bits. */
export function philox(counter: readonly number[], key: bigint): Uint32Array {
  const state = Uint32Array.from(counter);
  const keys = Uint32Array.of(Number(key & 0xffffffffn), Number(key >> 32n));
  for (let round = 0; round < 10; round++) {
    const [x, y, z, w] = state;
    state[0] = multiplyHigh(0xcd9e8d57, z) ^ y ^ keys[0];
    state[1] = Math.imul(0xcd9e8d57, z);
    state[2] = multiplyHigh(0xd2511f53, x) ^ w ^ keys[1];
    state[3] = Math.imul(0xd2511f53, x);
    keys[0] += 0x9e3779b9;
    keys[1] += 0xbb67ae85;
  }
  return state;
}

/** High word of the product of two words. Both halves of `b` keep the products below 2^53. */
function multiplyHigh(a: number, b: number): number {
  const low = Math.floor(a * (b & 0xffff) / 2 ** 16);
  return Math.floor((a * (b >>> 16) + low) / 2 ** 16);
}

/**
 * A standard Gumbel variate for a token, which depends on the seed, the position and the id alone.
 */
export function gumbel(seed: bigint, position: number, id: number): number {
  const word = philox([position, Math.floor(id / 4), 0, 0], seed)[id % 4];
  return -Math.log(-Math.log((word + 0.5) / 2 ** 32));
}
