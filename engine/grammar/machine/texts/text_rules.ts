// What may follow the first bytes of a string: an automaton of its language, with limits of its
// number of characters. This is exact even if not every number can be reached.

import { EVERY_CLASS, type PlainTexts, Work } from "../../language/mod.ts";
import type { WordSet } from "../collections.ts";
import type { TextAutomaton } from "./text_automaton.ts";

/** Steps of work for a position that a search for a length visits. */
const SEARCH_STEPS = 4;

/** Steps of work for finding where some classes of characters lead. */
const TARGET_STEPS = 0.25;

/** Steps of work for all characters that may follow a state. */
const SUCCESSOR_STEPS = 10;

/** A number above the states of any automaton. */
const BEYOND_STATES = 2 ** 26;

/** A state after a number of characters, as one number. */
export function positionKey(state: number, characters: number): number {
  return characters * BEYOND_STATES + state;
}

/**
 * The numbers of characters for which all comparisons so far have the same results: a mask of a string
 * that may have 60,000 more characters is also right for 59,000.
 */
export class CountRange {
  /** How much smaller and greater the number may be. */
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

  /** Notes that a result holds for one number only. */
  narrow(): void {
    this.#down = this.#up = 0;
  }

  /** The fewest and most characters, if the comparisons were made starting from `characters`. */
  around(characters: number): readonly [fewest: number, most: number] {
    return [characters - this.#down, characters + this.#up];
  }
}

/** The strings of an automaton that have `min` to `max` characters. */
export class TextRules {
  readonly automaton: TextAutomaton;
  readonly min: number;
  readonly max: number;
  /** Whether the number of characters matters. */
  readonly isBounded: boolean;
  /** By state. */
  readonly #shortest: number[] = [];
  readonly #missing: number[] = [];
  readonly #loops: number[] = [];
  readonly #successors = new Map<number, readonly number[]>();
  /** By state and number of characters, for texts with an upper limit. */
  readonly #feasible = new Map<number, boolean>();
  /**
   * By state, for texts without an upper limit: with this many characters they can get long enough.
   */
  readonly #enough: number[] = [];
  /** By state: with this many characters they cannot. */
  readonly #tooFew: number[] = [];
  readonly #work: Work;

  /** @param work limits searches for strings of a number of characters */
  constructor(automaton: TextAutomaton, min = 0, max = Infinity, work = new Work()) {
    this.automaton = automaton;
    this.#work = work;
    this.min = min;
    this.max = max;
    this.isBounded = min > 0 || max < Infinity;
  }

  /** Whether any string has these first bytes. */
  get isPossible(): boolean {
    return this.automaton.start !== 0 && this.isFeasible(this.automaton.start, 0);
  }

  /** The number of characters after one more, up to the number that matters. */
  counted(characters: number): number {
    return this.max === Infinity ? Math.min(characters + 1, this.min) : characters + 1;
  }

  /** The number of characters after a step to `next`. */
  charactersAt(next: number, characters: number): number {
    if (!this.isBounded) return 0;
    return this.automaton.isBoundary(next) ? this.counted(characters) : characters;
  }

  /** Whether the string may end. */
  isComplete(state: number, characters: number, range?: CountRange): boolean {
    if (!this.automaton.isBoundary(state) || !this.automaton.accepts(state)) return false;
    if (!this.isBounded) return true;
    return range
      ? range.isAtLeast(characters, this.min) && range.isAtMost(characters, this.max)
      : characters >= this.min && characters <= this.max;
  }

  /**
   * Whether the string can be completed within the limits. `range` notes for which numbers that
   * holds.
   */
  isFeasible(state: number, characters: number, range?: CountRange): boolean {
    if (!this.isBounded) return true;
    if (this.min > this.max) return false;
    if (this.max === Infinity) return this.#canBeLong(state, characters, range);
    // A walk asks this at each node, and most texts are long enough already.
    const length = characters + this.#shortestFrom(state);
    if (range === undefined && this.min <= length && length <= this.max) return true;
    return this.#fitsIn(state, characters, range ?? new CountRange());
  }

