// Says again what it is given: words that nobody knows, lists, codes and numbers. Not evaluated; from
// it the model learns to copy any spelling, which extraction, tools and memory live on.

import type { Random } from "../random.ts";
import type { Example, Skill, Split } from "../types.ts";
import { madeUpWord } from "../words/made_up.ts";
import { city, fullName } from "../words/names.ts";
import { enumerate } from "../words/values.ts";

const FRAMES: readonly string[] = [
  "[|Please ][repeat|say|copy|write|print|echo] [this|after me|the following|exactly this|again]: {x}",
];

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** Copies. */
export const copy: Skill = { name: "copy", example };

function example(random: Random, split: Split): Example {
  const parts = Array.from({ length: random.integer(1, 5) }, () => part(random, split));
  const text = random.pick([
    () => parts.join(" "),
    () => parts.join(", "),
    () => enumerate(parts),
  ])();
  return {
    turns: [{ user: random.phraseOf(FRAMES, split).replace("{x}", text), answer: { text } }],
  };
}

function part(random: Random, split: Split): string {
  const kind = random.next();
  if (kind < 0.15) return fullName(random, split);
  if (kind < 0.25) return city(random, split);
  if (kind < 0.4) return String(random.integer(0, 10 ** random.integer(1, 5)));
  if (kind < 0.5) return code(random);
  return Array.from({ length: random.pick([1, 1, 1, 2]) }, () => madeUpWord(random)).join(" ");
}

/** Letters and digits without a rhyme, as in "X7KR-20" or "qzf". */
function code(random: Random): string {
  const letters = Array.from({ length: random.integer(2, 6) }, () => random.pick([...LETTERS]));
  const text = letters.join("");
  if (random.chance(0.4)) return text;
  return `${text.toUpperCase()}${random.pick(["", "-", " "])}${random.integer(1, 9999)}`;
}
