// One log line per request, written when its answer is complete: for a generation, after the last
// token, with exact counts and rates. Metrics count it then, too.

import type { Usage } from "../../../engine/mod.ts";
import { bounded } from "../../bounded.ts";
import { type MiddlewareHandler, routePath } from "../../dependencies.ts";
import { type Log, type LogFields, messageOf } from "../../log.ts";
import { CLIENT_CLOSED_REQUEST, statusOf } from "../errors.ts";
import type { Generation } from "../generation/generation.ts";
import { decodeRate, type Metrics, prefillRate } from "../metrics/metrics.ts";
import { type AccessVariables, shownPath, whenAnswered } from "./variables.ts";

/** Most characters of the name of a model in a line: it may be a path. */
const MAX_NAME = 256;

/** Middleware that logs every request. */
export function accessLog(log: Log): MiddlewareHandler<{ Variables: AccessVariables }> {
  return async (context, next) => {
    const started = performance.now();
    await next();
    const { method } = context.req;
    const path = shownPath(context);
    whenAnswered(context, () => {
      const { generation, promptTokens, traceId } = context.var;
      const { lateStatus: status = context.res.status } = context.var;
      const model = context.var.model && bounded(context.var.model, MAX_NAME);
      const milliseconds = performance.now() - started;
      const parts = [`${method} ${path} ${status}`];
      if (model) parts.push(model);
      if (promptTokens !== undefined) parts.push(`in ${promptTokens}`);
      if (generation) parts.push(describeGeneration(generation));
      parts.push(`${(milliseconds / 1000).toFixed(3)} s`);
      if (traceId) parts.push(`trace ${traceId}`);
      log.info(parts.join(" - "), {
        method,
        path,
        status,
        model,
        prompt_tokens: promptTokens,
        ...generation && generationFields(generation),
        total_ms: round(milliseconds),
        trace_id: traceId,
      });
      const fields = { trace_id: traceId };
      for (const note of generation?.notes ?? []) log.warn(`${path}: ${note}`, fields);
    });
  };
}

function describeGeneration(generation: Generation): string {
  return generation.usage ? describeUsage(generation.usage) : endOf(generation);
}

function endOf({ failure }: Generation): string {
  const canceled = failure === undefined || statusOf(failure) === CLIENT_CLOSED_REQUEST;
  return canceled ? "canceled" : `failed: ${messageOf(failure)}`;
}

/**
 * `in 4 + 8 - prefill 120.0 tok/s - out 34 - decode 45.6 tok/s`: the first two numbers are tokens of
 * the prompt, cached ones and new ones. A rate that was not measured is left out.
 */
function describeUsage(usage: Usage): string {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  const rate = (name: string, value: number | undefined) =>
    value === undefined ? [] : [`${name} ${value.toFixed(1)} tok/s`];
  return [
    `in ${cachedTokens} + ${promptTokens - cachedTokens}`,
    ...rate("prefill", prefillRate(usage)),
    `out ${completionTokens}`,
    ...rate("decode", decodeRate(usage)),
  ].join(" - ");
}

function generationFields(generation: Generation): LogFields {
  const { usage, loadMilliseconds } = generation;
  if (!usage) return { outcome: endOf(generation) };
  return {
    cached_tokens: usage.cachedTokens,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    load_ms: round(loadMilliseconds),
    prompt_ms: round(usage.promptMilliseconds),
    completion_ms: round(usage.completionMilliseconds),
    prefill_tokens_per_second: round(prefillRate(usage)),
    decode_tokens_per_second: round(decodeRate(usage)),
  };
}

/** The number to a tenth, which is fine enough for a log. */
function round(value: number): number;
function round(value: number | undefined): number | undefined;
function round(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 10) / 10;
}

// Counts every request when its answer is complete, as the access log does.

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Middleware that feeds the metrics. */
export function meter(metrics: Metrics): MiddlewareHandler<{ Variables: AccessVariables }> {
  return async (context, next) => {
    const started = performance.now();
    await next();
    // Methods and paths that clients make up would become a series each. The last route is the
    // handler's.
    const method = METHODS.includes(context.req.method) ? context.req.method : "other";
    const route = routePath(context, -1).replace(/^\/?\*$/, "other");
    whenAnswered(context, () => {
      const { generation, model, promptTokens, traceId } = context.var;
      const { lateStatus: status = context.res.status } = context.var;
      const seconds = (performance.now() - started) / 1000;
      metrics.countRequest({ method, route, status, seconds, traceId });
      const { usage, times: { firstToken } = {} } = generation ?? {};
      const firstTokenSeconds = firstToken && (firstToken - started) / 1000;
      metrics.recent.add({
        at: new Date(Date.now() - 1000 * seconds),
        method,
        path: shownPath(context),
        status,
        seconds,
        ...(model !== undefined && { model }),
        ...(usage && { usage }),
        ...(firstTokenSeconds && { firstTokenSeconds }),
      });
      if (promptTokens !== undefined) metrics.countPrompt(promptTokens);
      if (!usage) return;
      metrics.countGeneration(usage, firstTokenSeconds, traceId);
      metrics.vllm.count(generation!, seconds, firstTokenSeconds, traceId);
    });
  };
}
