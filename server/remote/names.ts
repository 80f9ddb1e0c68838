// Names of models of the cloud server: `model:cloud`, and `model:tag-cloud` where the model there has a
// tag, as Ollama writes them. Pulling such a name downloads nothing, as the model runs where it is.

import { ModelName } from "../../engine/mod.ts";
import type { pullModel } from "../registry/mod.ts";

/** The model's name at the server; undefined if the name is none of the cloud's. */
export function cloudModelOf(name: string): string | undefined {
  const [, model, tag] = /^(.+):(?:([^/:]+)-)?cloud$/i.exec(name) ?? [];
  if (model === undefined || !ModelName.tryParse(name)) return undefined;
  return tag === undefined ? model : `${model}:${tag}`;
}

/** The name by which a model of the server is found here; undefined if no name can be made of it. */
export function cloudNameOf(model: string): string | undefined {
  const hasTag = /:[^/]*$/.test(model);
  return ModelName.tryParse(`${model}${hasTag ? "-" : ":"}cloud`)?.toString();
}

/** Pulls as given, but of the cloud's names only makes sure that there is a server for them. */
export function withoutCloud(pull: typeof pullModel): typeof pullModel {
  return async function* (store, name, options) {
    if (cloudModelOf(name) === undefined) return yield* pull(store, name, options);
    await store.find(name);
    yield { status: "success" };
  };
}