  /**
   * Whether the string can get as long as it has to, if it has no upper limit. What is possible
   * with a number of characters is possible with greater ones, so two numbers for each state are
   * enough.
   */
  #canBeLong(state: number, characters: number, range: CountRange | undefined): boolean {
    let enough = this.#enough[state];
    if (enough === undefined) {
      const shortest = this.#shortestFrom(state);
      if (shortest === Infinity) return false;
      this.#enough[state] = enough = this.min - shortest;
    }
    if (characters < enough && !(characters <= this.#tooFew[state]!)) {
      if (this.#goesOn(state)) this.#enough[state] = -Infinity;
      else if (this.#reaches(state, characters)) this.#noteEnough(state, characters);
      else this.#tooFew[state] = characters;
      enough = this.#enough[state]!;
    }
    if (characters >= enough) {
      range?.isAtLeast(characters, enough);
      return true;
    }
    range?.isAtMost(characters, this.#tooFew[state]!);
    return false;
  }

  #noteEnough(state: number, characters: number): void {
    this.#enough[state] = Math.min(this.#enough[state] ?? Infinity, characters);
  }

  /** Whether a string in a state can get arbitrarily long, as far as is known without a search. */
  #goesOn(state: number): boolean {
    return this.#repeats(state) || this.mostMissing(state) < Infinity;
  }

  /** Whether the string can end within limits that include an upper one. */
  #fitsIn(state: number, characters: number, range: CountRange): boolean {
    const shortest = this.#shortestFrom(state);
    if (!range.isAtMost(characters, this.max - shortest)) return false;
    const isLongEnough = characters >= this.min - shortest;
    if (!isLongEnough) {
      if (this.#repeats(state)) return true;
      const missing = this.mostMissing(state);
      if (missing < Infinity && range.isAtMost(characters, this.max - missing)) return true;
      if (this.#mayGoOn(state, characters, range)) return true;
    }
    if (range.isAtLeast(characters, this.min - shortest)) return true;
    range.narrow();
    const key = positionKey(state, characters);
    let feasible = this.#feasible.get(key);
    if (feasible === undefined) {
      feasible = this.#reaches(state, characters);
      this.#feasible.set(key, feasible);
    }
    return feasible;
  }

  /** Whether some characters may come on and on, until an end that is near enough. */
  #mayGoOn(state: number, characters: number, range: CountRange): boolean {
    const missing = this.plainTexts(state)?.missing ?? Infinity;
    return this.min + missing <= this.max && range.isAtMost(characters, this.max - missing);
  }

  /**
   * The plain texts of at most `longest` characters that may come at a position, if they are all
   * those of some classes up to a length. Undefined if that is not so, or not known. `range` notes
   * for which numbers of characters that holds. Errors: OutOfWork.
   */
  plainTextsWithin(
    state: number,
    characters: number,
    longest: number,
    range: CountRange,
  ): PlainTextsWithin | undefined {
    const open = this.mostMissing(state);
    const isOpen = open < Infinity &&
      (!this.isBounded || range.isAtMost(characters + longest, this.max - open));
    if (isOpen) return { classes: EVERY_CLASS, most: longest };
    const texts = this.plainTexts(state);
    if (!texts) return undefined;
    const { classes, most } = texts;
    const isFree = !this.isBounded ||
      most === Infinity && this.#mayGoOn(state, characters + longest, range);
    if (isFree) return { classes, most };
    const found = this.mostOf(classes, state, characters, Math.min(most, longest), range);
    return found === undefined ? undefined : { classes, most: found };
  }

  /**
   * How many characters of some classes may come at a position, up to `longest`, whatever they are.
   * Undefined if it is not seen that each number of them leads to one state. `range` notes for which
   * numbers of characters that holds. Errors: OutOfWork.
   */
  mostOf(
    classes: number,
    state: number,
    characters: number,
    longest: number,
    range: CountRange,
  ): number | undefined {
    for (let count = 0; count < longest; count++) {
      if ((classes & ~this.loops(state)) === 0) {
        const left = this.charactersLeft(state, characters + count);
        if (range.isAtMost(longest - count, left)) return longest;
        range.narrow();
        return count + left;
      }
      this.#work.charge(TARGET_STEPS);
      const next = this.automaton.targetOf?.(state, classes);
      if (next === undefined) return undefined;
      if (next === 0 || !this.isFeasible(next, characters + count + 1, range)) return count;
      state = next;
    }
    return longest;
  }

  /** Number of characters that may come before the shortest end after them is too long. */
  charactersLeft(state: number, characters: number): number {
    return this.max === Infinity ? Infinity : this.max - characters - this.#shortestFrom(state);
  }

  #shortestFrom(state: number): number {
    return this.#shortest[state] ??= this.automaton.shortest(state);
  }

  /** The classes of characters that all lead from a state back to it. Errors: OutOfWork. */
  loops(state: number): number {
    return this.#loops[state] ??= this.automaton.loops?.(state) ?? 0;
  }

