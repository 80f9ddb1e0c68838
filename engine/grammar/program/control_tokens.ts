// Control tokens in the text of a literal, and the bytes that stand for them as an automaton.

import type { TextAutomaton } from "../machine/texts/text_automaton.ts";
import { spellControl } from "../machine/token_table.ts";

/**
 * A literal in pieces: text, and the control tokens whose names it contains, the longest names
 * first.
 */
export function splitControls(
  text: string,
  controls: ReadonlyMap<string, number>,
): (string | number)[] {
  const pieces: (string | number)[] = [];
  const names = [...controls.keys()].filter((name) => text.includes(name))
    .sort((a, b) => b.length - a.length);
  let start = 0;
  for (let at = 0; at < text.length;) {
    const name = names.find((one) => text.startsWith(one, at));
    if (name === undefined) {
      at++;
      continue;
    }
    if (at > start) pieces.push(text.slice(start, at));
    pieces.push(controls.get(name)!);
    start = at += name.length;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces;
}

/** The automaton of one control token. State n + 1 comes after n of its bytes. */
export function controlAutomaton(token: number): TextAutomaton {
  const bytes = spellControl(token);
  const isEnd = (state: number) => state === bytes.length + 1;
  return {
    start: 1,
    step: (state, byte) => bytes[state - 1] === byte ? state + 1 : 0,
    accepts: isEnd,
    isBoundary: (state) => state === 1 || isEnd(state),
    shortest: (state) => isEnd(state) ? 0 : 1,
    completion: (state) => bytes.slice(state - 1),
  };
}
