// What may follow the first bytes of a string: an automaton of its language, with limits of its
// number of characters. This is exact even if not every number can be reached.

import { Work } from "../../language/mod.ts";
import type { WordSet } from "../collections/word_sets.ts";
import {
  ANY_SECOND,
  continuationsOf,
  EVERY_CLASS,
  holdsSeparators,
  isSeparator,
  LINE_SEPARATORS,
  secondBytesOf,
} from "./character_classes.ts";
import { CHARACTER_STEPS, ClassTargets } from "./class_targets.ts";
import { CountRange } from "./count_range.ts";
import type { TextAutomaton } from "./text_automaton.ts";

/** Steps of work for a place that a search for a length visits. */
const SEARCH_STEPS = 4;

/** Steps of work for all characters that may follow a state. */
const SUCCESSOR_STEPS = 10;

/** A number above the states of any automaton. */
const BEYOND_STATES = 2 ** 26;

/** A state after a number of characters, as one number. */
export function placeOf(state: number, characters: number): number {
  return characters * BEYOND_STATES + state;
}

/** The strings of an automaton that have `min` to `max` characters. */
export class TextRules {
  readonly automaton: TextAutomaton;
  readonly min: number;
  readonly max: number;
  /** Whether the number of characters matters. */
  readonly isBounded: boolean;
  /** The classes of all characters without escapes that a string may contain. */
  readonly classes: number;
  readonly #targets: ClassTargets;
  /** By state. */
  readonly #shortest: number[] = [];
  /**
   * By state: for all texts, and for those without line separators; within characters by state and
   * byte.
   */
  readonly #missing: readonly [number[], number[]] = [[], []];
  readonly #missingWithin = [new Map<number, number>(), new Map<number, number>()] as const;
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
    this.#targets = new ClassTargets(automaton, work);
    this.#work = work;
    this.min = min;
    this.max = max;
    this.isBounded = min > 0 || max < Infinity;
    this.classes = automaton.isWithoutSeparators ? EVERY_CLASS & ~LINE_SEPARATORS : EVERY_CLASS;
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
    return range ? range.isAtLeast(characters, this.min) : characters >= this.min;
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
    return this.#repeats(state) || this.#openMissing(state) < Infinity;
  }

  /** Whether the string can end within limits that include an upper one. */
  #fitsIn(state: number, characters: number, range: CountRange): boolean {
    const shortest = this.#shortestFrom(state);
    if (!range.isAtMost(characters, this.max - shortest)) return false;
    const isLongEnough = characters >= this.min - shortest;
    if (!isLongEnough) {
      if (this.#repeats(state)) return true;
      const missing = this.#openMissing(state);
      if (missing < Infinity && range.isAtMost(characters, this.max - missing)) return true;
    }
    if (range.isAtLeast(characters, this.min - shortest)) return true;
    range.narrow();
    const key = placeOf(state, characters);
    let feasible = this.#feasible.get(key);
    if (feasible === undefined) {
      feasible = this.#reaches(state, characters);
      this.#feasible.set(key, feasible);
    }
    return feasible;
  }

  /** Number of characters that may come before the shortest end after them is too long. */
  charactersLeft(state: number, characters: number): number {
    return this.max === Infinity ? Infinity : this.max - characters - this.#shortestFrom(state);
  }

  #shortestFrom(state: number): number {
    return this.#shortest[state] ??= this.automaton.shortest(state);
  }

  /** The classes whose every character leads from a state back to it. */
  loopsAt(state: number): number {
    return this.#targets.loopsAt(state);
  }

  /**
   * Whether there are characters that may come without escapes, and all of them lead back to a
   * state.
   */
  isClosed(state: number): boolean {
    return this.#targets.isClosed(state);
  }

  /**
   * The classes of which any text can be completed, once a byte has led to `state`: all classes,
   * all except line separators, or 0 if some text cannot be completed or that is not known.
   */
  openClasses(state: number, byte: number): number {
    if (this.mostMissing(state, byte) < Infinity) return this.classes;
    const others = this.classes & ~LINE_SEPARATORS;
    return others !== this.classes && this.mostMissing(state, byte, others) < Infinity ? others : 0;
  }

  /** Most characters that some text of any length lacks; Infinity: unknown. */
  #openMissing(state: number): number {
    if (!this.automaton.isBoundary(state)) return Infinity;
    const classes = this.openClasses(state, 0);
    return classes === 0 ? Infinity : this.mostMissing(state, 0, classes);
  }

  /**
   * Most characters that any text of some classes lacks (all, or all except line separators) once a
   * byte has led to `state`, beyond a character that has begun; Infinity if some text cannot be
   * completed, or that is not known.
   */
  mostMissing(state: number, byte: number, classes = this.classes): number {
    const kind = (classes & LINE_SEPARATORS) === 0 ? 1 : 0;
    if (this.automaton.isBoundary(state)) {
      return this.#missing[kind][state] ??= this.#missingAt(state, classes);
    }
    if (byte < 0x80) return Infinity;
    const key = state * 256 + byte;
    let missing = this.#missingWithin[kind].get(key);
    if (missing === undefined) {
      missing = this.#missingAfter(
        state,
        continuationsOf(byte),
        secondBytesOf(byte),
        byte,
        classes,
      );
      this.#missingWithin[kind].set(key, missing);
    }
    return missing;
  }

  #missingAt(state: number, classes: number): number {
    const isWithout = (classes & LINE_SEPARATORS) === 0;
    const missing = this.automaton.mostMissing?.(state, isWithout) ?? Infinity;
    if (missing < Infinity || (classes & ~this.loopsAt(state)) !== 0) return missing;
    return this.automaton.shortest(state);
  }

  /** The same after all ends of a begun character. */
  #missingAfter(
    state: number,
    left: number,
    [low, high]: readonly [number, number],
    begun: number,
    classes: number,
  ): number {
    if (state === 0) return Infinity;
    if (left === 0) return this.mostMissing(state, 0, classes);
    this.#work.charge(CHARACTER_STEPS);
    let most = 0;
    let before = -1;
    const isOpen = (classes & LINE_SEPARATORS) !== 0;
    for (let byte = low; byte <= high && most < Infinity; byte++) {
      if (!isOpen && isSeparator(begun, byte)) continue;
      const next = this.automaton.step(state, byte);
      const prefix = begun << 8 | byte;
      const isSame = next === before && !holdsSeparators(prefix, left - 1);
      if (!isSame) {
        most = Math.max(most, this.#missingAfter(next, left - 1, ANY_SECOND, prefix, classes));
      }
      before = holdsSeparators(prefix, left - 1) ? -1 : next;
    }
    return most;
  }

  /** Whether any text of some classes with so many characters can be completed. */
  takesAll(
    state: number,
    characters: number,
    classes: number,
    count: number,
    range: CountRange,
  ): boolean {
    const loops = this.loopsAt(state);
    if (loops !== 0) {
      return (classes & ~loops) === 0 &&
        range.isAtMost(count, this.charactersLeft(state, characters));
    }
    for (let left = count; left > 0; left--) {
      const next = this.#targets.ofAll(state, classes);
      if (next <= 0) return false;
      if (next === state) return range.isAtMost(left, this.charactersLeft(state, characters));
      state = next;
      characters++;
      if (!this.isFeasible(state, characters, range)) return false;
    }
    return true;
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
      const missing = this.#openMissing(state);
      if (missing < Infinity && count + missing <= high) return true;
      const before = onPath.get(state);
      if (before !== undefined) {
        // A character that leads back to the state can do so as often as characters are missing.
        const period = count - before;
        if (shortest + Math.ceil((low - shortest) / period) * period <= high) return true;
      }
      isEndless = false;
      const key = placeOf(state, count);
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
      // A document that follows this path asks at each place of it.
      for (const { state } of path) {
        if (high < Infinity) this.#feasible.set(placeOf(state, characters), true);
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

/** A place on the path of a search, and the states that may follow. */
interface Way {
  readonly state: number;
  /** Whether the state occurs for the first time on this path. */
  readonly isFirst: boolean;
  readonly next: Generator<number>;
}

/** A place in a text. */
export interface TextPlace {
  readonly text: TextRules;
  readonly state: number;
  readonly characters: number;
  /** The words from which the rest of the text must differ. */
  readonly avoided: WordSet;
}
