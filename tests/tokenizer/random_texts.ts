// Seeded random texts, the same on every run: hostile ones, and single characters a million times.

/** Random whole numbers below a bound. */
export type Random = (bound: number) => number;

/** A generator that gives the same numbers for the same seed. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    // Mulberry32: the low bits are as good as the high ones.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * bound);
  };
}

/** Where random characters come from: the first code point of a block, and how many. */
const blocks: readonly (readonly [number, number])[] = [
  [0x00, 0x80], // ASCII, controls too
  [0x20, 0x5f],
  [0x80, 0x180], // Latin
  [0x300, 0x70], // combining marks
  [0x370, 0x400], // Greek, Cyrillic, Hebrew
  [0x600, 0x700], // Arabic to Bengali
  [0x1100, 0x100], // Hangul letters
  [0x2000, 0x70], // spaces, joiners, directions
  [0x3000, 0x100], // kana
  [0x4e00, 0x5200], // ideographs
  [0xac00, 0x2ba4], // Hangul syllables
  [0xe000, 0x100], // private use
  [0xfe00, 0x200], // variation selectors, U+FEFF, full width
  [0x1f300, 0x400], // emoji
  [0x20000, 0x1000],
  [0x10ff00, 0x100],
];

/** A text of at most `length` characters of all planes; neighbours often share a block. */
export function randomText(random: Random, length: number): string {
  let text = "";
  let block = blocks[0]!;
  for (let count = random(length + 1); count > 0; count--) {
    if (random(4) === 0) block = blocks[random(blocks.length)]!;
    text += random(6) === 0 ? " " : String.fromCodePoint(block[0] + random(block[1]));
  }
  return text;
}

/** Texts of `length` UTF-16 units without a space, each of another nature. */
export function spacelessTexts(length: number): Readonly<Record<string, string>> {
  const random = seeded(7);
  const repeat = (make: () => string) => {
    const parts: string[] = [];
    for (let units = 0; units < length;) units += parts[parts.push(make()) - 1]!.length;
    return parts.join("").slice(0, length).toWellFormed();
  };
  return {
    "one letter": "a".repeat(length),
    "random letters": repeat(() => String.fromCharCode(97 + random(26))),
    "mixed case": repeat(() => String.fromCharCode((random(2) ? 65 : 97) + random(26))),
    digits: repeat(() => String(random(10))),
    punctuation: repeat(() => "!?.,;:'\"-=/"[random(11)]!),
    ideographs: repeat(() => String.fromCharCode(0x4e00 + random(0x5000))),
    emoji: repeat(() => String.fromCodePoint(0x1f300 + random(0x300))),
    "combining marks": repeat(() => String.fromCharCode(0x300 + random(0x70))),
  };
}
