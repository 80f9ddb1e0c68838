// What `model` may be in a request: `[host/][namespace/]model[:tag]`, or the absolute path of a .gguf
// file, where the store allows paths. Nothing else reaches the store. And which model is meant where a
// server that has one model names none.

import { isModelPath, ModelName } from "../../../engine/mod.ts";
import type { Context } from "../../dependencies.ts";
import type { AppDependencies, AppEnvironment } from "../app_types.ts";
import type { Given } from "../body/schema.ts";
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

/**
 * The model of a request: what its body or its query names, else the only one that is loaded, else the
 * only one that there is.
 *
 * @throws {HttpError} 400 if that does not say which one
 */
export async function modelOf(
  { req, set }: Context<AppEnvironment>,
  { manager, store }: AppDependencies,
  named?: Given<string>,
): Promise<string> {
  const asked = named || req.query("model");
  if (asked) {
    set("model", asked);
    return requireModelName(asked);
  }
  const running = manager.running().map(({ entry }) => entry.name);
  const names = running.length > 0 ? running : (await store.list()).map(({ name }) => name);
  const [only] = names;
  if (names.length === 1) {
    set("model", only!);
    return only!;
  }
  const state = names.length === 0 ? "there is none" : `there are ${names.slice(0, 5).join(", ")}`;
  throw new HttpError(400, `model is required, in the body or the query: ${state}`, "model");
}
