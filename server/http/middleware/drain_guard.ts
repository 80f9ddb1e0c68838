// Tells the drain of every request, from its first byte to the end of its answer. Who asks how the
// server is does not keep it from stopping, and is answered to the last.

import type { MiddlewareHandler } from "../../dependencies.ts";
import type { Drain } from "../drain.ts";
import type { AccessVariables } from "./access_log.ts";

const ALWAYS_ANSWERED = ["/", "/health"];

/** Middleware that answers 503 once draining has begun. */
export function drainGuard(drain: Drain): MiddlewareHandler<{ Variables: AccessVariables }> {
  return async (context, next) => {
    if (ALWAYS_ANSWERED.includes(context.req.path)) return await next();
    const place = drain.enter();
    try {
      await next();
    } finally {
      const leave = () => place[Symbol.dispose]();
      const { generation } = context.var;
      if (generation) void generation.ended.then(leave);
      else leave();
    }
  };
}
