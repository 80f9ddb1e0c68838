// Values with a rule instead of a list: numbers, dates, times.
// Held out are those whose digits add up to 4 modulo 5, so that training sees every digit in every
// place and yet never a held-out value.

import type { Random } from "../random.ts";
import type { Split } from "../types.ts";
import { lastName } from "./names.ts";
import { COMPANY_KINDS } from "./things.ts";

/** A value as JSON has it and as a sentence says it. */
export interface Written {
  value: string | number | boolean | string[];
  text: string;
}

const MONTHS = ("January February March April May June July August September October " +
  "November December").split(" ");

/** Calls `make` until the digits of what it makes belong to the split. */
function digitsOf(split: Split, make: () => string): string {
  while (true) {
    const text = make();
    let sum = 0;
    for (const digit of text.replace(/\D/g, "")) sum += Number(digit);
    if ((sum % 5 === 4) === (split === "heldOut")) return text;
  }
}

/** An integer from `least` to `most`; the range holds values of both splits. */
export function integer(random: Random, split: Split, least: number, most: number): number {
  return Number(digitsOf(split, () => String(random.integer(least, most))));
}

/** An amount of money, with cents or without; never with a last zero after the point. */
export function amount(random: Random, split: Split): number {
  return Number(digitsOf(split, () => {
    const whole = random.integer(2, 10 ** random.integer(1, 4));
    if (random.chance(0.6)) return String(whole);
    return `${whole}.${random.integer(0, 9)}${random.integer(1, 9)}`;
  }));
}

/** A date as ISO 8601 has it, written in one of the ways that leave no doubt about the month. */
export function date(random: Random, split: Split): Written {
  const value = digitsOf(split, () => {
    const [year, month, day] = [
      random.integer(1990, 2035),
      random.integer(1, 12),
      random.integer(1, 28),
    ];
    return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  });
  const [year, month, day] = value.split("-").map(Number) as [number, number, number];
  const name = MONTHS[month - 1]!;
  const text = random.pick([
    `${day} ${name} ${year}`,
    `${day} ${name} ${year}`,
    `${day} ${name} ${year}`,
    `${name} ${day}, ${year}`,
    `${name} ${day}, ${year}`,
    `${ordinal(day)} ${name} ${year}`,
    `${name} ${ordinal(day)}, ${year}`,
    `${day} ${name.slice(0, 3)} ${year}`,
    value,
  ]);
  return { value, text };
}

function ordinal(day: number): string {
  const ending = day > 3 && day < 21 ? undefined : ["st", "nd", "rd"][day % 10 - 1];
  return `${day}${ending ?? "th"}`;
}

/** A time of the day with 24 hours, as in 07:30. */
export function time(random: Random, split: Split): string {
  return digitsOf(split, () => {
    const [hour, minute] = [random.integer(0, 23), random.integer(0, 11) * 5];
    return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
  });
}

export function company(random: Random, split: Split): string {
  return `${lastName(random, split)} ${COMPANY_KINDS.pick(random, split)}`;
}

/** Joins as a sentence does: "a, b and c". */
export function enumerate(words: readonly string[], last = " and "): string {
  if (words.length < 2) return words.join();
  return words.slice(0, -1).join(", ") + last + words.at(-1);
}

/** The noun with its indefinite article. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/i.test(noun) ? "an" : "a"} ${noun}`;
}

/** Whether the text has the words of the value, in whatever case, not as parts of other words. */
export function mentions(text: string | undefined, value: string | number): boolean {
  const escaped = String(value).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}]|\\d[.,])${escaped}(?![\\p{L}\\p{N}]|[.,]\\d)`, "iu").test(
    text ?? "",
  );
}
