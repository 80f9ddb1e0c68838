// Pretokenization: how byte-level BPE divides a text into words before it merges. Merges never
// cross the border of a word. A rule may have several cutters, each of which divides the parts that
// the one before made; text between two matches is a word, too. pretokenizers.ts has the rules.

/** Receives the word `part[start, end)`. */
export type WordVisitor = (part: string, start: number, end: number) => void;

/**
 * Divides a text into words, and calls the visitor for each, from left to right and without gaps.
 */
export type Cutter = (part: string, visit: WordVisitor) => void;

/** A rule that divides text into words. */
export interface Pretokenizer {
  /** The cutters, applied in order, each to the parts that the one before made. */
  readonly cutters: readonly Cutter[];
  /** Matches words that become their own token if there is one, whatever the merges say. */
  readonly wholeWords?: RegExp;
  /**
   * How pieces are written: their bytes in the byte alphabet ("bytes", the default), or their
   * characters as they are ("plain") or with U+2581 for spaces ("marked").
   */
  readonly alphabet?: "bytes" | "marked" | "plain";
  /** Whether texts begin with BOS if the metadata does not say. */
  readonly addBos?: boolean;
  /** Whether texts begin with BOS even if the metadata says otherwise. */
  readonly requiresBos?: boolean;
}

/** Visits the words of `text` in order. Joined they are `text`. */
export function forEachWord(text: string, pretokenizer: Pretokenizer, visit: WordVisitor): void {
  cut(text, pretokenizer.cutters, 0, visit);
}

function cut(part: string, cutters: readonly Cutter[], index: number, visit: WordVisitor): void {
  const isLast = index === cutters.length - 1;
  // A copy of the part, because a lookahead must not see the next part.
  const next: WordVisitor = isLast
    ? visit
    : (part, start, end) => cut(part.slice(start, end), cutters, index + 1, visit);
  cutters[index]!(part, next);
}

/**
 * A cutter whose words are the matches of an expression and the text between them.
 * @param source an expression in "v" mode that does not match the empty string
 */
export function matches(source: string): Cutter {
  // Most matches are adjacent, and test() on a sticky expression allocates nothing.
  const sticky = new RegExp(source, "yv");
  const global = new RegExp(source, "gv");
  return (part, visit) => {
    for (let start = 0, end = 0; start < part.length; start = end) {
      sticky.lastIndex = start;
      if (sticky.test(part)) end = sticky.lastIndex;
      else {
        global.lastIndex = start;
        end = global.exec(part)?.index ?? part.length;
      }
      visit(part, start, end);
    }
  };
}

/**
 * A cutter for runs of digits, in threes from the right. The text before a run stays together with
 * the run's first digits, and the following cutters divide the two.
 * @param run expression in "v" mode for a run
 */
export function threes(run: string): Cutter {
  const expression = new RegExp(run, "gv");
  return (part, visit) => {
    let start = 0;
    for (const { 0: match, index } of part.matchAll(expression)) {
      const digits = [...match];
      let end = index;
      for (const [index, digit] of digits.entries()) {
        end += digit.length;
        if ((digits.length - index) % 3 !== 1) continue;
        visit(part, start, end);
        start = end;
      }
    }
    if (start < part.length) visit(part, start, part.length);
  };
}
