// The fewest bytes that a string needs to end after its first bytes, with a number of characters
// within its limits, and different from some words. Ends are measured and not written, so a string
// of at least 10^9 characters takes no longer than one of three.

import type { Work } from "../../language/mod.ts";
import { NO_WORDS, type WordSet, type WordSets } from "../collections.ts";
import { positionKey, type TextRules } from "../texts/text_rules.ts";

/** Positions that a search visits before it gives up. */
const MAX_VISITS = 10_000;

/** Most characters of a path on which one byte is repeated, and most such paths from a position. */
const MAX_REPEATED = 256;
const MAX_STRAIGHT = 4;

/** Positions that a search for a path from a state back to it visits before it gives up. */
const MAX_LOOP_VISITS = 1000;

/**
 * Steps of work for all transitions of a position, in a search for an end and in one for a path back.
 */
const VISIT_STEPS = 60;

/** Steps of work for one transition on a path on which one byte is repeated. */
const REPEATED_STEPS = 2;

const LOOP_STEPS = 15;

/** The bytes of a path from a state back to it, and its number of characters. */
interface Loop {
  readonly bytes: Uint8Array;
  readonly characters: number;
}

/** The shortest end of a text of any length. */
interface PlainEnd {
  readonly bytes: Uint8Array;
  readonly characters: number;
}

/** The end of a character that has begun. */
interface Begun {
  readonly bytes: number;
  readonly state: number;
}

/** The results for one text. */
interface Known {
  /** By state: the lengths of ends if neither the number of characters nor words matter. */
  readonly lengths: (number | undefined)[];
  /** By state. */
  readonly loops: (Loop | undefined)[];
  readonly ends: (PlainEnd | undefined)[];
  /** By state within a character; null if it matters how the character ends. */
  readonly begun: (Begun | null | undefined)[];
  /** The results of searches, for all positions on their paths. */
  readonly found: Positions;
}

/** A position that a search visits. */
interface Position {
  readonly state: number;
  readonly characters: number;
  readonly avoided: WordSet;
}

interface Visit extends Position {
  readonly from: Visit | undefined;
}

/** Numbers by position. */
class Positions {
  /** By the words to avoid, then by state and number of characters as one number. */
  readonly #byWords = new Map<WordSet, Map<number, number>>();

  get({ state, characters, avoided }: Position): number | undefined {
    return this.#byWords.get(avoided)?.get(positionKey(state, characters));
  }

  set({ state, characters, avoided }: Position, value: number): void {
    let positions = this.#byWords.get(avoided);
    if (!positions) this.#byWords.set(avoided, positions = new Map());
    positions.set(positionKey(state, characters), value);
  }
}

const NO_LOOP: Loop = { bytes: new Uint8Array(0), characters: 0 };

/** Measures the ends of texts. */
export class TextEnds {
  readonly #words: WordSets;
  readonly #work: Work;
  readonly #known = new Map<TextRules, Known>();
  /** The text of the last question, because walks ask about one text for each node. */
  #lastText: TextRules | undefined;
  #lastKnown!: Known;

  /**
   * @param words contains the sets of strings to avoid
   * @param work limits searches
   */
  constructor(words: WordSets, work: Work) {
    this.#words = words;
    this.#work = work;
  }

  /** Bytes of a short end; Infinity if finding one takes too long. */
  length(text: TextRules, state: number, characters: number, avoided = NO_WORDS): number {
    const known = this.#knownOf(text);
    if (!text.isBounded && avoided === NO_WORDS && text.automaton.completionLength) {
      // A walk asks about the same few states for every token.
      let length = known.lengths[state];
      if (length === undefined) {
        length = text.automaton.completionLength(state);
        if (length < Infinity) known.lengths[state] = length;
      }
      return length;
    }
    const end = known.ends[state];
    if (avoided === NO_WORDS && end !== undefined) {
      const all = characters + end.characters;
      if (text.min <= all && all <= text.max) return end.bytes.length;
    }
    const begun = avoided === NO_WORDS ? this.#begun(text, known, state) : undefined;
    if (begun) {
      const rest = this.#padded(text, known, begun.state, characters + 1, NO_WORDS);
      if (rest < Infinity) return begun.bytes + rest;
    }
    const length = this.#padded(text, known, state, characters, avoided);
    return length < Infinity ? length : this.#search(text, known, state, characters, avoided);
  }

  #knownOf(text: TextRules): Known {
    if (text === this.#lastText) return this.#lastKnown;
    let known = this.#known.get(text);
    if (!known) {
      known = { lengths: [], loops: [], ends: [], begun: [], found: new Positions() };
      this.#known.set(text, known);
    }
    this.#lastText = text;
    return this.#lastKnown = known;
  }

