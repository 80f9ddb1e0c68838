// Routes about the server itself and what runs on it: GET /health, its kin, /metrics, /api/version and
// /api/status, POST /api/requests/ID/answer.

import { Hono } from "../../../dependencies.ts";
import { SharedRuns } from "../../../../engine/mod.ts";
import type { KeyAccount } from "../../../keys/mod.ts";
import { OLLAMA_API_VERSION } from "../../../version.ts";
import type { AppDependencies, AppEnvironment, Section } from "../../app_types.ts";
import { HttpError } from "../../errors.ts";
import { EXPOSITION_TYPE, OPEN_METRICS_TYPE } from "../../metrics/exposition.ts";
import { json } from "../../stream/json.ts";
import type {
  Answering,
  CloudStatus,
  Findings,
  Health,
  KeyUsages,
  Requests,
  Version,
} from "./answer_schema.ts";
import { decodeRate, type RecentRequest } from "../../metrics/metrics.ts";

/** Requests that ask whether a server is well, which cost it next to nothing to answer. */
const URGENT = /^\w+:\/\/[^/]*\/(health(\/live|\/ready)?|metrics|api\/version)?(\?|$)/;

/** Whether a request is answered before others begin. */
export function isUrgent({ method, url }: { method: string; url: string }): boolean {
  return (method === "GET" || method === "HEAD") && URGENT.test(url);
}

/** Routes about the server itself. */
export function operationsRoutes(
  { blocks, drain, examine, hasCloud = false, keys, manager, metrics, preload, requests, version }:
    AppDependencies,
): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  const health = () => {
    const { length: busy } = manager.busyWorkers.current;
    const state = { version, ...(busy > 0 && { busy_workers: busy }) };
    return drain.begun
      ? json<Health>({ status: "shutting down", ...state }, 503)
      : json<Health>({ status: "ok", ...state });
  };
  app.get("/health", health);
  app.get("/health/ready", () => {
    const missing = preload?.missing ?? [];
    if (drain.begun || missing.length === 0) return health();
    return json<Health>({ status: "loading models", version, missing: [...missing] }, 503);
  });
  // A server that drains must not be killed for it.
  app.get("/health/live", () => json<Health>({ status: "ok", version }));

  app.get("/api/requests", () => json<Requests>({ requests: metrics.recent.all.map(toRequest) }));

  const since = new Date().toISOString();
  app.get("/api/usage", ({ var: { account } }) => {
    const shown = account && !keys?.isOwner(account) ? [account] : keys?.accounts ?? [];
    return json<KeyUsages>({ since, keys: shown.map(toUsage) });
  });

  // It takes a while, so all who ask meanwhile share the next one.
  const examinations = new SharedRuns<Section[]>();
  app.get("/api/doctor", async () => {
    const sections = await examinations.run("", async () => await examine?.() ?? []);
    // Facts are for the command line.
    return json<Findings>({
      sections: sections.map(({ title, findings, table }) => ({
        title,
        findings,
        ...(table && { table }),
      })),
    });
  });

  app.get("/metrics", async (context) => {
    await blocks?.measureDisk?.();
    // Prometheus asks for OpenMetrics before its own text, which has no exemplars.
    const isOpen = /\bapplication\/openmetrics-text\b/.test(context.req.header("accept") ?? "");
    const type = isOpen ? OPEN_METRICS_TYPE : EXPOSITION_TYPE;
    return context.body(metrics.text(isOpen), 200, { "content-type": type });
  });

  app.get("/api/version", () => {
    return json<Version>({ version: OLLAMA_API_VERSION, quern_version: version });
  });

  app.post("/api/requests/:id/answer", (context) => {
    const id = context.req.param("id");
    if (requests.answerNow(id)) return json<Answering>({ id });
    throw new HttpError(404, `no request "${id}" is running`);
  });

  // What Ollama's clients ask before they offer models that run elsewhere.
  app.get("/api/status", () => {
    return json<CloudStatus>({
      cloud: { disabled: !hasCloud, source: hasCloud ? "none" : "config" },
    });
  });
  return app;
}

function toUsage(account: KeyAccount): KeyUsages["keys"][number] {
  const { requests, refused, promptTokens, cachedTokens, completionTokens } = account.usage;
  return {
    name: account.entry.name,
    requests,
    refused,
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    completion_tokens: completionTokens,
    limits: account.limits().map(({ kind, limit, remaining }) => ({
      kind,
      per_minute: limit,
      remaining,
    })),
  };
}

function toRequest(
  { at, method, path, status, model, seconds, firstTokenSeconds, usage }: RecentRequest,
): Requests["requests"][number] {
  const rate = usage && decodeRate(usage);
  return {
    at: at.toISOString(),
    method,
    path,
    status,
    model: model!,
    seconds,
    ...(firstTokenSeconds !== undefined && { first_token_seconds: firstTokenSeconds }),
    ...(usage && {
      prompt_tokens: usage.promptTokens,
      cached_tokens: usage.cachedTokens,
      completion_tokens: usage.completionTokens,
    }),
    ...(rate !== undefined && { tokens_per_second: rate }),
  };
}
