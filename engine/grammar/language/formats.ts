// The formats of JSON Schema as patterns: the grammars of their RFCs, kept to what ajv-formats accepts
// as well. A string of a format matches all patterns given for it.

/** Days per month; every fourth year is a leap year but those of centuries 400 does not divide. */
const LEAP_YEAR = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
const DATE = `(?:(?!0000)(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])` +
  `|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${LEAP_YEAR}-02-29))`;
const SECOND_FRACTION = "(?:\\.\\d{1,20})?";
const HOUR_MINUTE = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const OFFSET = `(?:[Zz]|[+\\-]${HOUR_MINUTE})`;
/** A leap second only where it can be: at the end of a day in UTC. */
const TIME = `(?:${HOUR_MINUTE}:[0-5]\\d${SECOND_FRACTION}${OFFSET}` +
  `|23:59:60${SECOND_FRACTION}(?:[Zz]|[+\\-]00:00))`;
/** RFC 3339, appendix A: no unit between two others may be missing. */
const DURATION_DATE = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)";
const DURATION_TIME = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
const DURATION = `P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|\\d+W)`;

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";
/** A label with hyphens third and fourth means something only if it is in Punycode. */
const HOST_LABEL = `(?!(?!xn)[^.]{2}--)${LABEL}`;
const HOSTNAME = `${HOST_LABEL}(?:\\.${HOST_LABEL})*`;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-]+";
const EMAIL = `${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+${LABEL}`;

const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = `(?:${BYTE}\\.){3}${BYTE}`;
const HEX = "[0-9A-Fa-f]";
const GROUP = `${HEX}{1,4}`;
const LAST_GROUPS = `(?:${GROUP}:${GROUP}|${IPV4})`;
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

const ESCAPED = `%${HEX}{2}`;
const PATH_CHARACTER = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@]|${ESCAPED})`;
const PATH_CHARACTER_NO_COLON = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=@]|${ESCAPED})`;
const SEGMENTS = `(?:/${PATH_CHARACTER}*)*`;
const HOST = `(?:\\[${IPV6}\\]|(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|${ESCAPED})*)`;
const AUTHORITY = `(?:(?:[A-Za-z0-9\\-._~!$&'()*+,;=:]|${ESCAPED})*@)?${HOST}(?::\\d*)?`;
const NETWORK_PATH = `//${AUTHORITY}${SEGMENTS}`;
const ABSOLUTE_PATH = `/(?:${PATH_CHARACTER}+${SEGMENTS})?`;
const QUERY_AND_FRAGMENT = `(?:\\?(?:${PATH_CHARACTER}|[/?])*)?(?:#(?:${PATH_CHARACTER}|[/?])*)?`;
const URI = `[A-Za-z][A-Za-z0-9+\\-.]*:(?:${NETWORK_PATH}|${ABSOLUTE_PATH}` +
  `|${PATH_CHARACTER}+${SEGMENTS})${QUERY_AND_FRAGMENT}`;
const RELATIVE_REFERENCE = `(?:${NETWORK_PATH}|${ABSOLUTE_PATH}` +
  `|${PATH_CHARACTER_NO_COLON}+${SEGMENTS}|)${QUERY_AND_FRAGMENT}`;

const POINTER = "(?:/(?:[^~/]|~[01])*)*";

/** Groups of the format "regex" nest to this depth; further in a regular language cannot count. */
const REGEX_DEPTH = 3;

/** Patterns without back-references and named groups, in strict ECMA-262 syntax. */
function regexPattern(): string {
  const hex = HEX;
  const escape =
    `\\\\(?:[dDwWsStnvfr^$\\\\.*+?()[\\]{}|/]|0(?!\\d)|c[A-Za-z]|x${hex}{2}|u${hex}{4}` +
    "|[pP]\\{(?:L|Lu|Ll|Lt|Lm|Lo|M|N|Nd|P|S|Z|Letter|Script=(?:Latin|Greek|Cyrillic|Han))\\})";
  // Ranges are of ends in order: within one row of these, or from any to the next rows.
  const range = orderedRanges();
  const member = `(?:${range}|(?:[^\\\\\\]\\-^\\n\\r]|${escape})(?!-[^\\]])|\\\\-(?!-[^\\]]))`;
  const characterClass = `\\[\\^?(?:-?${member}+|${member}*)-?\\]`;
  const atom = `(?:[^\\\\^$.*+?()[\\]{}|/\\n\\r]|\\.|/|${escape}|${characterClass})`;
  const quantifier = "(?:(?:[*+?]|\\{(?:0|[1-9]\\d{0,3}),?\\}|\\{\\d,[1-9]\\d{1,3}\\})\\??)?";
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

const PATTERNS: ReadonlyMap<string, () => readonly string[]> = new Map(
  Object.entries({
    "date": () => [DATE],
    "time": () => [TIME],
    "date-time": () => [`${DATE}[Tt]${TIME}`],
    "duration": () => [DURATION],
    "email": () => [EMAIL],
    "hostname": () => [HOSTNAME, "[^]{1,253}"],
    "ipv4": () => [IPV4],
    "ipv6": () => [IPV6],
    "uri": () => [URI],
    "uri-reference": () => [`(?:${URI}|${RELATIVE_REFERENCE})`],
    "uuid": () => [`${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}`],
    "json-pointer": () => [POINTER],
    "relative-json-pointer": () => [`(?:0|[1-9]\\d*)(?:#|${POINTER})`],
    "regex": () => [regexPattern()],
  }),
);

/** The patterns that a string of a format matches; undefined if the format is not known. */
export function formatPatterns(name: string): readonly string[] | undefined {
  return PATTERNS.get(name)?.().map((source) => `^(?:${source})$`);
}
