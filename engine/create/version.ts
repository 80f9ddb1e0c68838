// The minimum version of Ollama for a model: a semantic version (semver.org), stored without a
// leading "v".

import { RequestError } from "../errors.ts";

const NUMBER = "(?:0|[1-9]\\d*)";
const LABELS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const VERSION = new RegExp(
  `^v?(${NUMBER}(?:\\.${NUMBER}(?:\\.${NUMBER}(?:-${LABELS})?(?:\\+${LABELS})?)?)?)$`,
);

/**
 * The version in the form in which models contain it.
 *
 * @throws {RequestError} if it is not a version
 */
export function readVersion(text: string): string {
  const version = VERSION.exec(text.trim())?.[1];
  if (version) return version;
  throw new RequestError(`requires must be a valid semver (e.g. 0.14.0), not "${text}"`);
}
