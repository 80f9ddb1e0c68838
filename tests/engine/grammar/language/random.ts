// Random patterns and texts for the property tests of languages, the same in every run.

/** Draws an integer below `bound`. */
export type Draw = (bound: number) => number;

/** A generator with a seed: a linear congruence, of which the high bits are used. */
export function createDraw(seed: number): Draw {
  return (bound) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed >>> 8) % bound;
  };
}

const ATOMS = [
  ..."aaabbs-é😀",
  ".",
  "[ab]",
  "[^a]",
  "\\w",
  "\\W",
  "\\d",
  "\\s",
  "\\S",
  "[a-c\\d]",
  "[^\\w]",
  "\\p{L}",
  "\\u{1F600}",
];

const ASSERTIONS = ["^", "$", "\\b", "\\B"];

const QUANTIFIERS = ["*", "+", "?", "*?", "{2}", "{1,2}", "{0,3}", "{2,}"];

const GROUPS = ["(?:", "(", "(?<n>", "(?i:", "(?s:", "(?m:", "(?=", "(?!", "(?<=", "(?<!"];

/** A pattern in strict ECMA-262 syntax; some contradict themselves. */
export function randomPattern(draw: Draw, depth = 3): string {
  const terms = Array.from({ length: 1 + draw(3) }, () => randomTerm(draw, depth));
  const sequence = terms.join("");
  return draw(4) === 0 && depth > 0 ? `${sequence}|${randomPattern(draw, depth - 1)}` : sequence;
}

function randomTerm(draw: Draw, depth: number): string {
  if (draw(8) === 0) return ASSERTIONS[draw(ASSERTIONS.length)]!;
  const quantifier = draw(3) === 0 ? QUANTIFIERS[draw(QUANTIFIERS.length)]! : "";
  if (depth === 0 || draw(3) > 0) return ATOMS[draw(ATOMS.length)]! + quantifier;
  const open = GROUPS[draw(GROUPS.length)]!;
  const group = `${open}${randomPattern(draw, depth - 1)})`;
  return /^\(\?<?[=!]/.test(open) ? group : group + quantifier;
}

const TEXT_CHARACTERS = [..."aaaabbbbAc-1 éÉſ😀\n_"];

/** A short text of the characters that the patterns tell apart. */
export function randomText(draw: Draw): string {
  return Array.from(
    { length: draw(7) },
    () => TEXT_CHARACTERS[draw(TEXT_CHARACTERS.length)]!,
  ).join("");
}
