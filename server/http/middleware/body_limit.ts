// Bounds the bodies of requests: refuses at once what says beforehand that it is too large, and gives
// each request its allowance, which bodies are read against (bodies.ts).

import type { MiddlewareHandler } from "../../dependencies.ts";
import { BodyAllowance, type BodyBudget, tooLarge } from "../body/bodies.ts";
import type { AccessVariables } from "./access_log.ts";

/** What routes read bodies against. */
export interface BodyVariables {
  body: BodyAllowance;
}

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
      const giveBack = () => allowance[Symbol.dispose]();
      const { generation } = context.var;
      if (generation) void generation.ended.then(giveBack);
      else giveBack();
    }
  };
}
