// The formats of international host names and mailboxes as patterns: labels in ASCII and in other
// widely used scripts, with the rules of RFC 5892 and RFC 5893 for characters in context and for
// scripts that are written from right to left. The Punycode of labels is not decoded.

import { ATOM_CHARACTERS, HOST_LABEL } from "./format_hosts.ts";

const raw = String.raw;
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
const HOSTNAME = `(?:${LEFT_TO_RIGHT}(?:${DOT}${LEFT_TO_RIGHT})*|${BESIDE}(?:${DOT}${BESIDE})*)`;

const BEYOND_ASCII = raw`\u0080-\uD7FF\uE000-\u{10FFFF}`;
const ATOM = `[${ATOM_CHARACTERS}${BEYOND_ASCII}]+`;
const QUOTED = raw`"(?:[\x20\x21\x23-\x5B\x5D-\x7E${BEYOND_ASCII}]|\\[\x20-\x7E])*"`;
const MAIL_LABEL = `(?:${HOST_LABEL}|${FIRST}(?:-?${UNIT})${LENGTH}|${RIGHT_TO_LEFT})`;
const EMAIL = `(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})@${MAIL_LABEL}(?:\\.${MAIL_LABEL})*`;

/** Patterns by format. */
export const NAME_FORMATS: Readonly<Record<string, () => readonly string[]>> = {
  "idn-hostname": () => [HOSTNAME, "[^]{1,253}"],
  "idn-email": () => [EMAIL],
};
