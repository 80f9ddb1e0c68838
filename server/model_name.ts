// What may stand as `model` in a request: `[host/][namespace/]model[:tag]`, or the path of a .gguf
// file (which the store takes only where it allows paths).

import { isModelPath } from "../engine/mod.ts";
import { HttpError } from "./errors.ts";

const PART = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}";
const NAME = new RegExp(`^(${PART}/){0,3}${PART}(:${PART})?$`);

/**
 * The model's name as the client wrote it.
 *
 * @throws {HttpError} 400 if it is missing or no name, 403 if it asks for a cloud model
 */
export function requireModelName(name: string | null | undefined): string {
  if (!name) throw new HttpError(400, "model is required");
  if (isModelPath(name)) return name;
  if (/:cloud/.test(name) && /:local/.test(name)) {
    throw new HttpError(400, `use either :local or :cloud, not both: "${name}"`);
  }
  if (!NAME.test(name)) throw new HttpError(400, "invalid model name");
  if (/[:-]cloud$/.test(name)) {
    throw new HttpError(403, "ollama cloud is disabled: this server runs local models only");
  }
  return name;
}
