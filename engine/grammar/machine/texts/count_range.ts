// For which numbers of characters what was found out of one number holds: a mask of a string that
// may have 60,000 more characters serves for 59,000 too. Every question is put through here.

/** The numbers of characters that all questions so far get the same answers for. */
export class CountRange {
  /** By how much fewer and more the characters may be. */
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

  /** Notes that an answer holds for one number only. */
  narrow(): void {
    this.#down = this.#up = 0;
  }

  /** The fewest and most characters, where the questions were asked on the way from `characters`. */
  around(characters: number): readonly [fewest: number, most: number] {
    return [characters - this.#down, characters + this.#up];
  }
}
