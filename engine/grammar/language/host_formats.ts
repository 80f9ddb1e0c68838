// The formats of addresses, hosts and networks as patterns, by name: IP addresses, host names, mailboxes
// and their international forms, networks and interfaces. Kept to what ajv-formats accepts as well where
// it knows them.

const raw = String.raw;

// IP addresses (RFC 2673, RFC 4291), host names (RFC 1123, RFC 5891) and mailboxes (RFC 5321, RFC 6531).

/** A number of a byte, in decimal. */
export const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
/** An address as in "127.0.0.1". */
export const IPV4 = `(?:${BYTE}\\.){3}${BYTE}`;
/** A hexadecimal digit. */
export const HEX = "[0-9A-Fa-f]";
/** 16 bits of an address, in hexadecimal. */
const GROUP = `${HEX}{1,4}`;
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
/** A label of a host; one with hyphens as third and fourth characters only has a meaning in Punycode. */
export const HOST_LABEL = `(?!(?!xn)[^.]{2}--)${LABEL}`;
const HOSTNAME = `${HOST_LABEL}(?:\\.${HOST_LABEL})*`;
/** Characters of a mailbox's local part, as in a class. */
const ATOM_CHARACTERS = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-";
const ATOM = `[${ATOM_CHARACTERS}]+`;
/** No top-level domain is a number, or a single letter. */
const TOP_LABEL = "[A-Za-z](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])";
/** A mailbox, as in "name@example.com". */
export const MAILBOX = `${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+${TOP_LABEL}`;

/** Patterns by format. Draft 3 has "host-name" and "ip-address". */
const HOST_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "email": () => [MAILBOX],
  "hostname": () => [HOSTNAME, "[^]{1,253}"],
  "host-name": () => [HOSTNAME, "[^]{1,253}"],
  "ip-address": () => [IPV4],
  "ipv4": () => [IPV4],
  "ipv6": () => [IPV6],
};

// The formats of international host names and mailboxes as patterns: labels in ASCII and in other
// widely used scripts, with the rules of RFC 5892 and RFC 5893 for characters in context and for
// scripts that are written from right to left. The Punycode of labels is not decoded.

const DOT = raw`[.\u3002\uFF0E\uFF61]`;

/** Letters of scripts that are written from left to right, in ranges of whole alphabets. */
const LETTERS = raw`\p{Ll}\u0904-\u0939\u0958-\u0961\u0985-\u09B9\u0A05-\u0A39\u0A85-\u0AB9` +
  raw`\u0B05-\u0B39\u0B85-\u0BB9\u0C05-\u0C39\u0C85-\u0CB9\u0D05-\u0D3A\u0D85-\u0DC6` +
  raw`\u0E01-\u0E30\u0E40-\u0E46\u0E81-\u0EB0\u0EC0-\u0EC6\u0F40-\u0F6C\u1000-\u102A` +
  raw`\u10D0-\u10FA\u1200-\u135A\u1780-\u17B3\uAC00-\uD7A3`;
const HAN_AND_KANA =
  raw`\u3005-\u3007\u3041-\u3096\u30A1-\u30FA\u30FC-\u30FE\u3400-\u4DBF\u4E00-\u9FFF`;
const DIGITS = raw`0-9\u06F0-\u06F9\u0966-\u096F\u0E50-\u0E59`;
/** Characters that only follow letters: marks, and the vowel signs of Indic scripts. */
const MARKS = raw`\u0300-\u036F\u0900-\u0903\u093A-\u0957\u0962\u0963\u0981-\u0983\u09BC-\u09CD` +
  raw`\u0A01-\u0A03\u0A3C-\u0A4D\u0ABC-\u0ACD\u0B3C-\u0B4D\u0BBE-\u0BCD\u0C3E-\u0C4D\u0CBC-\u0CCD` +
  raw`\u0D3E-\u0D4D\u0DCA-\u0DDF\u0E31-\u0E3A\u0E47-\u0E4E\u0EB1-\u0EBC\u0EC8-\u0ECD\u0F0B` +
  raw`\u0F71-\u0F84\u102B-\u103E\u17B4-\u17D3\u3099\u309A`;
const VIRAMA = raw`[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA]`;

/** Characters that are allowed only next to certain others, and these (RFC 5892, appendix A). */
const IN_CONTEXT = raw`l(?:\u00B7l)+|\u0375[\u0370-\u0373\u03AC-\u03CE]|${VIRAMA}[\u200C\u200D]`;
const UNIT = `(?:[${LETTERS}${HAN_AND_KANA}${DIGITS}${MARKS}]|${IN_CONTEXT})`;
const FIRST = `(?:[${LETTERS}${HAN_AND_KANA}${DIGITS}]|l(?:\\u00B7l)+)`;
/** At most 63 octets in Punycode: a little more than one per character where they are of one script. */
const LENGTH = "{0,54}";
const JAPANESE = `\\u30FB*[${HAN_AND_KANA}][${HAN_AND_KANA}a-z0-9\\u30FB]${LENGTH}`;
const LEFT_TO_RIGHT = `(?:${HOST_LABEL}|${FIRST}(?:-?${UNIT})${LENGTH}|${JAPANESE})`;

