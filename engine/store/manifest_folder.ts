// The folder of manifests: $MODELS/manifests/HOST/NAMESPACE/MODEL/TAG has the blobs of each name. A
// manifest is written completely or not at all. Some versions of Ollama have theirs in
// manifests-v2, which takes precedence.

import { dirname, fileSystem, isSystemError, join } from "../../host/mod.ts";
import {
  arrivalOf,
  entriesOf,
  inodeOf,
  lstatIfThere,
  readIfThere,
  removeIfThere,
  statIfThere,
  syncFolder,
  writeAll,
  writing,
} from "./file_system.ts";
import { ModelName } from "./model_name.ts";

/** Folders of manifests, in order of precedence. New manifests go to the last. */
const FOLDERS = ["manifests-v2", "manifests"];

/** Names of temporary files, which a crash may leave behind. */
const TEMPORARY = /^\.quern-.*-temporary$/;

/** Most attempts to write a manifest into a folder that others keep removing. */
const MAX_TRIES = 100;

/** Largest manifest in bytes: one of a model with ten thousand tensors has some megabytes. */
const MAX_MANIFEST = 64 * 2 ** 20;

/** Milliseconds for which an empty folder is what a crash, or another program, has just made. */
const YOUNG_FOLDER = 3_600_000;

/** A name and the path of its manifest. */
export interface ManifestFile {
  readonly name: ModelName;
  readonly path: string;
}

/** What all manifests say, as far as it can be known. */
export interface ManifestContents {
  readonly files: Uint8Array<ArrayBuffer>[];
  /** What could not be read, as clauses: manifests there may name any blob. */
  readonly unknown: string[];
}

/** A manifest with the folder of manifests that contains it. */
interface PlacedFile extends ManifestFile {
  readonly root: string;
}

/** The manifests of a store. */
export class ManifestFolder {
  /** The folder for new manifests. */
  readonly root: string;
  readonly #roots: readonly string[];

  /** @param models the folder of the models, which may be missing */
  constructor(models: string) {
    this.#roots = FOLDERS.map((folder) => join(models, folder));
    this.root = this.#roots.at(-1)!;
  }

  /** All names with their manifests. Names that differ only in case or folder are listed once. */
  async list(): Promise<ManifestFile[]> {
    const found = new Map<string, ManifestFile>();
    for (const file of await this.#all()) {
      if (!found.has(file.name.key)) found.set(file.name.key, file);
    }
    return [...found.values()];
  }

  /** The manifest of a name, in any case. */
  async find(name: ModelName): Promise<ManifestFile | undefined> {
    for (const root of this.#roots) {
      const path = join(root, name.path);
      // If the file system ignores case, the name may be spelled differently from the folder.
      if ((await statIfThere(path))?.isFile) return { name, path };
    }
    return (await this.list()).find((file) => file.name.key === name.key);
  }

