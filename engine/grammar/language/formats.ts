// The formats of JSON Schema and of libraries by name, as patterns: the grammars of their RFCs, restricted to
// what ajv-formats and pydantic accept as well. A string of a format matches all of its patterns.

import {
  BYTE,
  HEX,
  HOST_AND_NETWORK_FORMATS,
  HOST_LABEL,
  IPV4,
  IPV6,
  MAILBOX,
} from "./host_formats.ts";

const raw = String.raw;

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
    ...HOST_AND_NETWORK_FORMATS,
    ...REFERENCE_FORMATS,
    ...REGEX_FORMATS,
    ...IDENTIFIER_FORMATS,
    ...VALUE_FORMATS,
  }),
);

/** The patterns that a string of a format matches as a whole; undefined if the format is not known. */
export function formatPatterns(name: string): readonly string[] | undefined {
  return PATTERNS.get(name)?.();
}
