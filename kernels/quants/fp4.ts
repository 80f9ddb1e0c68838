// The sixteen values of a 4-bit float (E2M1 of the OCP Microscaling Formats 1.0: sign, two bits of
// exponent, one of mantissa), doubled to be whole numbers. fp4.wgsl is the same for shaders.

/** Twice the value of each code. */
export const fp4Doubles: readonly number[] = [
  ...[0, 1, 2, 3, 4, 6, 8, 12],
  ...[0, -1, -2, -3, -4, -6, -8, -12],
];
