// Words that are looked up in a list or a table, and the one that is nearest to a word that is not
// there: what somebody who made a typing error has probably meant. Pure.

/**
 * The entry of a table for a word that somebody typed, which may be any word, `constructor` too.
 */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/**
 * The nearest of the words, if one is near enough. A word that begins with the one that was typed is one
 * change away from it.
 *
 * @param most changes that the nearest may be away, and always fewer than the word has letters
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  most = 2,
): string | undefined {
  let best: string | undefined;
  let least = Math.min(most, word.length - 1) + 1;
  for (const candidate of candidates) {
    const distance = candidate.startsWith(word) ? 1 : changesBetween(word, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/**
 * The least number of letters that are changed, added, removed or exchanged with their neighbour: the
 * optimal string alignment distance.
 */
function changesBetween(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const above = rows[row - 1]!;
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const other = from[row - 1] === to[column - 1] ? 0 : 1;
      let least = Math.min(
        above[column]! + 1,
        current[column - 1]! + 1,
        above[column - 1]! + other,
      );
      const isExchange = row > 1 && column > 1 && from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1];
      if (isExchange) least = Math.min(least, rows[row - 2]![column - 2]! + 1);
      current.push(least);
    }
    rows.push(current);
  }
  return rows[from.length]![to.length]!;
}
