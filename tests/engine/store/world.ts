// A store on a temporary folder whose files are short texts, with an `inspect` that takes a text that
// begins with "!" for a broken file.

import { GgufError } from "../../../engine/errors.ts";
import { type Layer, MEDIA, ModelName, ModelStore } from "../../../engine/store/mod.ts";
import type { StoreOptions } from "../../../engine/store/mod.ts";
import type { ModelInfo } from "../../../engine/types/mod.ts";
import { fakeInfo } from "../../server/fake_model.ts";

/** A folder of models and what can be watched of it. */
export interface World {
  folder: string;
  /** Files whose header was read, relative to the folder. */
  inspected: string[];
  /** Files that listings left out, relative to the folder. */
  broken: string[];
  createStore(options?: Partial<StoreOptions>): ModelStore;
}

/** Runs with a folder that holds these files and their texts. */
export async function withFiles(
  files: Record<string, string>,
  test: (world: World) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const inspected: string[] = [];
  const broken: string[] = [];
  const inspect = async (path: string): Promise<ModelInfo> => {
    inspected.push(path.slice(folder.length + 1));
    const text = await Deno.readTextFile(path);
    if (text.startsWith("!")) throw new GgufError(path, "magic", "not GGUF");
    return { ...fakeInfo, fileSize: text.length };
  };
  const onBroken = (path: string) => void broken.push(path.slice(folder.length + 1));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(`${folder}/${name}`, text);
    const createStore = (options = {}) => new ModelStore({ folder, inspect, onBroken, ...options });
    await test({ folder, inspected, broken, createStore });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes a file and the folders it lies in. */
export async function writeFile(path: string, text: string): Promise<void> {
  await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
  await Deno.writeTextFile(path, text);
}

/** SHA-256 in hex. */
export async function sha256(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Puts a text into the store as a layer. */
export async function putLayer(
  store: ModelStore,
  mediaType: string,
  text: string,
): Promise<Layer> {
  const { digest, size } = await store.blobs.put(new TextEncoder().encode(text));
  return { mediaType, digest, size };
}

/** Writes a model whose weights are a text. Gives the digest of the weights. */
export async function writeModel(
  store: ModelStore,
  name: string,
  weights: string,
  others: [mediaType: string, text: string][] = [],
): Promise<string> {
  return await store.protect(async () => {
    const config = await putLayer(store, MEDIA.config, '{"model_format":"gguf"}');
    const layers = [await putLayer(store, MEDIA.model, weights)];
    for (const [mediaType, text] of others) layers.push(await putLayer(store, mediaType, text));
    const { manifest: mediaType } = MEDIA;
    await store.writeManifest(ModelName.parse(name), {
      schemaVersion: 2,
      mediaType,
      config,
      layers,
    });
    return layers[0]!.digest;
  });
}

/** Names of the files among the blobs, in order. */
export function blobNames(folder: string): string[] {
  return [...Deno.readDirSync(`${folder}/blobs`)].map(({ name }) => name).sort();
}
