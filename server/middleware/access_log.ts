// One log line per request, written when its answer is complete: for a generation, after the last
// token, with exact counts and rates.

import type { MiddlewareHandler } from "hono";
import type { Usage } from "../../engine/mod.ts";
import { CLIENT_CLOSED_REQUEST, messageOf, statusOf } from "../errors.ts";
import type { Generation } from "../generation.ts";
import type { Log } from "../log.ts";

/** What routes leave in the context for the access log. */
export interface AccessVariables {
  generation?: Generation;
  /** The model's name as the client wrote it. */
  model?: string;
  /** Tokens that were read where nothing is generated. */
  promptTokens?: number;
}

/** Middleware that logs every request. */
export function accessLog(log: Log): MiddlewareHandler<{ Variables: AccessVariables }> {
  return async (context, next) => {
    const started = performance.now();
    await next();
    const { method, path } = context.req;
    const { generation, model, promptTokens } = context.var;
    const write = () => {
      const parts = [`${method} ${path} ${context.res.status}`];
      if (model) parts.push(model);
      if (promptTokens !== undefined) parts.push(`${promptTokens} in`);
      if (generation) parts.push(describeGeneration(generation));
      parts.push(seconds(performance.now() - started));
      log.info(parts.join(" - "));
    };
    if (generation) void generation.ended.then(write);
    else write();
  };
}

function describeGeneration({ usage, failure }: Generation): string {
  if (usage) return describeUsage(usage);
  const canceled = failure === undefined || statusOf(failure) === CLIENT_CLOSED_REQUEST;
  return canceled ? "canceled" : `failed: ${messageOf(failure)}`;
}

/**
 * `12 in (4 cached), 120.0 tok/s - 34 out, 45.6 tok/s`. The first rate leaves out cached tokens, the
 * second the first token, which comes with the prompt.
 */
export function describeUsage(usage: Usage): string {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  const prefill = rate(promptTokens - cachedTokens, usage.promptMilliseconds);
  const decode = rate(completionTokens - 1, usage.completionMilliseconds);
  return `${promptTokens} in (${cachedTokens} cached)${prefill} - ${completionTokens} out${decode}`;
}

function rate(tokens: number, milliseconds: number): string {
  if (tokens <= 0 || milliseconds <= 0) return "";
  return `, ${(tokens * 1000 / milliseconds).toFixed(1)} tok/s`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(3)} s`;
}