const HEBREW = raw`\u05D0-\u05EA`;
const ARABIC = raw`\u0620-\u063F\u0641-\u064A\u066E-\u06D3\u06FA-\u06FE`;
const RIGHT_FIRST = `(?:[${HEBREW}](?:[\\u05F3\\u05F4][${HEBREW}])?|[${ARABIC}])`;
const RIGHT_MARKS = raw`[\u05B0-\u05BD\u064B-\u0655\u0670\u06D6-\u06DC]`;
const rightToLeft = (digits: string) =>
  `${RIGHT_FIRST}(?:-?(?:${RIGHT_FIRST}|${RIGHT_MARKS}|\\u200C[${ARABIC}]|[${digits}]))${LENGTH}`;
const RIGHT_TO_LEFT = `(?:${rightToLeft(raw`0-9\u06F0-\u06F9`)}|${
  rightToLeft(raw`\u0660-\u0669`)
})`;
/** If any label of a name is written from right to left, no label may begin with a digit. */
const BESIDE = `(?:${RIGHT_TO_LEFT}|[a-z](?:-?[a-z0-9]){0,62}|[${LETTERS}](?:-?${UNIT})${LENGTH})`;
const INTERNATIONAL_NAME =
  `(?:${LEFT_TO_RIGHT}(?:${DOT}${LEFT_TO_RIGHT})*|${BESIDE}(?:${DOT}${BESIDE})*)`;

const BEYOND_ASCII = raw`\u0080-\uD7FF\uE000-\u{10FFFF}`;
const INTERNATIONAL_ATOM = `[${ATOM_CHARACTERS}${BEYOND_ASCII}]+`;
const QUOTED = raw`"(?:[\x20\x21\x23-\x5B\x5D-\x7E${BEYOND_ASCII}]|\\[\x20-\x7E])*"`;
const MAIL_LABEL = `(?:${HOST_LABEL}|${FIRST}(?:-?${UNIT})${LENGTH}|${RIGHT_TO_LEFT})`;
const EMAIL =
  `(?:${INTERNATIONAL_ATOM}(?:\\.${INTERNATIONAL_ATOM})*|${QUOTED})@${MAIL_LABEL}(?:\\.${MAIL_LABEL})*`;

/** Patterns by format. */
const NAME_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "idn-hostname": () => [INTERNATIONAL_NAME, "[^]{1,253}"],
  "idn-email": () => [EMAIL],
};

// The formats of networks and interfaces as patterns, as Python's ipaddress reads them: an address, and how many
// of its bits are those of the network. Of an address of a network alone the other bits are zero.

const BITS_OF_4 = "(?:3[0-2]|[12]?\\d)";
const BITS_OF_6 = "(?:12[0-8]|1[01]\\d|[1-9]?\\d)";

const list = (length: number, make: (index: number) => string) =>
  Array.from({ length }, (_, i) => make(i));

/** A network: the bytes before the one that is divided, the multiples in it, zeros. */
function network4(): string {
  const ofLength = (bits: number) => {
    const [whole, part] = [bits >> 3, bits & 7];
    const bytes = list(4, (index) => {
      if (index < whole) return BYTE;
      if (index > whole || part === 0) return "0";
      return `(?:${list(1 << part, (count) => String(count << 8 - part)).join("|")})`;
    });
    return `${bytes.join("\\.")}/${bits}`;
  };
  return `(?:${IPV4}|${list(33, ofLength).join("|")})`;
}

/** A network: an address alone, or whole groups of 16 bits and zeros for the rest. */
function network6(): string {
  const ofGroups = (groups: number) => {
    const bits = list(129 - 16 * groups, (index) => String(16 * groups + index));
    return `${list(groups, () => GROUP).join(":")}::/(?:${bits.join("|")})`;
  };
  return `(?:${IPV6}(?:/128)?|${list(8, ofGroups).join("|")})`;
}

const INTERFACE_4 = `${IPV4}(?:/${BITS_OF_4})?`;
const INTERFACE_6 = `${IPV6}(?:/${BITS_OF_6})?`;

/** Patterns by format: those of pydantic, Zod ("cidr…") and schemars ("ip"). */
const NETWORK_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "ip": () => [`(?:${IPV4}|${IPV6})`],
  "ipvanyaddress": () => [`(?:${IPV4}|${IPV6})`],
  "ipv4network": () => [network4()],
  "ipv6network": () => [network6()],
  "ipvanynetwork": () => [`(?:${network4()}|${network6()})`],
  "ipv4interface": () => [INTERFACE_4],
  "ipv6interface": () => [INTERFACE_6],
  "ipvanyinterface": () => [`(?:${INTERFACE_4}|${INTERFACE_6})`],
  "cidrv4": () => [`${IPV4}/${BITS_OF_4}`],
  "cidrv6": () => [`${IPV6}/${BITS_OF_6}`],
};

/** All of these formats. */
export const HOST_AND_NETWORK_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  ...HOST_FORMATS,
  ...NAME_FORMATS,
  ...NETWORK_FORMATS,
};
