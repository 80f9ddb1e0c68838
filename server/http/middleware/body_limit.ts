// Bounds the bodies of requests: refuses at once a body whose Content-Length is too large, and
// gives each request the allowance against which its body is read (bodies.ts).

import type { MiddlewareHandler } from "../../dependencies.ts";
import { BodyAllowance, type BodyBudget, tooLarge } from "../body/bodies.ts";
import { type AccessVariables, type BodyVariables, whenAnswered } from "./variables.ts";

/**
 * Middleware that answers 413 to bodies whose length is over the bound.
 *
 * @param maxBytes largest body in bytes
 * @param unbound paths whose bodies are not held in memory
 */
export function bodyLimit(
  budget: BodyBudget,
  maxBytes: number,
  unbound: RegExp,
): MiddlewareHandler<{ Variables: AccessVariables & BodyVariables }> {
  return async (context, next) => {
    const length = Number(context.req.header("content-length") ?? 0);
    if (length > maxBytes && !unbound.test(context.req.path)) throw tooLarge(maxBytes);
    const allowance = new BodyAllowance(budget, maxBytes);
    context.set("body", allowance);
    try {
      await next();
    } finally {
      whenAnswered(context, () => allowance[Symbol.dispose]());
    }
  };
}
