// The HTTP application: middleware, routes and errors put together. A factory without globals and
// without a port: `createApp(dependencies).fetch` is a handler for a server or a test.

import { type Context, Hono } from "../dependencies.ts";
import type { AppEnvironment, AppOptions } from "./app_types.ts";
import { BodyBudget, MAX_BODY_BYTES, MAX_HELD_BYTES } from "./body/bodies.ts";
import { dialectOf, errorResponse } from "./api/dialect.ts";
import { Drain, drainGuard } from "./drain.ts";
import { headersOf, HttpError, statusOf } from "./errors.ts";
import { logFailure } from "./failure_log.ts";
import { Metrics } from "./metrics/metrics.ts";
import { accessLog, meter } from "./middleware/access_log.ts";
import {
  bodyLimit,
  hostGuard,
  keyGuard,
  originGuard,
  wellFormedHost,
} from "./middleware/guards.ts";
import { loadReport } from "./middleware/load_report.ts";
import { tracing } from "./middleware/tracing.ts";
import { shownPath } from "./middleware/variables.ts";
import { RunningRequests, WaitingQueue, wantedId } from "./generation/queue.ts";
import { UnreadBudget } from "./generation/unread.ts";
import { EventLogs } from "./stream/event_log.ts";
import { pullModel, pushModel } from "../registry/mod.ts";
import { withoutCloud } from "../remote/mod.ts";
import { SOUND_PATH } from "./api/audio/route.ts";
import { UPLOAD_PATH } from "./api/models/blobs.ts";
import { apiRoutes } from "./api/routes.ts";

/**
 * Builds the application.
 *
 * @example
 * ```ts ignore
 * const app = createApp({ store, manager, log, version: "0.1.0" }); new HttpServer(Deno.listen({
 * port: 11434 }), app.fetch, { log });
 * ```
 */
export function createApp(options: AppOptions): Hono<AppEnvironment> {
  const { log, boundTo = "127.0.0.1" } = options;
  const { maxBodyBytes = MAX_BODY_BYTES, maxHeldBytes = MAX_HELD_BYTES } = options;
  const queue = new WaitingQueue(options.maxQueue ?? 512);
  const drain = options.drain ?? new Drain();
  const metrics = new Metrics({ ...options, queue });
  const registry = options.registry ?? { pull: withoutCloud(pullModel), push: pushModel };
  const requests = new RunningRequests();
  const unread = new UnreadBudget(options.unreadLimits);
  const logs = new EventLogs(options.eventLogLimits);
  const tellFailure = (error: unknown, context: Context<AppEnvironment>) => {
    logFailure(log, shownPath(context), error, { trace_id: context.var.traceId });
    return errorResponse(dialectOf(context.req), statusOf(error), error, headersOf(error));
  };
  const dependencies = {
    ...options,
    tellFailure,
    queue,
    requests,
    unread,
    logs,
    loraDefaults: new Map(),
    drain,
    metrics,
    registry,
  };
  const app = new Hono<AppEnvironment>();

  app.use(async (context, next) => {
    await next();
    context.header("server", `quern/${options.version}`);
    // By the id that its client or a gateway gave it, a request is found in their logs, also one that failed.
    const id = wantedId(context.req.header("x-request-id"));
    if (id && !context.res.headers.has("x-request-id")) context.header("x-request-id", id);
  });
  app.use(
    tracing(options.telemetry),
    accessLog(log),
    meter(metrics),
    loadReport(options.manager),
    wellFormedHost,
  );
  app.use(hostGuard({ boundTo, ownNames: options.ownNames ?? [], hosts: options.hosts ?? [] }));
  app.use(...originGuard(options.origins ?? []));
  if (options.keys?.isNeeded) app.use(keyGuard(options.keys));
  app.use(drainGuard(drain));
  const toDisk = [UPLOAD_PATH, SOUND_PATH];
  app.use(bodyLimit(new BodyBudget(maxHeldBytes), maxBodyBytes, toDisk));

  app.route("/", apiRoutes(dependencies));
  const methods = methodsOf(app);
  refuseOtherMethods(app, methods);
  leadWithoutSlash(app, methods);

  app.notFound((context) => {
    const { method, path } = context.req;
    // A path that is no route belongs to no vendor: the client's header tells whose errors it reads.
    const dialect = context.req.header("anthropic-version") ? "anthropic" : dialectOf(context.req);
    if (dialect === "ollama") return context.text("404 page not found", 404);
    const state = `there is no ${method} ${path}: GET /openapi.json lists what there is`;
    return errorResponse(dialect, 404, new HttpError(404, state));
  });
  app.onError(tellFailure);
  return app;
}

/** The methods of each path of the routes so far. */
function methodsOf(app: Hono<AppEnvironment>): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { method, path } of app.routes) {
    if (method === "ALL") continue;
    methods.set(path, [
      ...methods.get(path) ?? [],
      ...(method === "GET" ? ["GET", "HEAD"] : [method]),
    ]);
  }
  return methods;
}

/** Answers 405 on the paths of routes, for all methods that they do not have. */
function refuseOtherMethods(app: Hono<AppEnvironment>, methods: Map<string, string[]>): void {
  for (const [path, allowed] of methods) {
    app.all(path, (context) => {
      const headers = { allow: allowed.join(", ") };
      const dialect = dialectOf(context.req);
      if (dialect === "ollama") return context.text("405 method not allowed", 405, headers);
      const { method } = context.req;
      const error = new HttpError(405, `${path} takes no ${method}: use ${headers.allow}`);
      return errorResponse(dialect, 405, error, headers);
    });
  }
}

/**
 * Leads from the path of a route with a slash at its end to the route, as Ollama's router does. The
 * status makes clients repeat the body, too, where there is one.
 */
function leadWithoutSlash(app: Hono<AppEnvironment>, methods: Map<string, string[]>): void {
  for (const [path, allowed] of methods) {
    if (path.endsWith("/")) continue;
    app.all(`${path}/`, async (context, next) => {
      const { method, url } = context.req;
      if (!allowed.includes(method)) return await next();
      const { pathname, search } = new URL(url);
      return context.redirect(pathname.slice(0, -1) + search, method === "GET" ? 301 : 307);
    });
  }
}
