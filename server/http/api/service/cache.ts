// GET /api/cache: what the caches of the loaded models hold, by conversation.

import {
  type CachedConversation,
  ModelClosedError,
  type RunningModel,
} from "../../../../engine/mod.ts";
import { Hono } from "../../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { json } from "../../stream/json.ts";
import { toCacheReport } from "../deviations.ts";
import type { CacheContents } from "./answer_schema.ts";

/** The route. */
export function cacheRoutes({ manager, keys }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.get("/api/cache", async ({ var: { account } }) => {
    // Whoever has a key of several sees what was said with it, the owner of the server all of it.
    const owner = account && !keys?.isOwner(account) ? account.standing.share?.id : undefined;
    const isShown = (one: CachedConversation) => owner === undefined || one.owner === owner;
    const models = await Promise.all(
      manager.running().map((running) => contentsOf(running, isShown)),
    );
    return json<CacheContents>({ models: models.filter((model) => model !== undefined) });
  });
  return app;
}

/** What a model's cache holds; undefined while it is loaded, or if it is closed meanwhile. */
async function contentsOf(
  { entry, model }: RunningModel,
  isShown: (one: CachedConversation) => boolean,
): Promise<CacheContents["models"][number] | undefined> {
  try {
    const state = await model?.cacheState();
    return state && {
      model: entry.name,
      block_tokens: state.blockTokens,
      conversations: state.conversations.filter(isShown).map(toConversation),
    };
  } catch (error) {
    if (error instanceof ModelClosedError) return undefined;
    throw error;
  }
}

function toConversation(
  { title, session, requests, lastUsed, tokens, kept, lastPrompt }: CachedConversation,
): CacheContents["models"][number]["conversations"][number] {
  return {
    title,
    ...(session && { session: session.id, is_beside: session.isBeside ?? false }),
    requests,
    last_used: new Date(lastUsed).toISOString(),
    tokens,
    on_device: kept.onDevice,
    in_memory: kept.inMemory,
    on_disk: kept.onDisk,
    reusable: kept.reusable,
    last_prompt: toCacheReport(lastPrompt),
  };
}
