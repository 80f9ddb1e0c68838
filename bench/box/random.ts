// Seeded random numbers for the generators: the same seed, the same data on every machine.
// Lists are split by construction: every fifth entry belongs to the evaluation alone. So are phrases,
// which are written as patterns with many wordings: every fifth wording does.
// The generator is mulberry32: 32 bits of state, enough to choose words with.

/**
 * Data to learn from, data that is kept for the evaluation and never learnt from, or data that the
 * vocabulary is made of: as data to learn from, but without its names and other open words.
 */
export type Split = "train" | "heldOut" | "vocabulary";

/** Of so many neighbours in a list, the last one is held out. */
const HELD_OUT_EVERY = 5;

/** A stream of choices. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = this.#state + 0x6D2B79F5 >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ bits >>> 15, bits | 1);
    bits ^= bits + Math.imul(bits ^ bits >>> 7, bits | 61);
    return ((bits ^ bits >>> 14) >>> 0) / 2 ** 32;
  }

  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }

  /** An entry of the list's part that belongs to the split. The list has at least five entries. */
  pickOf<T>(list: readonly T[], split: Split): T {
    const groups = Math.floor(list.length / HELD_OUT_EVERY);
    if (split === "heldOut") return list[this.integer(1, groups) * HELD_OUT_EVERY - 1]!;
    const index = this.integer(0, list.length - groups - 1);
    return list[index + Math.min(groups, Math.floor(index / (HELD_OUT_EVERY - 1)))]!;
  }

  /** One way through a pattern: of `[Tell|Give] me the time[| now]`, "Give me the time". */
  expand(pattern: string): string {
    let text = pattern;
    // The innermost groups first: a way may have groups of its own.
    while (text.includes("[")) {
      text = text.replace(/\[([^[\]]*)\]/g, (_, ways: string) => this.pick(ways.split("|")));
    }
    return text;
  }

  /**
   * A wording of one of the patterns that belongs to the split.
   *
   * @throws {RangeError} if they have too few wordings, of which none does
   */
  phraseOf(patterns: readonly string[], split: Split): string {
    for (let tries = 0; tries < 1000; tries++) {
      const phrase = this.expand(this.pick(patterns));
      if (isHeldOutWording(phrase) === (split === "heldOut")) return phrase;
    }
    throw new RangeError(`Cannot word "${patterns[0]}": no wording belongs to ${split}`);
  }

  /** Several different entries, in random order. */
  sample<T>(list: readonly T[], count: number): T[] {
    return this.shuffle(list).slice(0, count);
  }

  /** Several different entries of the list's part that belongs to the split. */
  sampleOf<T>(list: readonly T[], count: number, split: Split): T[] {
    const isHeldOut = (index: number) => index % HELD_OUT_EVERY === HELD_OUT_EVERY - 1;
    return this.sample(list.filter((_, i) => isHeldOut(i) === (split === "heldOut")), count);
  }

  shuffle<T>(list: readonly T[]): T[] {
    const shuffled = [...list];
    for (let i = shuffled.length - 1; i > 0; i--) {
      const other = this.integer(0, i);
      [shuffled[i], shuffled[other]] = [shuffled[other]!, shuffled[i]!];
    }
    return shuffled;
  }
}

/** Whether the wording, its places still open, is one of the fifth that is kept for the evaluation. */
function isHeldOutWording(phrase: string): boolean {
  let hash = 0x811C9DC5; // FNV-1a
  for (const unit of phrase) hash = Math.imul(hash ^ unit.codePointAt(0)!, 0x01000193);
  return ((hash ^ hash >>> 15) >>> 0) % HELD_OUT_EVERY === HELD_OUT_EVERY - 1;
}

/** Puts values into the places of a phrase: `fill("Hello {name}", { name: "Ada" })`. */
export function fill(phrase: string, values: Record<string, string | number>): string {
  return phrase.replace(/\{(\w+)\}/g, (place, key) => key in values ? String(values[key]) : place);
}

/** The text with its first letter as a capital. */
export function capitalize(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
