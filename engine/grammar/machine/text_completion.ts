// A short end of a string that is begun: of few bytes, with a number of characters in its window,
// and none of a set of strings. A search by breadth, after what can be said without one.

import type { TextRules } from "./text_rules.ts";
import { NO_WORDS, type WordSet, type WordSets } from "./word_sets.ts";

/** Places that a search visits before it gives up. */
const MAX_VISITS = 50_000;

interface Visit {
  readonly state: number;
  readonly characters: number;
  readonly avoided: WordSet;
  readonly from: Visit | undefined;
  readonly byte: number;
}

/** Bytes that end a string; undefined where a search for them takes too long. */
export function completeText(
  text: TextRules,
  state: number,
  characters: number,
  words: WordSets,
  avoided: WordSet = NO_WORDS,
): Uint8Array | undefined {
  const { automaton } = text;
  const padding = paddingOf(text, state, characters);
  for (let count = 0; count < padding.length; count++) characters = text.counted(characters);
  for (const byte of padding) avoided = words.after(avoided, byte);
  const shortest = automaton.completion(state);
  const ends = endsWith(text, state, characters, words, avoided, shortest);
  const rest = ends ? shortest : search(text, state, characters, words, avoided);
  return rest && Uint8Array.from([...padding, ...rest]);
}

/** One byte again and again, as often as the shortest end is too short. */
function paddingOf(text: TextRules, state: number, characters: number): Uint8Array {
  const { automaton, min } = text;
  const missing = min - characters - automaton.shortest(state);
  if (missing <= 0 || !automaton.isBoundary(state)) return new Uint8Array(0);
  for (let byte = 0x20; byte < 0x7f; byte++) {
    if (automaton.step(state, byte) === state) return new Uint8Array(missing).fill(byte);
  }
  return new Uint8Array(0);
}

function endsWith(
  text: TextRules,
  state: number,
  characters: number,
  words: WordSets,
  avoided: WordSet,
  bytes: Uint8Array,
): boolean {
  for (const byte of bytes) {
    state = text.automaton.step(state, byte);
    characters = text.charactersAt(state, characters);
    avoided = words.after(avoided, byte);
  }
  return characters <= text.max && text.isComplete(state, characters) && !words.hasEmpty(avoided);
}

function search(
  text: TextRules,
  state: number,
  characters: number,
  words: WordSets,
  avoided: WordSet,
): Uint8Array | undefined {
  const visited = new Set<string>();
  const queue: Visit[] = [{ state, characters, avoided, from: undefined, byte: 0 }];
  for (const visit of queue) {
    if (text.isComplete(visit.state, visit.characters) && !words.hasEmpty(visit.avoided)) {
      return pathTo(visit);
    }
    if (queue.length > MAX_VISITS) return undefined;
    for (let byte = 0; byte < 0xf5; byte++) {
      const next = text.automaton.step(visit.state, byte);
      if (next === 0) continue;
      const counted = text.charactersAt(next, visit.characters);
      if (!text.isFeasible(next, counted)) continue;
      const rest = words.after(visit.avoided, byte);
      const key = `${next},${counted},${rest}`;
      if (visited.has(key)) continue;
      visited.add(key);
      queue.push({ state: next, characters: counted, avoided: rest, from: visit, byte });
    }
  }
  return undefined;
}

function pathTo(visit: Visit): Uint8Array {
  const bytes: number[] = [];
  for (let at: Visit = visit; at.from; at = at.from) bytes.push(at.byte);
  return Uint8Array.from(bytes.reverse());
}
