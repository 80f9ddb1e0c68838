// GET /api/tags, /api/ps and /api/version: what there is, what is loaded, who answers.

import { Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { toBusyWorker, toProcess, toTag } from "./lists.ts";
import { OLLAMA_API_VERSION } from "../../../version.ts";
import { json } from "../../stream/json.ts";

/** Routes about models. */
export function modelRoutes(dependencies: AppDependencies): Hono<AppEnvironment> {
  const { store, manager, version } = dependencies;
  const app = new Hono<AppEnvironment>();

  app.get("/api/tags", async () => {
    const entries = await store.list();
    const models = entries.map(async (entry) => toTag(entry, await store.digest(entry)));
    return json({ models: await Promise.all(models) });
  });

  app.get("/api/ps", async () => {
    const now = new Date();
    const models = manager.running().map(async (running) =>
      toProcess(running, await store.digest(running.entry), now)
    );
    const busy = manager.busyWorkers.current.map(toBusyWorker);
    return json({
      models: await Promise.all(models),
      ...(busy.length > 0 && { busy_workers: busy }),
    });
  });

  app.get("/api/version", () => json({ version: OLLAMA_API_VERSION, quern_version: version }));
  return app;
}
