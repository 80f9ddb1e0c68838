// GET /v1/models and /v1/models/{name}: the same paths serve the clients of OpenAI and of Anthropic.
// Formats: https://platform.openai.com/docs/api-reference/models and
// https://docs.anthropic.com/en/api/models-list

import { Hono } from "../../../dependencies.ts";
import type { StoreEntry } from "../../../../engine/mod.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { json } from "../../stream/json.ts";
import { dialectOf } from "../dialect.ts";
import { requireModelName } from "../model_name.ts";
import type {
  AnthropicModel,
  AnthropicModels,
  OpenAiModel,
  OpenAiModels,
} from "./answer_schema.ts";

/** @param id its name; as the client wrote it where it asked for one */
export function toOpenAiModel({ name, modified }: StoreEntry, id = name): OpenAiModel {
  const created = Math.floor(modified.getTime() / 1000);
  return { id, object: "model", created, owned_by: name.split("/").at(-2) ?? "library" };
}

/** @param id as of toOpenAiModel() */
function toAnthropicModel(entry: StoreEntry, id = entry.name): AnthropicModel {
  return {
    type: "model",
    id,
    display_name: entry.name,
    created_at: entry.modified.toISOString(),
    max_input_tokens: windowOf(entry),
  };
}

/** The window that a model was trained with, or a shorter one that its creator has set. */
function windowOf({ info, defaults }: StoreEntry): number | null {
  const { num_ctx: set } = defaults.parameters;
  const window = Math.min(info.trainedContextLength, Number(set) || Infinity);
  return window > 0 && Number.isFinite(window) ? window : null;
}

/** The list for OpenAI's clients. */
function toOpenAiModels(entries: readonly StoreEntry[]): OpenAiModels {
  return { object: "list", data: entries.map((entry) => toOpenAiModel(entry)) };
}

/** The list for Anthropic's clients: one page. */
function toAnthropicModels(entries: readonly StoreEntry[]): AnthropicModels {
  return {
    data: entries.map((entry) => toAnthropicModel(entry)),
    has_more: false,
    first_id: entries[0]?.name ?? null,
    last_id: entries.at(-1)?.name ?? null,
  };
}

/** Routes that list models as OpenAI and Anthropic do. */
export function modelListRoutes({ store }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();

  app.get("/v1/models", async ({ req }) => {
    const toModels = dialectOf(req) === "anthropic" ? toAnthropicModels : toOpenAiModels;
    return json<OpenAiModels | AnthropicModels>(toModels(await store.list()));
  });

  // Names may have slashes in them, which clients may have escaped.
  app.get("/v1/models/:model{.+}", async ({ req }) => {
    const name = requireModelName(req.param("model"));
    const toModel = dialectOf(req) === "anthropic" ? toAnthropicModel : toOpenAiModel;
    return json<OpenAiModel | AnthropicModel>(toModel(await store.find(name), name));
  });
  return app;
}
