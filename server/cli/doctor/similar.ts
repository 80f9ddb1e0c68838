// Which of some names was meant by one that is none of them. Pure.

/** Changed, added and missing letters from which on names are different ones. */
const MOST_CHANGES = 3;

/** The name nearest to what was written, if one is near. */
export function mostSimilar(written: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, changes: changesBetween(written, name) }))
    .filter(({ changes }) => changes <= MOST_CHANGES)
    .sort((a, b) => a.changes - b.changes);
  return ranked[0]?.name;
}

/** The least number of changed, added and removed letters (Levenshtein 1965). */
function changesBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const changed = above[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(changed, above[column]! + 1, current[column - 1]! + 1));
    }
    above = current;
  }
  return above[b.length]!;
}
