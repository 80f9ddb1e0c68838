// What `model` may be in a request: `[host/][namespace/]model[:tag]`, or the absolute path of a .gguf
// file, where the store allows paths. Nothing else reaches the store.

import { isModelPath, ModelName } from "../../../engine/mod.ts";
import { HttpError } from "../errors.ts";

/** A path from the root of a file system or a drive; no network share and no relative path. */
const PATH = /^(?:\/|[A-Za-z]:[\\/])(?![\\/])/;
/** Most characters of a path, as on most systems. */
const MAX_PATH = 4096;
/** A step to the parent folder, or a character that no file name has. */
// deno-lint-ignore no-control-regex
const NO_PATH = /(?:^|[\\/])\.\.(?:[\\/]|$)|[\x00-\x1f\x7f]/;

/**
 * The model's name as the client wrote it.
 *
 * @throws {HttpError} 400 if it is missing or no name
 */
export function requireModelName(name: string | null | undefined): string {
  if (!name) throw new HttpError(400, "model is required");
  if (name.length > MAX_PATH) throw new HttpError(400, `model: over ${MAX_PATH} characters`);
  if (isModelPath(name) && PATH.test(name) && !NO_PATH.test(name)) return name;
  if (/:cloud/.test(name) && /:local/.test(name)) {
    throw new HttpError(400, `use either :local or :cloud, not both: "${name}"`);
  }
  if (!ModelName.tryParse(name)) throw new HttpError(400, "invalid model name");
  return name;
}
