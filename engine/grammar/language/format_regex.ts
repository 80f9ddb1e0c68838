// The format of regular expressions as a pattern: a part of ECMA-262 that every version accepts.
// Since a regular language cannot count, the depth of groups is limited.

import { HEX } from "./format_hosts.ts";

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
export const REGEX_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "regex": () => [regexPattern()],
};
