// The least version of Ollama that a model asks for: a semantic version (semver.org), kept without
// a leading "v".

import { RequestError } from "../errors.ts";

const NUMBER = "(?:0|[1-9]\\d*)";
const LABELS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const VERSION = new RegExp(
  `^v?(${NUMBER}(?:\\.${NUMBER}(?:\\.${NUMBER}(?:-${LABELS})?(?:\\+${LABELS})?)?)?)$`,
);

/**
 * The version as models carry it.
 *
 * @throws {RequestError} if it is none
 */
export function readVersion(text: string): string {
  const version = VERSION.exec(text.trim())?.[1];
  if (version) return version;
  throw new RequestError(`requires must be a valid semver (e.g. 0.14.0), not "${text}"`);
}
