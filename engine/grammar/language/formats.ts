// The formats of JSON Schema by name, as patterns: the grammars of their RFCs, restricted to what
// ajv-formats accepts as well. A string of a format matches all of its patterns.

import { HEX, HOST_FORMATS } from "./format_hosts.ts";
import { NAME_FORMATS } from "./format_names.ts";
import { REFERENCE_FORMATS } from "./format_references.ts";
import { REGEX_FORMATS } from "./format_regex.ts";
import { TIME_FORMATS } from "./format_times.ts";

const PATTERNS: ReadonlyMap<string, () => readonly string[]> = new Map(
  Object.entries({
    ...TIME_FORMATS,
    ...HOST_FORMATS,
    ...NAME_FORMATS,
    ...REFERENCE_FORMATS,
    ...REGEX_FORMATS,
    "byte": () => ["(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"],
    "uuid": () => [`${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}`],
  }),
);

/** The patterns that a string of a format matches as a whole; undefined if the format is not known. */
export function formatPatterns(name: string): readonly string[] | undefined {
  return PATTERNS.get(name)?.();
}
