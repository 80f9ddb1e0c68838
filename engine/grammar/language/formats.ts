// The formats of JSON Schema and of libraries by name, as patterns: the grammars of their RFCs, restricted to
// what ajv-formats and pydantic accept as well. A string of a format matches all of its patterns.

import { HOST_FORMATS } from "./format_hosts.ts";
import { IDENTIFIER_FORMATS } from "./format_identifiers.ts";
import { NAME_FORMATS } from "./format_names.ts";
import { NETWORK_FORMATS } from "./format_networks.ts";
import { REFERENCE_FORMATS } from "./format_references.ts";
import { REGEX_FORMATS } from "./format_regex.ts";
import { TIME_FORMATS } from "./format_times.ts";
import { VALUE_FORMATS } from "./format_values.ts";

const PATTERNS: ReadonlyMap<string, () => readonly string[]> = new Map(
  Object.entries<() => readonly string[]>({
    ...TIME_FORMATS,
    ...HOST_FORMATS,
    ...NAME_FORMATS,
    ...REFERENCE_FORMATS,
    ...REGEX_FORMATS,
    ...IDENTIFIER_FORMATS,
    ...NETWORK_FORMATS,
    ...VALUE_FORMATS,
  }),
);

/** The patterns that a string of a format matches as a whole; undefined if the format is not known. */
export function formatPatterns(name: string): readonly string[] | undefined {
  return PATTERNS.get(name)?.();
}
