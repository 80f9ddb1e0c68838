// What the server tells of the model that is measured: its details, whether it is loaded, how much
// memory it takes, and how large its weights are.

import { isModelPath, ModelName } from "../../../engine/mod.ts";
import type { Api, OllamaProcess } from "../client/mod.ts";

/** Facts that can be asked for without loading the model. */
export interface ModelFacts {
  details: Record<string, unknown>;
  /** Bytes of its files; undefined if they are not what each token reads, or not known. */
  weightBytes?: number;
  /** The source of its drafts if nobody names a draft model; missing: only earlier text. */
  drafter?: string;
}

/**
 * Asks what a model is.
 *
 * @throws {ApiError} if it is not there
 */
export async function askModel(api: Api, model: string): Promise<ModelFacts> {
  const { details, capabilities = [], model_info: info = {}, ...others } = await api.json(
    "/api/show",
    { model },
  );
  if (capabilities.length > 0 && !capabilities.includes("completion")) {
    throw new Error(`Cannot measure "${model}": it does not generate text`);
  }
  const { models } = await api.json("/api/tags");
  const size = models.find(({ name }) => isSame(name, model))?.size ?? await fileSize(model);
  // With experts, only some of the weights are read for a token.
  const hasExperts = Object.entries(info).some(([key, value]) =>
    key.endsWith(".expert_count") && Number(value) > 0
  );
  const isKnown = size !== undefined && size > 0 && !hasExperts && !others.remote_host;
  const { draft_info: draft, tensors = [] } = others;
  const hasHead = tensors.some(({ name }) => name.endsWith(".nextn.eh_proj.weight"));
  const drafter = draft ? "its draft model" : hasHead ? "its head for later tokens" : undefined;
  return {
    details: { ...details },
    ...(isKnown && { weightBytes: size }),
    ...(drafter && { drafter }),
  };
}

/** The details of a model that is named by its path, which no list has. */
async function fileSize(path: string): Promise<number | undefined> {
  const info = isModelPath(path) ? await Deno.stat(path).catch(() => undefined) : undefined;
  return info?.isFile ? info.size : undefined;
}

/** The model in memory, if it is there. */
export async function askProcess(api: Api, model: string): Promise<OllamaProcess | undefined> {
  const { models } = await api.json("/api/ps");
  return models.find(({ name }) => isSame(name, model));
}

/** Names leave out what they may, and are the same in any case. */
function isSame(name: string, other: string): boolean {
  if (name === other) return true;
  const [a, b] = [ModelName.tryParse(name), ModelName.tryParse(other)];
  return a !== undefined && b !== undefined && a.key === b.key;
}
