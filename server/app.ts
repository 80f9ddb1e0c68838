// The HTTP application: middleware, routes and errors put together. A factory without globals and
// without a port: `createApp(dependencies).fetch` is a handler for Deno.serve or a test.

import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { AppEnvironment, AppOptions } from "./app_types.ts";
import { HttpError, messageOf, statusOf } from "./errors.ts";
import { isLoopback } from "./host.ts";
import { accessLog } from "./middleware/access_log.ts";
import { hostGuard } from "./middleware/host_guard.ts";
import { originGuard } from "./middleware/origin_guard.ts";
import { WaitingQueue } from "./queue.ts";
import { embedRoutes } from "./routes/embed.ts";
import { json } from "./routes/json.ts";
import { modelRoutes } from "./routes/models.ts";
import { ollamaRoutes } from "./routes/ollama.ts";
import { openAiError } from "./wire/openai.ts";

/** Largest request body: several images in base64 fit. */
const MAX_BODY_BYTES = 64 * 2 ** 20;
/** When a client that found no place should come back. */
const RETRY_AFTER_SECONDS = "1";

/**
 * Builds the application.
 *
 * @example
 * ```ts ignore
 * Deno.serve(createApp({ store, manager, log, version: "0.1.0" }).fetch);
 * ```
 */
export function createApp(options: AppOptions): Hono<AppEnvironment> {
  const { log, boundTo = "127.0.0.1", maxBodyBytes = MAX_BODY_BYTES } = options;
  const dependencies = { ...options, queue: new WaitingQueue(options.maxQueue ?? 512) };
  const app = new Hono<AppEnvironment>();

  app.use(accessLog(log));
  if (isLoopback(boundTo)) app.use(hostGuard(options.ownNames ?? []));
  app.use(...originGuard(options.origins ?? []));
  app.use(bodyLimit({
    maxSize: maxBodyBytes,
    onError: () => {
      throw new HttpError(413, `the request body is larger than ${maxBodyBytes} bytes`);
    },
  }));

  app.get("/", (context) => context.text("Ollama is running"));
  app.route("/", modelRoutes(dependencies));
  app.route("/", ollamaRoutes(dependencies));
  app.route("/", embedRoutes(dependencies));
  refuseOtherMethods(app);

  app.notFound((context) => context.text("404 page not found", 404));
  app.onError((error, context) => {
    const status = statusOf(error);
    if (status >= 500) log.error(`${context.req.path}: ${error.stack ?? error.message}`);
    const headers = status === 503 ? { "retry-after": RETRY_AFTER_SECONDS } : undefined;
    const message = messageOf(error);
    const isOpenAi = context.req.path.startsWith("/v1/");
    return json(isOpenAi ? openAiError(status, message) : { error: message }, status, headers);
  });
  return app;
}

/** Answers 405 on the paths of the routes so far, for all methods that they do not have. */
function refuseOtherMethods(app: Hono<AppEnvironment>): void {
  const methods = new Map<string, string[]>();
  for (const { method, path } of app.routes) {
    if (method === "ALL") continue;
    methods.set(path, [
      ...methods.get(path) ?? [],
      ...(method === "GET" ? ["GET", "HEAD"] : [method]),
    ]);
  }
  for (const [path, allowed] of methods) {
    app.all(path, (context) => {
      return context.text("405 method not allowed", 405, { allow: allowed.join(", ") });
    });
  }
}
