// Tells load balancers the load of the models with each answer that they ask it of, in the form of ORCA
// that Envoy, gRPC's and vLLM's clients read: the header endpoint-load-metrics, as text or JSON.
// https://github.com/envoyproxy/envoy/issues/6614

import type { ModelManager } from "../../../engine/mod.ts";
import type { MiddlewareHandler } from "../../dependencies.ts";
import { loadsOf, type ModelLoad } from "../metrics/vllm_metrics.ts";

const ASKED_BY = "endpoint-load-metrics-format";
const TOLD_BY = "endpoint-load-metrics";

/** Middleware that answers the request header endpoint-load-metrics-format, TEXT or JSON. */
export function loadReport(manager: Pick<ModelManager, "running">): MiddlewareHandler {
  return async (context, next) => {
    await next();
    const format = context.req.header(ASKED_BY)?.trim().toUpperCase();
    if (format !== "TEXT" && format !== "JSON") return;
    const loads = loadsOf(manager);
    const sum = (read: (load: ModelLoad) => number) =>
      loads.reduce((total, load) => total + read(load), 0);
    const metrics = {
      // Of all models together, but for the cache: the fullest one is where requests will wait.
      kv_cache_usage_perc: Math.max(0, ...loads.map(({ cacheUse }) => cacheUse)),
      num_requests_running: sum(({ running }) => running),
      num_requests_waiting: sum(({ waiting }) => waiting),
      num_tokens_running: sum(({ tokens }) => tokens.running),
      num_tokens_waiting: sum(({ tokens }) => tokens.waiting),
    };
    context.header(
      TOLD_BY,
      format === "JSON"
        ? `JSON ${JSON.stringify({ named_metrics: metrics })}`
        : `TEXT ${
          Object.entries(metrics).map(([name, value]) => `named_metrics.${name}=${value}`)
            .join(", ")
        }`,
    );
  };
}