  /** The end of a character that has begun, if all of its ends lead to the same state. */
  #begun(text: TextRules, known: Known, state: number): Begun | undefined {
    if (text.automaton.isBoundary(state)) return undefined;
    const found = known.begun[state];
    if (found !== undefined) return found ?? undefined;
    let bytes = 0;
    let reached = state;
    for (const byte of text.automaton.completion(state)) {
      if (text.automaton.isBoundary(reached)) break;
      reached = text.automaton.step(reached, byte);
      bytes++;
    }
    const begun = text.isUniform(reached) ? { bytes, state: reached } : null;
    known.begun[state] = begun;
    return begun ?? undefined;
  }

  /**
   * Bytes of a path back, as often as characters are missing, and of the shortest end; Infinity if
   * there is no such end.
   */
  #padded(
    text: TextRules,
    known: Known,
    state: number,
    characters: number,
    avoided: WordSet,
  ): number {
    const end = known.ends[state] ??= plainEnd(text, state);
    if (end.characters === Infinity) return Infinity;
    const missing = text.min - characters - end.characters;
    let padding = 0;
    if (missing > 0) {
      const loop = known.loops[state] ??= findLoop(text, state, this.#work);
      if (loop === NO_LOOP) return Infinity;
      const rounds = Math.ceil(missing / loop.characters);
      characters += rounds * loop.characters;
      padding = rounds * loop.bytes.length;
      for (let round = 0; round < rounds && avoided !== NO_WORDS; round++) {
        for (const byte of loop.bytes) avoided = this.#words.after(avoided, byte);
      }
    }
    if (characters + end.characters > text.max) return Infinity;
    for (let at = 0; at < end.bytes.length && avoided !== NO_WORDS; at++) {
      avoided = this.#words.after(avoided, end.bytes[at]!);
    }
    return this.#words.hasEmpty(avoided) ? Infinity : padding + end.bytes.length;
  }

  /** Searches breadth-first for a position from which a path back reaches the number of characters. */
  #search(
    text: TextRules,
    known: Known,
    state: number,
    characters: number,
    avoided: WordSet,
  ): number {
    const { found } = known;
    const start: Visit = { state, characters, avoided, from: undefined };
    const before = found.get(start);
    if (before !== undefined) return before;
    const keep = (end: Visit, length: number) => {
      // The path is stored, so that a document that follows it gets nearer to the end byte by byte.
      for (let at: Visit | undefined = end; at; at = at.from) found.set(at, length++);
      return length - 1;
    };
    const straight = avoided === NO_WORDS ? this.#straight(text, known, start) : undefined;
    if (straight) {
      const { state, characters } = straight;
      return keep(straight, this.#padded(text, known, state, characters, NO_WORDS));
    }
    const visited = new Positions();
    const queue = [start];
    for (const visit of queue) {
      const length = visit === start ? Infinity : found.get(visit) ??
        this.#padded(text, known, visit.state, visit.characters, visit.avoided);
      if (length < Infinity) return keep(visit, length);
      if (queue.length > MAX_VISITS) break;
      this.#work.charge(VISIT_STEPS);
      for (let byte = 0; byte < 0xf5; byte++) {
        const next = text.automaton.step(visit.state, byte);
        if (next === 0) continue;
        const counted = text.charactersAt(next, visit.characters);
        if (!text.isFeasible(next, counted)) continue;
        const rest = this.#words.after(visit.avoided, byte);
        const position = { state: next, characters: counted, avoided: rest, from: visit };
        if (visited.get(position) !== undefined) continue;
        visited.set(position, queue.length);
        queue.push(position);
      }
    }
    found.set(start, Infinity);
    return Infinity;
  }

  /**
   * A position from which a path back reaches the number of characters, on a path that repeats one
   * character. A pattern that depends on earlier characters has too many states to visit all;
   * repeating a character leads to one that depends on nothing.
   */
  #straight(text: TextRules, known: Known, start: Visit): Visit | undefined {
    if (!text.automaton.isBoundary(start.state)) return undefined;
    const tried = new Set<number>([0]);
    for (let byte = 0x20; byte < 0x7f && tried.size <= MAX_STRAIGHT; byte++) {
      const first = text.automaton.step(start.state, byte);
      if (tried.has(first) || !text.automaton.isBoundary(first)) continue;
      tried.add(first);
      const end = this.#repeating(text, known, start, byte);
      if (end) return end;
    }
    return undefined;
  }

  #repeating(text: TextRules, known: Known, start: Visit, byte: number): Visit | undefined {
    let at = start;
    for (let count = 0; count < MAX_REPEATED; count++) {
      this.#work.charge(REPEATED_STEPS);
      const state = text.automaton.step(at.state, byte);
      const characters = text.charactersAt(state, at.characters);
      if (state === 0 || !text.isFeasible(state, characters)) return undefined;
      const isSame = state === at.state;
      at = { state, characters, avoided: NO_WORDS, from: at };
      // If the character leads back, or continues as before, repeating it changes nothing more.
      if (isSame) break;
    }
    return this.#padded(text, known, at.state, at.characters, NO_WORDS) < Infinity ? at : undefined;
  }
}

/** The end with the fewest bytes. Its number of characters is Infinity if none is found in time. */
function plainEnd({ automaton }: TextRules, state: number): PlainEnd {
  const bytes = automaton.completion(state);
  let characters = 0;
  for (const byte of bytes) {
    state = automaton.step(state, byte);
    characters += Number(automaton.isBoundary(state));
  }
  const isEnd = automaton.isBoundary(state) && automaton.accepts(state);
  return { bytes, characters: isEnd ? characters : Infinity };
}

/** A short path from a state between characters back to it. */
function findLoop({ automaton }: TextRules, start: number, work: Work): Loop {
  if (!automaton.isBoundary(start)) return NO_LOOP;
  interface Step {
    readonly state: number;
    readonly byte: number;
    readonly from: Step | undefined;
  }
  const visited = new Set<number>();
  const queue: Step[] = [{ state: start, byte: -1, from: undefined }];
  for (const step of queue) {
    if (queue.length > MAX_LOOP_VISITS) return NO_LOOP;
    work.charge(LOOP_STEPS);
    for (let byte = 0x20; byte < 0xf5; byte++) {
      const state = automaton.step(step.state, byte);
      if (state === 0 || visited.has(state)) continue;
      visited.add(state);
      const next = { state, byte, from: step };
      if (state !== start) {
        queue.push(next);
        continue;
      }
      const bytes: number[] = [];
      let characters = 0;
      for (let at: Step = next; at.from; at = at.from) {
        bytes.push(at.byte);
        characters += Number(automaton.isBoundary(at.state));
      }
      return { bytes: Uint8Array.from(bytes.reverse()), characters };
    }
  }
  return NO_LOOP;
}
