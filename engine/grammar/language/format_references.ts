// The formats of references as patterns: URIs (RFC 3986), IRIs (RFC 3987), URI templates (RFC
// 6570), JSON pointers (RFC 6901), and addresses of the public web. They are restricted to what
// ajv-formats accepts as well, if it knows the format.

import { HEX, IPV4, IPV6 } from "./format_hosts.ts";

const raw = String.raw;
const ESCAPED = `%${HEX}{2}`;
const UNRESERVED = raw`A-Za-z0-9\-._~`;
const DELIMITERS = raw`!$&'()*+,;=`;
/**
 * Characters beyond ASCII that are allowed anywhere in IRIs, and those that are allowed in queries
 * only.
 */
const INTERNATIONAL = raw`\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF` + Array.from(
  { length: 14 },
  (_, plane) => raw`\u{${(plane + 1).toString(16)}0000}-\u{${(plane + 1).toString(16)}FFFD}`,
).join("");
const PRIVATE = raw`\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}`;

/** References with characters beyond ASCII; queries may have more of them. */
function references(more: string, moreInQueries: string) {
  const character = (others: string) =>
    `(?:[${UNRESERVED}${DELIMITERS}${more}${others}]|${ESCAPED})`;
  const segments = `(?:/${character(":@")}*)*`;
  const future = `[Vv]${HEX}+\\.[${UNRESERVED}${DELIMITERS}:]+`;
  const host = `(?:\\[(?:${IPV6}|${future})\\]|${character("")}*)`;
  const networkPath = `//(?:${character(":")}*@)?${host}(?::\\d*)?${segments}`;
  const absolutePath = `/(?:${character(":@")}+${segments})?`;
  const query = `(?:\\?${character(`:@/?${moreInQueries}`)}*)?`;
  const rest = `${query}(?:#${character(":@/?")}*)?`;
  const absolute = `[A-Za-z][A-Za-z0-9+\\-.]*:(?:${networkPath}|${absolutePath}` +
    `|${character(":@")}+${segments})${rest}`;
  const relative = `(?:${networkPath}|${absolutePath}|${character("@")}+${segments}|)${rest}`;
  return { absolute: [absolute], any: [`(?:${absolute}|${relative})`] };
}

const VARIABLE = `(?:[A-Za-z0-9_]|${ESCAPED})+(?::[1-9]\\d{0,3}|\\*)?`;
const EXPRESSION = raw`\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\}`;
const LITERAL = raw`[!#$&(-;=?-\[\]_a-z~${INTERNATIONAL}${PRIVATE}]`;
const TEMPLATE = `(?:${LITERAL}|${ESCAPED}|${EXPRESSION})*`;

const POINTER = "(?:/(?:[^~/]|~[01])*)*";
const POINTER_FRAGMENT = `#(?:/(?:[A-Za-z0-9\\-._!$&'()*+,;=:@]|${ESCAPED}|~[01])*)*`;

/** Letters beyond ASCII, roughly: without separators and private characters. */
const MORE_LETTERS = raw`\u00A1-\u167F\u1681-\u1FFF\u2C00-\u2FFF\u3001-\uD7FF\uF900-\uFDCF` +
  raw`\uFDF0-\uFEFE\uFF01-\uFFEF`;
const WORD = `[A-Za-z0-9${MORE_LETTERS}]+`;
const DOMAIN = `(?:${WORD}(?:-${WORD})*\\.)+[A-Za-z${MORE_LETTERS}]{2,}`;
/** Addresses of private networks and addresses without a host are not public. */
const PUBLIC_IPV4 = raw`(?!(?:10|127|0)\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)` +
  raw`(?!(?:22[4-9]|2[345]\d)\.|(?:\d+\.){3}(?:0|255)(?!\d))${IPV4}`;
const URL_PATTERN = `(?:[Hh][Tt][Tt][Pp][Ss]?|[Ff][Tt][Pp])://` +
  `(?:(?:[${UNRESERVED}${DELIMITERS}:]|${ESCAPED})+@)?(?:${PUBLIC_IPV4}|${DOMAIN})` +
  raw`(?::\d{2,5})?(?:/[^\s\x00-\x1F\x7F]*)?`;

/** Patterns by format. */
export const REFERENCE_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "uri": () => references("", "").absolute,
  "uri-reference": () => references("", "").any,
  "iri": () => references(INTERNATIONAL, PRIVATE).absolute,
  "iri-reference": () => references(INTERNATIONAL, PRIVATE).any,
  "url": () => [URL_PATTERN],
  "uri-template": () => [TEMPLATE],
  "json-pointer": () => [POINTER],
  "json-pointer-uri-fragment": () => [POINTER_FRAGMENT],
  "relative-json-pointer": () => [`(?:0|[1-9]\\d*)(?:#|${POINTER})`],
};
