// A slow and plain judge of grammars: the ends of all that a node matches from a place of a text, by
// looking at the text as a whole, again and again until nothing more is found. It knows no JSON
// documents and no tokens.

import type { Grammar, GrammarRules } from "../../../engine/grammar/mod.ts";

/** True if a grammar allows a text. */
export function recognizes({ root, rules }: GrammarRules, text: string): boolean {
  const characters = [...text];
  const known = new Map<Grammar, Map<number, { ends: Set<number>; round: number }>>();
  let round = 0;
  let hasGrown = true;

  const endsOf = (grammar: Grammar, start: number): ReadonlySet<number> => {
    let byStart = known.get(grammar);
    if (!byStart) known.set(grammar, byStart = new Map());
    let entry = byStart.get(start);
    if (!entry) byStart.set(start, entry = { ends: new Set(), round: 0 });
    if (entry.round === round) return entry.ends;
    entry.round = round;
    for (const end of find(grammar, start)) {
      hasGrown ||= !entry.ends.has(end);
      entry.ends.add(end);
    }
    return entry.ends;
  };

  const find = (grammar: Grammar, start: number): Iterable<number> => {
    switch (grammar.type) {
      case "literal": {
        const literal = [...grammar.text];
        const isThere = literal.every((one, index) => characters[start + index] === one);
        return isThere ? [start + literal.length] : [];
      }
      case "characters": {
        const codePoint = characters[start]?.codePointAt(0);
        if (codePoint === undefined) return [];
        const isIn = grammar.ranges.some(([low, high]) => low <= codePoint && codePoint <= high);
        return isIn !== (grammar.negated ?? false) ? [start + 1] : [];
      }
      case "sequence": {
        let ends = new Set([start]);
        for (const part of grammar.parts) {
          ends = new Set([...ends].flatMap((end) => [...endsOf(part, end)]));
        }
        return ends;
      }
      case "choice":
        return grammar.options.flatMap((option) => [...endsOf(option, start)]);
      case "repeat": {
        const found = new Set<number>();
        let ends = new Set([start]);
        for (let count = 0; count <= grammar.max && ends.size > 0; count++) {
          if (count >= grammar.min) { for (const end of ends) found.add(end); }
          // More rounds than characters are empty rounds, which change nothing.
          if (count > grammar.min + characters.length) break;
          ends = new Set([...ends].flatMap((end) => [...endsOf(grammar.part, end)]));
        }
        return found;
      }
      case "rule":
        return endsOf(rules!.get(grammar.name)!, start);
      case "text":
        return placesFrom(start).filter((end) => {
          const part = characters.slice(start, end).join("");
          return grammar.without.every((one) => !part.includes(one));
        });
      case "pattern": {
        const pattern = new RegExp(grammar.source, "u");
        return placesFrom(start).filter((end) =>
          pattern.test(characters.slice(start, end).join(""))
        );
      }
      default:
        throw new TypeError(`Recognizing a grammar: there is no telling ${grammar.type}`);
    }
  };

  const placesFrom = (start: number) =>
    [...Array(characters.length + 1 - start).keys()].map((count) => start + count);

  while (hasGrown) {
    hasGrown = false;
    round++;
    endsOf(root, 0);
  }
  return endsOf(root, 0).has(characters.length);
}