  /** The plain texts that may come, if they are all those of some classes up to a length. */
  plainTexts(state: number): PlainTexts | undefined {
    return this.automaton.plainTexts?.(state);
  }

  /**
   * Most characters that any plain text lacks from a state on, if it may have any greater number as
   * well; Infinity: unknown.
   */
  mostMissing(state: number): number {
    return this.#missing[state] ??= this.automaton.mostMissing?.(state) ?? Infinity;
  }

  /** Whether some character leads back to a state, so that every greater number is reached. */
  #repeats(state: number): boolean {
    return this.automaton.isBoundary(state) && this.nextOf(state).includes(state);
  }

  /** Whether all characters that may come in a state, with and without escapes, lead back to it. */
  isUniform(state: number): boolean {
    return this.automaton.isBoundary(state) && this.nextOf(state).every((next) => next === state);
  }

  /** The states after one more character, or after the one that has begun. */
  nextOf(state: number): readonly number[] {
    return this.#successors.get(state) ?? [...this.#successorsOf(state)];
  }

  /** Searches depth-first for a string within the limits, since most paths lead to one. */
  #reaches(start: number, characters: number): boolean {
    const low = this.min - characters;
    const high = this.max - characters;
    const visited = new Set<number>();
    // Whether the string can get arbitrarily long on the path that was found.
    let isEndless = false;
    const onPath = new Map<number, number>();
    const path: Way[] = [];
    const enter = (state: number): boolean => {
      const count = path.length;
      this.#work.charge(SEARCH_STEPS);
      const shortest = count + this.#shortestFrom(state);
      if (shortest > high || shortest === Infinity) return false;
      if (high === Infinity) {
        isEndless = this.#enough[state] === -Infinity;
        if (this.#enough[state]! <= characters + count) return true;
      }
      if (shortest >= low) return true;
      isEndless = true;
      if (this.#repeats(state)) return true;
      const missing = this.mostMissing(state);
      if (missing < Infinity && count + missing <= high) return true;
      const before = onPath.get(state);
      if (before !== undefined) {
        // A character that leads back to the state can do so as often as characters are missing.
        const period = count - before;
        if (shortest + Math.ceil((low - shortest) / period) * period <= high) return true;
      }
      isEndless = false;
      const key = positionKey(state, count);
      if (visited.has(key)) return false;
      visited.add(key);
      if (before === undefined) onPath.set(state, count);
      path.push({ state, isFirst: before === undefined, next: this.#successorsOf(state) });
      return false;
    };
    if (enter(start)) return true;
    for (let way = path.at(-1); way; way = path.at(-1)) {
      const next = way.next.next();
      if (next.done) {
        path.pop();
        if (way.isFirst) onPath.delete(way.state);
        continue;
      }
      if (!enter(next.value)) continue;
      // A document that follows this path asks at each position of it.
      for (const { state } of path) {
        if (high < Infinity) this.#feasible.set(positionKey(state, characters), true);
        else this.#noteEnough(state, isEndless ? -Infinity : characters);
        characters = this.counted(characters);
      }
      return true;
    }
    return false;
  }

  /** The states after one more character, one by one, because few of them may be enough. */
  *#successorsOf(state: number): Generator<number> {
    let known = this.#successors.get(state);
    if (!known && this.automaton.next) {
      this.#work.charge(SUCCESSOR_STEPS);
      this.#successors.set(state, known = this.automaton.next(state));
    }
    if (known) {
      yield* known;
      return;
    }
    const boundaries = new Set<number>();
    const within = new Set([state]);
    for (const from of within) {
      this.#work.charge(SUCCESSOR_STEPS);
      for (let byte = 0; byte < 0xf5; byte++) {
        const next = this.automaton.step(from, byte);
        if (next === 0) continue;
        if (!this.automaton.isBoundary(next)) within.add(next);
        else if (!boundaries.has(next)) {
          boundaries.add(next);
          yield next;
        }
      }
    }
    this.#successors.set(state, [...boundaries]);
  }
}

/** A position on the path of a search, and the states that may follow. */
interface Way {
  readonly state: number;
  /** Whether the state occurs for the first time on this path. */
  readonly isFirst: boolean;
  readonly next: Generator<number>;
}

/** The plain texts that may come: all of some classes of characters, up to a length. */
export type PlainTextsWithin = Pick<PlainTexts, "classes" | "most">;

export interface TextPosition {
  readonly text: TextRules;
  readonly state: number;
  readonly characters: number;
  /** The words from which the rest of the text must differ. */
  readonly avoided: WordSet;
}
