// How byte-level BPE cuts a text into words before it merges. Merges never cross a word.
// A rule may have several cutters: each cuts what the ones before have left, and what lies between
// two matches is a word too. The rules themselves are in pretokenizers.ts.

/** Takes the word `part[start, end)`. */
export type WordVisitor = (part: string, start: number, end: number) => void;

/** Cuts a text into words: calls the visitor for each, from left to right and without gaps. */
export type Cutter = (part: string, visit: WordVisitor) => void;

/** A way of cutting text into words. */
export interface Pretokenizer {
  /** Applied in order, each to the parts that the one before made. */
  readonly cutters: readonly Cutter[];
  /** Words that become their own token where there is one, whatever the merges say. */
  readonly wholeWords?: RegExp;
  /**
   * How pieces are written: their bytes in the byte alphabet (the default), or their characters,
   * "marked" with U+2581 for spaces.
   */
  readonly alphabet?: "bytes" | "marked" | "plain";
  /** Whether texts begin with BOS where the metadata does not say. */
  readonly addBos?: boolean;
  /** Whether texts begin with BOS even where the metadata denies it. */
  readonly requiresBos?: boolean;
}

/** Visits the words of `text` in order; joined they are `text`. */
export function forEachWord(text: string, pretokenizer: Pretokenizer, visit: WordVisitor): void {
  cut(text, pretokenizer.cutters, 0, visit);
}

function cut(part: string, cutters: readonly Cutter[], index: number, visit: WordVisitor): void {
  const isLast = index === cutters.length - 1;
  // Sliced, because an expression that asks what follows must not see the next part.
  const next: WordVisitor = isLast
    ? visit
    : (part, start, end) => cut(part.slice(start, end), cutters, index + 1, visit);
  cutters[index]!(part, next);
}

/**
 * A cutter whose words are the matches of an expression and what lies between.
 * @param source in "v" mode; it must not match nothing
 */
export function matches(source: string): Cutter {
  // Most matches follow upon each other; test() on a sticky expression allocates nothing.
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
 * A cutter for runs of digits: in threes, counted from the right. What stands before a run is left
 * together with its first digits; the cutters that follow part the two.
 * @param run expression (in "v" mode) for a run
 */
export function threes(run: string): Cutter {
  const expression = new RegExp(run, "gv");
  return (part, visit) => {
    let start = 0;
    for (const { 0: match, index } of part.matchAll(expression)) {
      const digits = [...match];
      let end = index;
      for (const [place, digit] of digits.entries()) {
        end += digit.length;
        if ((digits.length - place) % 3 !== 1) continue;
        visit(part, start, end);
        start = end;
      }
    }
    if (start < part.length) visit(part, start, part.length);
  };
}
