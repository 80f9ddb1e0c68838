// The models that come with the program. They are listed after those of the store. Removing one
// only hides it, by a line in a file in the models' folder, until it is pulled again.

import { dirname, fileSystem, join, resolve, sha256 } from "../../host/mod.ts";
import { readIfThere, removeIfThere, writing } from "./file_system.ts";
import type { ModelFile } from "./model_files.ts";
import { ModelName } from "./model_name.ts";

/** File in the folder of the models with the names of removed models, one per line. */
const HIDDEN_FILE = ".quern-hidden";

/** The program's models that a store lists. */
export class BuiltinModels {
  readonly #file: string;
  readonly #models: readonly (ModelFile & { key: string })[];
  /** Digests by path. The files are small, and never change. */
  readonly #digests: Record<string, Promise<string>> = {};

  /**
   * @param folder the folder of the models, which may be missing
   * @param models the program's models
   */
  constructor(folder: string, models: readonly { name: string; path: string }[]) {
    this.#file = join(resolve(folder), HIDDEN_FILE);
    this.#models = models.map(({ name, path }) => {
      const parsed = ModelName.parse(name);
      return { name: parsed.toString(), key: parsed.key, path: resolve(path) };
    });
  }

  /** The models that are not hidden; the same objects in each call. */
  async list(): Promise<ModelFile[]> {
    const hidden = await this.#hidden();
    return this.#models.filter(({ key }) => !hidden.has(key));
  }

  /** The digest of the file at a path, if it is one of these models; undefined if not. */
  async digestOf(path: string): Promise<string | undefined> {
    if (!this.#models.some((model) => model.path === path)) return undefined;
    return await (this.#digests[path] ??= digestOfFile(path));
  }

  /** The path of the file with this digest, if it is one of these models; undefined if not. */
  async pathOf(digest: string): Promise<string | undefined> {
    for (const { path } of await this.list()) {
      if (await this.digestOf(path) === digest) return path;
    }
  }

  /**
   * Hides a model from list().
   *
   * @throws {StoreError} if the folder cannot be written
   */
  async hide({ path }: ModelFile): Promise<void> {
    const hidden = await this.#hidden();
    for (const model of this.#models) if (model.path === path) hidden.add(model.key);
    await this.#write(hidden);
  }

  /**
   * Shows a model again. False if the program has none of that name.
   *
   * @throws {StoreError} if the folder cannot be written
   */
  async show({ key }: ModelName): Promise<boolean> {
    if (!this.#models.some((model) => model.key === key)) return false;
    const hidden = await this.#hidden();
    if (hidden.delete(key)) await this.#write(hidden);
    return true;
  }

  async #hidden(): Promise<Set<string>> {
    const lines = new TextDecoder().decode(await readIfThere(this.#file)).split("\n");
    return new Set(lines.map((line) => line.trim()).filter(Boolean));
  }

  async #write(hidden: Set<string>): Promise<void> {
    const folder = dirname(this.#file);
    await writing(async () => {
      if (hidden.size === 0) return void await removeIfThere(this.#file);
      await fileSystem().mkdir(folder, { recursive: true });
      await fileSystem().writeTextFile(this.#file, [...hidden].join("\n") + "\n");
    });
  }
}

async function digestOfFile(path: string): Promise<string> {
  return `sha256:${sha256().update(await fileSystem().readFile(path)).digest("hex")}`;
}
