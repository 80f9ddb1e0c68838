// The assertions of @std/assert that the tests use, over node:assert.
// deno.json maps "@std/assert" here; point it at the JSR package and nothing else changes.

import assert from "node:assert/strict";

/** Fails unless `value` is truthy. */
export function assertOk(value: unknown, message?: string): asserts value {
  assert.ok(value, message);
}

export { assertOk as assert };

/** Fails unless both values are deeply and strictly equal. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  assert.deepStrictEqual(actual, expected, message);
}

/** Fails if both values are deeply and strictly equal. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  assert.notDeepStrictEqual(actual, expected, message);
}

/** Fails unless `text` matches `pattern`. */
export function assertMatch(text: string, pattern: RegExp, message?: string): void {
  assert.match(text, pattern, message);
}

/** Fails unless `text` contains `part`. */
export function assertStringIncludes(text: string, part: string, message?: string): void {
  assert.ok(
    text.includes(part),
    message ?? `Expected ${JSON.stringify(text)} to include ${JSON.stringify(part)}`,
  );
}

// deno-lint-ignore no-explicit-any
type ErrorClass<E extends Error> = new (...args: any[]) => E;

function check<E extends Error>(error: unknown, kind?: ErrorClass<E>, includes?: string): E {
  assert.ok(
    error instanceof (kind ?? Error),
    `Expected ${kind?.name ?? "Error"}, got ${String(error)}`,
  );
  if (includes !== undefined) assertStringIncludes((error as Error).message, includes);
  return error as E;
}

/** Fails unless `run` throws; returns what it threw. */
export function assertThrows<E extends Error = Error>(
  run: () => unknown,
  kind?: ErrorClass<E>,
  includes?: string,
): E {
  try {
    run();
  } catch (error) {
    return check(error, kind, includes);
  }
  throw new assert.AssertionError({ message: "Expected the function to throw" });
}

/** Fails unless the promise of `run` rejects; resolves to the reason. */
export async function assertRejects<E extends Error = Error>(
  run: () => Promise<unknown>,
  kind?: ErrorClass<E>,
  includes?: string,
): Promise<E> {
  try {
    await run();
  } catch (error) {
    return check(error, kind, includes);
  }
  throw new assert.AssertionError({ message: "Expected the promise to reject" });
}
