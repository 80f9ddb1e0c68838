// Exponentials against those of the runtime, at both ends and between.

import { assert, assertEquals } from "@std/assert";
import { exponential, logSumOfExponentials } from "../../kernels/ops/exponential.ts";

Deno.test("exponentials are those of the runtime", () => {
  for (let i = 0; i <= 100_000; i++) {
    const x = -699.9 * (i / 100_000) ** 3;
    const expected = Math.exp(x);
    assert(Math.abs(exponential(x) / expected - 1) < 2e-13, `exp(${x})`);
  }
  assertEquals([0, -800, -Infinity, NaN].map(exponential), [1, 0, 0, NaN]);
});

Deno.test("the logarithm of a sum of exponentials heeds a range, and infinities", () => {
  const logits = Float32Array.of(500, 1, 2, -Infinity, 3);
  const expected = Math.log(Math.exp(1) + Math.exp(2) + Math.exp(3));
  assert(Math.abs(logSumOfExponentials(logits, 1) - expected) < 1e-12);
  assertEquals(logSumOfExponentials(logits), 500);
  assertEquals(logSumOfExponentials(logits, 3, 4), -Infinity);
  assertEquals(logSumOfExponentials(logits, 2, 2), -Infinity);
});
