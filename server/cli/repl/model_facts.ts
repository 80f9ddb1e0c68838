// The facts that the server tells about a model before it runs. A missing model is pulled first.

import { BOX_MODEL } from "../../../engine/mod.ts";
import { type Api, ApiError, type ShowAnswer } from "../client/mod.ts";
import type { Environment } from "../../settings/environment.ts";
import { showProgress, type Terminal } from "../terminal/mod.ts";
import { nearest } from "../../text/nearest.ts";

/** Models that are named in place of one that is not there. */
const MOST_NAMED = 8;

/** The answer of POST /api/show. */
export type ModelFacts = ShowAnswer;

/** How to find a model. */
export interface FindOptions {
  api: Api;
  terminal: Terminal;
  environment: Environment;
  /** Whether a registry without TLS is allowed. */
  insecure?: boolean;
  signal: AbortSignal;
}

/**
 * The facts of a model.
 *
 * @throws {ApiError} 404 if it is not there
 */
export function showModel(api: Api, model: string, signal: AbortSignal): Promise<ModelFacts> {
  return api.json("/api/show", { model }, { signal });
}

/**
 * The facts of a model, which is pulled, with progress, if it is not there.
 *
 * @throws {ApiError} if it cannot be pulled either
 */
export async function findModel(model: string, options: FindOptions): Promise<ModelFacts> {
  const { api, signal } = options;
  try {
    return await showModel(api, model, signal);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
  await pull(model, options);
  return await showModel(api, model, signal);
}

async function pull(
  model: string,
  { api, terminal, environment, insecure = false, signal }: FindOptions,
): Promise<void> {
  using progress = showProgress(terminal, environment);
  const records = api.stream("/api/pull", { model, insecure }, signal);
  try {
    for await (const record of records) progress.update(record);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(
      error.status,
      `Cannot run "${model}": it is not on this machine, and pulling it failed: ${error.message}` +
        await modelsInstead(api, model, signal),
    );
  }
}

/** The end of a message: the model that may have been meant, and the models that there are. */
async function modelsInstead(api: Api, model: string, signal: AbortSignal): Promise<string> {
  const names = await modelNames(api, signal);
  const near = nearestModel(model, names);
  const meant = near ? `. Did you mean "${near}"?` : "";
  if (names.length === 0) return meant;
  const rest = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `${meant || "."} There is: ${names.slice(0, MOST_NAMED).join(", ")}${rest}`;
}

/** The model on the server with the most similar name; undefined if none is similar. */
export async function similarModel(
  api: Api,
  model: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return nearestModel(model, await modelNames(api, signal));
}

/**
 * Another name near to this one. The model in the box counts even if it was removed, as a pull
 * restores it.
 */
function nearestModel(model: string, names: readonly string[]): string | undefined {
  const near = nearest(model, [...names, BOX_MODEL.name]);
  return near === model ? undefined : near;
}

/** Names of the models on the server; none if it does not answer. */
async function modelNames(api: Api, signal: AbortSignal): Promise<string[]> {
  const { models = [] } = await api.json("/api/tags", undefined, {
    signal,
  }).catch(() => ({ models: [] }));
  return models.map(({ name }) => name.replace(/:latest$/, ""));
}

/** Whether the model has a capability, such as `vision`; without a list it has `completion` alone. */
export function can(facts: ModelFacts, capability: string): boolean {
  return facts.capabilities?.includes(capability) ?? capability === "completion";
}

/**
 * Whether the model takes conversations. Without a template it can only continue a text; a remote
 * one may have one.
 */
export function knowsTurns({ template, renderer, remote_host: remoteHost }: ModelFacts): boolean {
  return Boolean(template || renderer || remoteHost);
}
