// Says whether a grammar of answers allows a text, by trying everything: for tests of families,
// which need no vocabulary. Schemas are not checked, only that a JSON document stands there.

import type { Grammar } from "../../../../../engine/grammar/mod.ts";

/** Whether the whole text fits. */
export function matches(grammar: Grammar, text: string): boolean {
  return endsOf(grammar, text, 0).has(text.length);
}

/** Where a match that begins at an offset may end. */
function endsOf(grammar: Grammar, text: string, start: number): Set<number> {
  switch (grammar.type) {
    case "literal":
      return new Set(text.startsWith(grammar.text, start) ? [start + grammar.text.length] : []);
    case "characters": {
      const code = text.codePointAt(start);
      const inside = code !== undefined &&
        grammar.ranges.some(([low, high]) => low <= code && code <= high);
      const fits = code !== undefined && inside !== (grammar.negated ?? false);
      return new Set(fits ? [start + String.fromCodePoint(code).length] : []);
    }
    case "sequence":
      return grammar.parts.reduce(
        (starts, part) => union([...starts].map((at) => endsOf(part, text, at))),
        new Set([start]),
      );
    case "choice":
      return union(grammar.options.map((option) => endsOf(option, text, start)));
    case "repeat": {
      const found = new Set<number>(grammar.min === 0 ? [start] : []);
      let starts = new Set([start]);
      for (let count = 1; count <= grammar.max && starts.size > 0; count++) {
        const ends = union([...starts].map((at) => endsOf(grammar.part, text, at)));
        starts = new Set([...ends].filter((at) => !found.has(at)));
        if (count >= grammar.min) starts.forEach((at) => found.add(at));
      }
      return found;
    }
    case "text": {
      const ends = new Set<number>();
      for (let at = start; at <= text.length; at++) {
        const part = text.slice(start, at);
        if (grammar.without.some((mark) => part.endsWith(mark))) break;
        ends.add(at);
      }
      return ends;
    }
    case "pattern": {
      const ends = new Set<number>();
      for (let at = start; at <= text.length; at++) {
        if (new RegExp(grammar.source, "u").test(text.slice(start, at))) ends.add(at);
      }
      return ends;
    }
    case "both":
      return grammar.parts.map((part) => endsOf(part, text, start))
        .reduce((ends, others) => ends.intersection(others));
    case "string":
      return endsOf({ type: "text", without: [] }, text, start);
    case "json":
      return jsonEnds(text, start);
    default:
      throw new Error(`No family writes this: ${grammar.type}`);
  }
}

function jsonEnds(text: string, start: number): Set<number> {
  const ends = new Set<number>();
  for (let at = start + 1; at <= text.length; at++) {
    try {
      JSON.parse(text.slice(start, at));
      ends.add(at);
    } catch {
      // Not yet.
    }
  }
  return ends;
}

function union(sets: Set<number>[]): Set<number> {
  return new Set(sets.flatMap((set) => [...set]));
}
