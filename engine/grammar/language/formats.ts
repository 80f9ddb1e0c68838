// The formats of JSON Schema and of libraries by name, as patterns: the grammars of their RFCs, restricted to
// what ajv-formats and pydantic accept as well. A string of a format matches all of its patterns.

const raw = String.raw;

// The formats of addresses as patterns: IP addresses (RFC 2673, RFC 4291), host names (RFC 1123, RFC 5891)
// and mailboxes (RFC 5321, RFC 6531), kept to what ajv-formats accepts as well where it knows them.

/** A number of a byte, in decimal. */
const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
/** An address as in "127.0.0.1". */
const IPV4 = `(?:${BYTE}\\.){3}${BYTE}`;
/** A hexadecimal digit. */
const HEX = "[0-9A-Fa-f]";
/** 16 bits of an address, in hexadecimal. */
const GROUP = `${HEX}{1,4}`;
const LAST_GROUPS = `(?:${GROUP}:${GROUP}|${IPV4})`;
/** An address as in "::1". */
const IPV6 = "(?:" + [
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
const HOST_LABEL = `(?!(?!xn)[^.]{2}--)${LABEL}`;
const HOSTNAME = `${HOST_LABEL}(?:\\.${HOST_LABEL})*`;
/** Characters of a mailbox's local part, as in a class. */
const ATOM_CHARACTERS = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-";
const ATOM = `[${ATOM_CHARACTERS}]+`;
/** No top-level domain is a number, or a single letter. */
const TOP_LABEL = "[A-Za-z](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])";
/** A mailbox, as in "name@example.com". */
const MAILBOX = `${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+${TOP_LABEL}`;

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

// The formats of references as patterns: URIs (RFC 3986), IRIs (RFC 3987), URI templates (RFC
// 6570), JSON pointers (RFC 6901), and addresses of the public web. They are restricted to what
// ajv-formats accepts as well, if it knows the format.

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
const REFERENCE_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
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

// The format of regular expressions as a pattern: a part of ECMA-262 that every version accepts.
// Since a regular language cannot count, the depth of groups is limited.

/** Deepest nesting of groups. */
const REGEX_DEPTH = 3;

/** Patterns without back-references and named groups, in strict ECMA-262 syntax. */
function regexPattern(): string {
  const hex = HEX;
  const escape =
    `\\\\(?:[dDwWsStnvfr^$\\\\.*+?()[\\]{}|/]|0(?!\\d)|c[A-Za-z]|x${hex}{2}|u${hex}{4}` +
    "|[pP]\\{(?:L|Lu|Ll|Lt|Lm|Lo|M|N|Nd|P|S|Z|Letter|Script=(?:Latin|Greek|Cyrillic|Han))\\})";
  // The ends of a range must be in order: both in one of these rows, or the second in a later row.
  const range = orderedRanges();
  // A hyphen is not a member: after one comes the end of a range or of the class.
  const member = `(?:${range}|[^\\\\\\]\\-^\\n\\r]|${escape}|\\\\-)`;
  const characterClass = `\\[\\^?(?:-?${member}+|${member}*)-?\\]`;
  const atom = `(?:[^\\\\^$.*+?()[\\]{}|/\\n\\r]|\\.|/|${escape}|${characterClass})`;
  const quantifier = `(?:(?:[*+?]|\\{(?:(?:0|[1-9]\\d{0,3}),?|${orderedCounts()})\\})\\??)?`;
  const flat = `[\\^$]|\\\\[bB]|${atom}${quantifier}|\\|`;
  const look = `\\(\\?<?[=!](?:${flat})*\\)`;
  let choice = `(?:${flat}|${look})*`;
  for (let depth = 0; depth < REGEX_DEPTH; depth++) {
    choice = `(?:${flat}|${look}|\\((?:\\?:)?${choice}\\)${quantifier})*`;
  }
  return choice;
}

/** Ranges of letters and digits that are in order. */
function orderedRanges(): string {
  const rows = ["09", "AZ", "az"].map(([low, high]) => [low!.charCodeAt(0), high!.charCodeAt(0)]);
  const ranges = rows.flatMap(([low, high]) =>
    Array.from({ length: high! - low! + 1 }, (_, i) => {
      const start = String.fromCharCode(low! + i);
      return `${start}-[${start}-${String.fromCharCode(high!)}]`;
    })
  );
  return `(?:${ranges.join("|")})`;
}

/**
 * Two counts in order, as far as a pattern can express that: of one digit each, or the second of
 * more digits.
 */
function orderedCounts(): string {
  const digits = Array.from({ length: 10 }, (_, digit) => `${digit},[${digit}-9]`);
  return [...digits, "\\d,[1-9]\\d{1,3}", "[1-9]\\d,[1-9]\\d{2,3}"].join("|");
}

/** Patterns by format. */
const REGEX_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "regex": () => [regexPattern()],
};

