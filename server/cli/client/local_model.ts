// Finds the files of a model on this machine without a server, for commands that load it themselves.

import type { FileSource } from "../../../engine/mod.ts";
import { assemble } from "../../http/mod.ts";
import { readSettings } from "../../settings/settings.ts";
import type { CliDependencies } from "../dependencies.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Where a model of the store, or of a path, is.
 *
 * @throws {ModelNotFoundError} if there is none
 * @throws {Error} if it runs elsewhere
 */
export async function findLocalModel(
  dependencies: CliDependencies,
  name: string,
): Promise<FileSource> {
  const settings = readSettings(dependencies.environment);
  const { store } = assemble({ dependencies, settings, log: SILENT });
  const { source } = await store.find(name);
  if (source.kind === "files") return source;
  throw new Error(`Cannot load "${name}": it runs at ${source.host}, not on this machine`);
}
