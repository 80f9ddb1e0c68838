// The formats of identifiers and of bytes as patterns: UUIDs (RFC 9562) by version, and those that only libraries
// name: pydantic, Zod and ajv-formats.

import { HEX } from "./format_hosts.ts";

/** A UUID of a version, in the variant of the RFC. */
const uuid = (version: string) =>
  `${HEX}{8}-${HEX}{4}-${version}${HEX}{3}-[89ABab]${HEX}{3}-${HEX}{12}`;
const base64 = (letters: string) => `(?:[${letters}]{4})*(?:[${letters}]{2}==|[${letters}]{3}=)?`;
const BASE64 = base64("A-Za-z0-9+/");

const VERSIONS = [1, 2, 3, 4, 5, 6, 7, 8];

/** Patterns by format. */
export const IDENTIFIER_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "base64": () => [BASE64],
  "base64url": () => [base64("A-Za-z0-9_\\-")],
  "byte": () => [BASE64],
  "cuid": () => ["c[a-z0-9]{24}"],
  "cuid2": () => ["[a-z][a-z0-9]{23}"],
  "nanoid": () => ["[A-Za-z0-9_\\-]{21}"],
  "ulid": () => ["[0-7][0-9A-HJKMNP-TV-Z]{25}"],
  "uuid": () => [`${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}`],
  "guid": () => [`${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}`],
  ...Object.fromEntries(
    VERSIONS.map((version) => [`uuid${version}`, () => [uuid(String(version))]]),
  ),
};