// The formats of dates, times and durations as patterns (RFC 3339), with the days of each month,
// leap years and leap seconds.

/** Days of each month. Every fourth year is a leap year, except centuries that 400 does not divide. */
const LEAP_YEAR = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
const DATE = `(?:(?!0000)(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])` +
  `|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${LEAP_YEAR}-02-29))`;
const SECOND_FRACTION = "(?:\\.\\d{1,20})?";
const HOUR_MINUTE = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const OFFSET = `(?:[Zz]|[+\\-]${HOUR_MINUTE})`;
/** A time without an offset, for OpenAPI and schemars. */
const LOCAL_TIME = `${HOUR_MINUTE}:[0-5]\\d${SECOND_FRACTION}`;
/** A leap second is only allowed at the end of a day in UTC. */
const TIME = `(?:${HOUR_MINUTE}:[0-5]\\d${SECOND_FRACTION}${OFFSET}|${leapSecond()})`;
/** ISO 8601 as ajv-formats reads it: the offset may be shorter, or missing. */
const ISO_TIME = `(?:${TIME}|${HOUR_MINUTE}:[0-5]\\d${SECOND_FRACTION}` +
  `(?:[+\\-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?)?)`;
/** RFC 3339, appendix A: no unit between two others may be missing. */
const DURATION_DATE = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)";
const DURATION_TIME = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
const DURATION = `P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|\\d+W)`;

/**
 * The times of leap seconds: 23:59:60 plus the offset, if that is a multiple of a quarter of an
 * hour.
 */
function leapSecond(): string {
  const second = `60${SECOND_FRACTION}`;
  const two = (value: number) => String(value).padStart(2, "0");
  const everyHour = (make: (hour: number) => string) =>
    `(?:${Array.from({ length: 24 }, (_, hour) => make(hour)).join("|")})`;
  const quarters = (offsets: readonly number[], make: (minute: number) => string) =>
    `(?=\\d\\d:(?:${offsets.map(make).join("|")})$)`;
  return [
    `23:59:${second}[Zz]`,
    everyHour((hour) => `${two((hour + 23) % 24)}:59:${second}\\+${two(hour)}:00`),
    // East of UTC the local time is later, and the minutes of the offset may add an hour.
    quarters([15, 30, 45], (minute) => `${two(minute - 1)}:${second}\\+\\d\\d:${minute}`) +
    everyHour((hour) => `${two(hour)}:\\d\\d:${second}\\+${two(hour)}:\\d\\d`),
    quarters([0, 15, 30, 45], (minute) => `${two(59 - minute)}:${second}-\\d\\d:${two(minute)}`) +
    everyHour((hour) => `${two(23 - hour)}:\\d\\d:${second}-${two(hour)}:\\d\\d`),
  ].join("|");
}

/** Patterns by format. */
const TIME_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "date": () => [DATE],
  "time": () => [TIME],
  "date-time": () => [`${DATE}[Tt]${TIME}`],
  "date-time-local": () => [`${DATE}[Tt]${LOCAL_TIME}`],
  "partial-date-time": () => [`${DATE}[Tt]${LOCAL_TIME}`],
  "time-local": () => [LOCAL_TIME],
  "iso-time": () => [ISO_TIME],
  "iso-date-time": () => [`${DATE}[Tt ]${ISO_TIME}`],
  "duration": () => [DURATION],
};

// The formats of values that are written as strings, as patterns: numbers, JSON, colours, telephone numbers, zones,
// and names of people with addresses; and those that any string has, since only a program can tell.

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
const VALUE_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
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

// The formats of identifiers and of bytes as patterns: UUIDs (RFC 9562) by version, and those that only libraries
// name: pydantic, Zod and ajv-formats.

/** A UUID of a version, in the variant of the RFC. */
const uuid = (version: string) =>
  `${HEX}{8}-${HEX}{4}-${version}${HEX}{3}-[89ABab]${HEX}{3}-${HEX}{12}`;
const base64 = (letters: string) => `(?:[${letters}]{4})*(?:[${letters}]{2}==|[${letters}]{3}=)?`;
const BASE64 = base64("A-Za-z0-9+/");

const VERSIONS = [1, 2, 3, 4, 5, 6, 7, 8];

/** Patterns by format. */
const IDENTIFIER_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
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
