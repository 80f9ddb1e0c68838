// The models of the server, as all views see them: asked for once, and again when something changed.

import { computed, effect, signal } from "@preact/signals";
import { ask, isKeyWanted, messageOf, send } from "./client.ts";
import type { LoadedModel, Model, ShownModel } from "./types.ts";

const CHOSEN = "quern-model";

/** All models, by name. */
export const models = signal<Model[] | undefined>(undefined);
/** Those in memory. */
export const loadedModels = signal<LoadedModel[]>([]);
/** Why the models could not be asked for. */
export const modelsError = signal("");
/** The name of the model that new questions go to. */
export const chosenName = signal(localStorage.getItem(CHOSEN) ?? "");

/** The model that questions go to: the chosen one, or the first that answers. */
export const chosenModel = computed(() => {
  const all = models.value ?? [];
  return all.find(({ name }) => name === chosenName.value) ?? all.find(canAnswer) ?? all[0];
});

/** The model that writes down what is said: the chosen one, or the first that does. */
export const transcriber = computed(() => {
  const able = (models.value ?? []).filter(({ capabilities }) =>
    capabilities.includes("transcription")
  );
  return able.find(({ name }) => name === chosenName.value) ?? able[0];
});

effect(() => {
  if (chosenName.value) localStorage.setItem(CHOSEN, chosenName.value);
});

/** Whether a model writes text. */
export function canAnswer({ capabilities }: Model): boolean {
  return capabilities.includes("completion");
}

export function loadedOf(name: string): LoadedModel | undefined {
  return loadedModels.value.find((loaded) => loaded.name === name);
}

/** Asks for the models anew. */
export async function refreshModels(): Promise<void> {
  try {
    const [tags, running] = await Promise.all([
      ask<{ models: Model[] }>("/api/tags"),
      ask<{ models: LoadedModel[] }>("/api/ps"),
    ]);
    models.value = tags.models;
    loadedModels.value = running.models;
    modelsError.value = "";
  } catch (error) {
    if (!isKeyWanted.value) modelsError.value = messageOf(error);
  }
}

/** Asks which models are in memory. */
export async function refreshLoaded(): Promise<void> {
  try {
    loadedModels.value = (await ask<{ models: LoadedModel[] }>("/api/ps")).models;
  } catch {
    // The next time tells.
  }
}

/** Loads a model, or with no time to stay unloads it. */
export async function load(name: string, keepAlive?: number | string): Promise<void> {
  const stay = keepAlive !== undefined && { keep_alive: keepAlive };
  await send("/api/generate", { body: { model: name, stream: false, ...stay } });
  await refreshLoaded();
}

const shown = new Map<string, Promise<ShownModel>>();

/** What is known of a model; asked for once for each of its versions. */
export function show(model: Model): Promise<ShownModel> {
  const key = `${model.name} ${model.digest} ${model.modified_at}`;
  const found = shown.get(key) ?? ask<ShownModel>("/api/show", { body: { model: model.name } });
  shown.set(key, found);
  found.catch(() => shown.delete(key));
  return found;
}

/** What is said in a sound. @throws ApiError */
export async function transcribe(
  model: string,
  sound: File,
  signal: AbortSignal,
): Promise<string> {
  const body = new FormData();
  body.append("model", model);
  body.append("file", sound);
  return (await ask<{ text: string }>("/v1/audio/transcriptions", { body, signal })).text;
}
