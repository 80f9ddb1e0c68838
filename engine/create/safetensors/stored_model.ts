// The tensors of a model folder in all its safetensors files, and reads of parts of them.

import { fileSystem, type FsFile, join, SEEK_START } from "../../../host/mod.ts";
import { ConversionError } from "../../errors.ts";
import { openFile, readSafetensors, type StoredTensor } from "./safetensors_file.ts";
import { Settings } from "./settings.ts";

const INDEX = "model.safetensors.index.json";
const MODEL_FILE = /^model.*\.safetensors$/;

/** The open files of a model. Disposing of it closes them. */
export class StoredModel implements Disposable {
  /** All tensors by name. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly #files: ReadonlyMap<string, FsFile>;

  private constructor(
    tensors: ReadonlyMap<string, StoredTensor>,
    files: ReadonlyMap<string, FsFile>,
  ) {
    this.tensors = tensors;
    this.#files = files;
  }

  /** Opens the files in the index of a folder, or else those named after the model. */
  static async open(folder: string): Promise<StoredModel> {
    const index = await Settings.readIfThere(join(folder, INDEX));
    const names = index ? filesOf(index) : await listFiles(folder);
    const tensors = new Map<string, StoredTensor>();
    const files = new Map<string, FsFile>();
    const model = new StoredModel(tensors, files);
    try {
      for (const path of names.map((name) => join(folder, name))) {
        for (const tensor of await readSafetensors(path)) {
          if (tensors.has(tensor.name)) {
            const state = `it is in "${tensors.get(tensor.name)!.file}" too`;
            throw new ConversionError(path, `tensor "${tensor.name}"`, state);
          }
          tensors.set(tensor.name, tensor);
        }
        files.set(path, await openFile(path));
      }
      if (index) checkIndex(index, tensors);
      return model;
    } catch (error) {
      model[Symbol.dispose]();
      throw error;
    }
  }

  /** Fills `target` with the bytes of a tensor from `start` on. */
  read(tensor: StoredTensor, start: number, target: Uint8Array): void {
    const file = this.#files.get(tensor.file)!;
    file.seekSync(tensor.offset + start, SEEK_START);
    for (let filled = 0; filled < target.length;) {
      const count = file.readSync(target.subarray(filled));
      if (count === null) {
        const state = "the file has become shorter";
        throw new ConversionError(tensor.file, `tensor "${tensor.name}"`, state);
      }
      filled += count;
    }
  }

  /** Closes the files. */
  [Symbol.dispose](): void {
    for (const file of this.#files.values()) file.close();
  }
}

function filesOf(index: Settings): string[] {
  const map = index.object("weight_map");
  if (!map) throw index.error("weight_map", "it is missing");
  const names = new Set(Object.keys(map.members).map((tensor) => map.string(tensor)));
  for (const name of names) {
    // The index comes from others, so its paths must not leave the folder.
    if (/[\/\\]/.test(name)) throw map.error(name, "it is not the name of a file of the folder");
  }
  return [...names].sort();
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(fileSystem().readDir(folder), ({ name }) => name);
  const names = entries.filter((name) => MODEL_FILE.test(name)).sort();
  if (names.length > 0) return names;
  throw new ConversionError(folder, "model.safetensors", "it is not there, nor is its index");
}

function checkIndex(index: Settings, tensors: ReadonlyMap<string, StoredTensor>): void {
  for (const [name, file] of Object.entries(index.object("weight_map")!.members)) {
    if (!tensors.has(name)) throw index.error(`tensor "${name}"`, `it is not in "${file}"`);
  }
}