  /** Bytes of the manifest of a name. */
  async read(name: ModelName): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const file = await this.find(name);
    return file && await readIfThere(file.path);
  }

  /** Writes the manifest of a name. An existing name keeps its spelling. */
  async write(name: ModelName, bytes: Uint8Array): Promise<void> {
    const files = await this.#allOf(name);
    const path = files.find(({ root }) => root === this.root)?.path ?? join(this.root, name.path);
    await writing(async () => {
      await this.#replace(path, bytes);
      for (const other of files) if (other.path !== path) await this.#remove(other.path);
    });
  }

  /** Removes a name, in all spellings. */
  async remove(name: ModelName): Promise<void> {
    await writing(async () => {
      for (const { path } of await this.#allOf(name)) await this.#remove(path);
    });
  }

  /** A number that no other folder in its place has: of its inode, or 0 if there is none. */
  async identity(): Promise<number> {
    return inodeOf(await statIfThere(this.root));
  }

  /** Contents of all files except temporary ones, whatever their names, to find every blob in use. */
  async contents(): Promise<ManifestContents> {
    const found: ManifestContents = { files: [], unknown: [] };
    const visited = new Set<string>();
    for (const root of this.#roots) await collectBelow(root, found, { visited, isRoot: true });
    return found;
  }

  /** Paths of temporary files that crashes left behind. */
  async leftovers(): Promise<string[]> {
    const names = (await entriesOf(this.root)).map(({ name }) => name);
    return names.filter((name) => TEMPORARY.test(name)).map((name) => join(this.root, name));
  }

  async #allOf(name: ModelName): Promise<PlacedFile[]> {
    return (await this.#all()).filter((file) => file.name.key === name.key);
  }

  async #all(): Promise<PlacedFile[]> {
    const files: PlacedFile[] = [];
    for (const root of this.#roots) {
      let paths = [""];
      for (let depth = 1; depth <= 4; depth++) {
        const inner = paths.map(async (path) => {
          const entries = await entriesOf(join(root, path));
          const fitting = entries.filter(({ isDirectory }) => depth < 4 || !isDirectory);
          return fitting.map(({ name }) => join(path, name)).sort();
        });
        paths = (await Promise.all(inner)).flat();
      }
      for (const path of paths) {
        const name = ModelName.fromPath(path);
        if (name) files.push({ name, path: join(root, path), root });
      }
    }
    return files;
  }

  async #replace(path: string, bytes: Uint8Array): Promise<void> {
    await fileSystem().mkdir(this.root, { recursive: true });
    const temporary = join(this.root, `.quern-${crypto.randomUUID()}-temporary`);
    try {
      using file = await fileSystem().open(temporary, { write: true, createNew: true });
      await writeAll(file, bytes);
      await file.sync();
      await renameInto(temporary, path);
    } finally {
      await removeIfThere(temporary);
    }
    for (let folder = dirname(path); folder.startsWith(this.root); folder = dirname(folder)) {
      await syncFolder(folder);
    }
  }

  async #remove(path: string): Promise<void> {
    await removeIfThere(path);
    await syncFolder(dirname(path));
    try {
      for (let folder = dirname(path); !this.#roots.includes(folder); folder = dirname(folder)) {
        await fileSystem().remove(folder);
      }
    } catch {
      // The folder has other models, or another process has removed it.
    }
  }
}

/** Renames a file into a folder that other processes remove whenever it is empty. */
async function renameInto(from: string, to: string): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      await fileSystem().mkdir(dirname(to), { recursive: true });
      return await fileSystem().rename(from, to);
    } catch (error) {
      if (!isSystemError(error, "NotFound") || attempt === MAX_TRIES) throw error;
    }
  }
}

/**
 * Adds all files below a folder, which may be missing.
 *
 * @param visited real paths of folders: links may lead to one of them again
 */
async function collectBelow(
  folder: string,
  found: ManifestContents,
  { visited, isRoot }: { visited: Set<string>; isRoot: boolean },
): Promise<void> {
  const { files, unknown } = found;
  try {
    if (!await lstatIfThere(folder)) return;
    const real = await fileSystem().realPath(folder);
    if (visited.has(real)) return;
    visited.add(real);
    const entries = await Array.fromAsync(fileSystem().readDir(folder));
    if (entries.length === 0 && !isRoot && await isOld(folder)) {
      unknown.push(`"${folder}" is empty, as if a disk were not mounted there`);
    }
    for (const { name } of entries) {
      if (TEMPORARY.test(name)) continue;
      const path = join(folder, name);
      const facts = await fileSystem().stat(path).catch((error) => error as Error);
      if (facts instanceof Error) unknown.push(`"${path}": ${stateOf(facts)}`);
      else if (facts.isDirectory) await collectBelow(path, found, { visited, isRoot: false });
      else if (!facts.isFile) unknown.push(`"${path}" is no file`);
      else if (facts.size > MAX_MANIFEST) unknown.push(`"${path}" is too large for a manifest`);
      else {
        await fileSystem().readFile(path).then(
          (bytes) => files.push(bytes),
          (error) => unknown.push(`"${path}": ${stateOf(error)}`),
        );
      }
    }
  } catch (error) {
    unknown.push(`"${folder}": ${stateOf(error)}`);
  }
}

/** What is wrong with a file or folder that cannot be read. */
function stateOf(error: unknown): string {
  if (isSystemError(error, "NotFound")) return "it is a link to something that is not there";
  return error instanceof Error ? error.message : String(error);
}

/** Whether a folder was made long ago: an empty one that a crash has left was not. */
async function isOld(folder: string): Promise<boolean> {
  return Date.now() - arrivalOf(await fileSystem().stat(folder)) > YOUNG_FOLDER;
}
