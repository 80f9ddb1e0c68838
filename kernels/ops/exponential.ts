// Exponentials of many logits. Math.exp calls a function of the runtime that was compiled for SSE, and
// beside kernels of 256 bits, which leave the upper halves of registers in use, each call takes 130 ns
// in place of 10: seven milliseconds of a token with 50,000 logits. Arithmetic does not suffer.

/** Powers of a half. */
const HALVES = Float64Array.from({ length: 1024 }, (_, i) => 2 ** -i);

/** 1 / n!, the coefficients of the exponential. */
const COEFFICIENTS = Float64Array.from({ length: 14 }, (_, n) => {
  let product = 1;
  for (let i = 2; i <= n; i++) product *= i;
  return 1 / product;
});

/** exp(x) of a number that is not above zero, within 1e-14 of it; 0 below -700. */
export function exponential(x: number): number {
  if (!(x > -700)) return x <= -700 ? 0 : NaN;
  const halves = Math.round(-x * Math.LOG2E);
  const rest = x + halves * Math.LN2;
  let sum = COEFFICIENTS[13];
  for (let n = 12; n >= 0; n--) sum = sum * rest + COEFFICIENTS[n];
  return sum * HALVES[halves];
}

/** ln of the sum of the exponentials of some logits; -Infinity of none. */
export function logSumOfExponentials(
  logits: Float32Array,
  from = 0,
  to = logits.length,
): number {
  let most = -Infinity;
  for (let i = from; i < to; i++) if (logits[i] > most) most = logits[i];
  if (most === -Infinity) return -Infinity;
  let sum = 0;
  for (let i = from; i < to; i++) sum += exponential(logits[i] - most);
  return most + Math.log(sum);
}
