// The formats of addresses as patterns: IP addresses (RFC 2673, RFC 4291), host names (RFC 1123, RFC 5891)
// and mailboxes (RFC 5321, RFC 6531), kept to what ajv-formats accepts as well where it knows them.

/** A number of a byte, in decimal. */
export const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
/** An address as in "127.0.0.1". */
export const IPV4 = `(?:${BYTE}\\.){3}${BYTE}`;
/** A hexadecimal digit. */
export const HEX = "[0-9A-Fa-f]";
/** 16 bits of an address, in hexadecimal. */
export const GROUP = `${HEX}{1,4}`;
const LAST_GROUPS = `(?:${GROUP}:${GROUP}|${IPV4})`;
/** An address as in "::1". */
export const IPV6 = "(?:" + [
  `(?:${GROUP}:){6}${LAST_GROUPS}`,
  `::(?:${GROUP}:){0,5}${LAST_GROUPS}`,
  `${GROUP}::(?:${GROUP}:){0,4}${LAST_GROUPS}`,
  `(?:${GROUP}:){1}${GROUP}::(?:${GROUP}:){0,3}${LAST_GROUPS}`,
  `(?:${GROUP}:){2}${GROUP}::(?:${GROUP}:){0,2}${LAST_GROUPS}`,
  `(?:${GROUP}:){3}${GROUP}::(?:${GROUP}:)?${LAST_GROUPS}`,
  `(?:${GROUP}:){4}${GROUP}::${LAST_GROUPS}`,
  `(?:(?:${GROUP}:){0,5}${GROUP})?::${GROUP}`,
  `(?:(?:${GROUP}:){0,6}${GROUP})?::`,
].join("|") + ")";

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";
/** A label with hyphens as third and fourth characters only has a meaning in Punycode. */
export const HOST_LABEL = `(?!(?!xn)[^.]{2}--)${LABEL}`;
const HOSTNAME = `${HOST_LABEL}(?:\\.${HOST_LABEL})*`;
/** Characters of a mailbox's local part, as in a class. */
export const ATOM_CHARACTERS = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-";
const ATOM = `[${ATOM_CHARACTERS}]+`;
/** No top-level domain is a number, or a single letter. */
const TOP_LABEL = "[A-Za-z](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])";
/** A mailbox, as in "name@example.com". */
export const MAILBOX = `${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+${TOP_LABEL}`;

/** Patterns by format. Draft 3 has "host-name" and "ip-address". */
export const HOST_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "email": () => [MAILBOX],
  "hostname": () => [HOSTNAME, "[^]{1,253}"],
  "host-name": () => [HOSTNAME, "[^]{1,253}"],
  "ip-address": () => [IPV4],
  "ipv4": () => [IPV4],
  "ipv6": () => [IPV6],
};
