// Says again what it is given: words that nobody knows, codes and numbers. Not evaluated; from it the
// model learns to copy any spelling, which extraction, tools and memory live on.

import type { Random } from "../random.ts";
import type { Example, Skill, Split } from "../types.ts";
import { city, fullName } from "../words/names.ts";

const FRAMES = [
  "Repeat: {x}",
  "Say: {x}",
  "Repeat after me: {x}",
  "Write this again: {x}",
  "Copy this: {x}",
];

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** Copies. */
export const copy: Skill = { name: "copy", example };

function example(random: Random, split: Split): Example {
  const parts = Array.from({ length: random.integer(1, 5) }, () => part(random, split));
  const text = parts.join(random.pick([" ", ", ", " "]));
  return { turns: [{ user: random.pickOf(FRAMES, split).replace("{x}", text), answer: { text } }] };
}

function part(random: Random, split: Split): string {
  const kind = random.next();
  if (kind < 0.3) return fullName(random, split);
  if (kind < 0.4) return city(random, split);
  if (kind < 0.6) return String(random.integer(0, 10 ** random.integer(1, 5)));
  return Array.from({ length: random.integer(2, 8) }, () => random.pick([...LETTERS])).join("");
}
