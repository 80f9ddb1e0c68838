// The numbers of characters for which a result holds that was found for one number: a mask of a
// string that may have 60,000 more characters is also right for 59,000. Every comparison goes
// through here.

/** The numbers of characters for which all comparisons so far have the same results. */
export class CountRange {
  /** How much smaller and greater the number may be. */
  #down = Infinity;
  #up = Infinity;

  /** Whether `characters` is at most `limit`. */
  isAtMost(characters: number, limit: number): boolean {
    const isSo = characters <= limit;
    if (isSo) this.#up = Math.min(this.#up, limit - characters);
    else this.#down = Math.min(this.#down, characters - limit - 1);
    return isSo;
  }

  /** Whether `characters` is at least `limit`. */
  isAtLeast(characters: number, limit: number): boolean {
    return !this.isAtMost(characters, limit - 1);
  }

  /** Notes that a result holds for one number only. */
  narrow(): void {
    this.#down = this.#up = 0;
  }

  /** The fewest and most characters, if the comparisons were made starting from `characters`. */
  around(characters: number): readonly [fewest: number, most: number] {
    return [characters - this.#down, characters + this.#up];
  }
}
