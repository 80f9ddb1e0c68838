// What the HTTP application is built from: what its caller gives, and what its routes get.

import type { ModelManager, ModelStore } from "../engine/mod.ts";
import type { Log } from "./log.ts";
import type { AccessVariables } from "./middleware/access_log.ts";
import type { WaitingQueue } from "./queue.ts";

/** What the application may be given besides the models. */
export interface AppOptions {
  store: Pick<ModelStore, "find" | "list" | "digest">;
  manager: Pick<ModelManager, "acquire" | "unload" | "running">;
  log: Log;
  version: string;
  /** Address that the server is bound to; decides whether Host is checked. Default loopback. */
  boundTo?: string;
  /** Names and addresses of this machine that Host may be. */
  ownNames?: string[];
  /** Further origins of web pages. */
  origins?: string[];
  /** Most requests that wait for their first token. Default 512. */
  maxQueue?: number;
  /** Default 64 MiB. */
  maxBodyBytes?: number;
}

/** What the routes work with. */
export type AppDependencies = AppOptions & { queue: WaitingQueue };

/** Hono's type parameters. */
export interface AppEnvironment {
  Variables: AccessVariables;
}
