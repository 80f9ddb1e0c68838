// Random patterns in the syntax of Python, Rust, Go, Java and Perl, beyond what ECMA-262 has, and texts of the
// characters on which these dialects disagree.

import type { Draw } from "./random.ts";

const ATOMS = [
  ..."aaabbkKs1é ",
  ".",
  "[ab]",
  "[^a]",
  "[a-k]",
  "[^]a]",
  "[]a]",
  "[[:alpha:]]",
  "[^[:space:]b]",
  "[[:^digit:]]",
  "[\\w-]",
  "[^\\W\\d]",
  "[^\\s]",
  "\\w",
  "\\W",
  "\\d",
  "\\D",
  "\\s",
  "\\S",
  "\\h",
  "\\H",
  "\\V",
  "\\R",
  "\\N",
  "\\a",
  "\\e",
  "\\x{61}",
  "\\x61",
  "\\U00000061",
  "\\07",
  "\\pL",
  "\\PL",
  "\\p{Lu}",
  "\\p{Greek}",
  "\\p{^Lu}",
  "\\Qa.\\E",
  "\\-",
  "\\_",
  "\\@",
  "]",
];

const ASSERTIONS = ["^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z"];

const QUANTIFIERS = ["*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{0,3}", "{2,}", "++", "*+", "?+"];

const GROUPS = [
  "(?:",
  "(",
  "(?P<n>",
  "(?<m>",
  "(?i:",
  "(?s:",
  "(?m:",
  "(?s-i:",
  "(?>",
  "(?=",
  "(?!",
  "(?<=",
  "(?<!",
];

const FLAGS = ["(?i)", "(?s)", "(?m)", "(?x)", "(?is)", "(?#a comment)"];

/** A pattern, which not all dialects have, nor in the same meaning. */
export function randomDialectPattern(draw: Draw): string {
  const flags = draw(2) === 0 ? FLAGS[draw(FLAGS.length)]! : "";
  const groups = { count: 0 };
  return flags + alternatives(draw, 2, groups);
}

function alternatives(draw: Draw, depth: number, groups: { count: number }): string {
  const terms = Array.from({ length: 1 + draw(3) }, () => term(draw, depth, groups)).join("");
  return draw(5) === 0 && depth > 0 ? `${terms}|${alternatives(draw, depth - 1, groups)}` : terms;
}

function term(draw: Draw, depth: number, groups: { count: number }): string {
  if (draw(6) === 0) return ASSERTIONS[draw(ASSERTIONS.length)]!;
  if (draw(12) === 0 && groups.count > 0) return `\\${1 + draw(groups.count)}`;
  const quantifier = draw(3) === 0 ? QUANTIFIERS[draw(QUANTIFIERS.length)]! : "";
  if (depth === 0 || draw(3) > 0) return ATOMS[draw(ATOMS.length)]! + quantifier;
  let open = GROUPS[draw(GROUPS.length)]!;
  // A name may come once.
  if (/</.test(open) && /[mn]/.test(open)) open = open.replace(/[mn]/, `n${groups.count}`);
  if (open === "(" || open.includes("<n")) groups.count++;
  const group = `${open}${alternatives(draw, depth - 1, groups)})`;
  return /^\(\?<?[=!]/.test(open) ? group : group + quantifier;
}

const TEXT_CHARACTERS = [
  ..."aaaabbbkKsS1-]._@ é\n",
  ..."É\r\t\v\f\x07\x1b\x85\xa0\u0661\u212a\u017f\u03b1\u2028\u200d\ufeff\x1c😀",
];

/** A short text. */
export function randomDialectText(draw: Draw): string {
  return Array.from(
    { length: draw(5) },
    () => TEXT_CHARACTERS[draw(draw(2) === 0 ? 12 : TEXT_CHARACTERS.length)]!,
  ).join("");
}
