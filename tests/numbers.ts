// Numbers for tests: values to compute with, and how far results are from what they should be.

/** Seeded uniform values in [-1, 1), with an outlier here and there. */
export function randomFloats(count: number, seed: number): Float32Array {
  const values = new Float32Array(count);
  let state = seed * 2654435761 >>> 0 || 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const value = state / 2 ** 31 - 1;
    values[i] = state % 97 === 0 ? value * 8 : value;
  }
  return values;
}

/** sum((a - b)^2) / sum(b^2). */
export function nmse(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length) {
    throw new RangeError(`Cannot compare: ${actual.length} values, expected ${expected.length}`);
  }
  let error = 0, power = 0;
  for (let i = 0; i < expected.length; i++) {
    error += (actual[i] - expected[i]) ** 2;
    power += expected[i] ** 2;
  }
  return power === 0 ? error : error / power;
}
