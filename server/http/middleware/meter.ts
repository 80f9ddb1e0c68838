// Counts every request when its answer is complete, as the access log does.

import { type MiddlewareHandler, routePath } from "../../dependencies.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { type AccessVariables, shownPath, whenAnswered } from "./variables.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Middleware that feeds the metrics. */
export function meter(metrics: Metrics): MiddlewareHandler<{ Variables: AccessVariables }> {
  return async (context, next) => {
    const started = performance.now();
    await next();
    const { generation, model, promptTokens } = context.var;
    // Methods and paths that clients make up would become a series each. The last route is the
    // handler's.
    const method = METHODS.includes(context.req.method) ? context.req.method : "other";
    const route = routePath(context, -1).replace(/^\/?\*$/, "other");
    whenAnswered(context, () => {
      const seconds = (performance.now() - started) / 1000;
      metrics.countRequest({ method, route, status: context.res.status, seconds });
      const { usage, firstTokenAt } = generation ?? {};
      metrics.recent.add({
        at: new Date(Date.now() - 1000 * seconds),
        method,
        path: shownPath(context),
        status: context.res.status,
        seconds,
        ...(model !== undefined && { model }),
        ...(usage && { usage }),
        ...(firstTokenAt && { firstTokenSeconds: (firstTokenAt - started) / 1000 }),
      });
      if (promptTokens !== undefined) metrics.countPrompt(promptTokens);
      if (!usage) return;
      metrics.countGeneration(usage, firstTokenAt && (firstTokenAt - started) / 1000);
    });
  };
}
