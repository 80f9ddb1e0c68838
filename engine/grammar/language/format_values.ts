// The formats of values that are written as strings, as patterns: numbers, JSON, colours, telephone numbers, zones,
// and names of people with addresses; and those that any string has, since only a program can tell.

import { BYTE, HOST_LABEL, MAILBOX } from "./format_hosts.ts";

/** Deepest nesting of JSON in a string, since a regular language cannot count. */
const JSON_DEPTH = 2;

const NUMBER = "-?(?:0|[1-9]\\d*)(?:\\.\\d+)?";
const STRING = '"(?:[^"\\\\\\x00-\\x1f]|\\\\(?:["\\\\/bfnrt]|u[0-9A-Fa-f]{4}))*"';

/** Documents of JSON, without white space but single spaces. */
function json(): string {
  const scalar = `(?:${STRING}|${NUMBER}(?:[eE][+\\-]?\\d+)?|true|false|null)`;
  let value = scalar;
  for (let depth = 0; depth < JSON_DEPTH; depth++) {
    const list = (part: string) => `(?:${part}(?:, ?${part})*)?`;
    value = `(?:${scalar}|\\[${list(value)}\\]|\\{${list(`${STRING}: ?${value}`)}\\})`;
  }
  return value;
}

/** The colours that CSS has named from the beginning; others are numbers. */
const COLOURS =
  "aqua|black|blue|fuchsia|gray|green|lime|maroon|navy|olive|orange|purple|red|silver|teal|" +
  "white|yellow";
const COLOUR = `(?:${COLOURS}|#(?:[0-9A-Fa-f]{3}){1,2}|rgb\\(${BYTE}, ?${BYTE}, ?${BYTE}\\))`;

/** ITU-T E.164: a plus, the country, and at most 15 digits. */
const TELEPHONE = "\\+[1-9]\\d{6,14}";

const HOST = `${HOST_LABEL}(?:\\.${HOST_LABEL})*(?::[1-9]\\d{0,3})?`;
const USER = "(?:[A-Za-z0-9\\-._~]+(?::[A-Za-z0-9\\-._~]*)?@)?";
const HOSTS = `${USER}${HOST}(?:,${HOST})*`;

const anyString = () => [];

/** Patterns by format. */
export const VALUE_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "color": () => [COLOUR],
  "decimal": () => [NUMBER],
  "e164": () => [TELEPHONE],
  "emoji": () => ["\\p{Extended_Pictographic}\\u{FE0F}?"],
  "fraction": () => ["-?(?:0|[1-9]\\d*)(?:/[1-9]\\d*)?"],
  "json-string": () => [json()],
  "multi-host-uri": () => [`[a-z][a-z0-9+\\-.]*://${HOSTS}(?:/[A-Za-z0-9\\-._~]*)*`],
  "name-email": () => [`(?:[A-Za-z]+(?: [A-Za-z]+)* <${MAILBOX}>|${MAILBOX})`],
  "phone": () => [TELEPHONE],
  "zoneinfo": () => [
    ["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => RegExp.escape(zone)).join("|"),
  ],
  "binary": anyString,
  "char": () => ["[^]"],
  "directory-path": anyString,
  "file-path": anyString,
  "html": anyString,
  "commonmark": anyString,
  "password": anyString,
  "path": anyString,
};
