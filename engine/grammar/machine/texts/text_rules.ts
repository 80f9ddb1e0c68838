// What a string may still be after its first bytes: an automaton of its language with a window on
// its number of characters. Exact also where not every length can be reached.

import { Work } from "../../language/mod.ts";
import type { WordSet } from "../collections/word_sets.ts";
import {
  BEYOND_ASCII,
  CLASS_MEMBERS,
  CLASS_OF,
  continuationsOf,
  EVERY_CLASS,
  holdsSeparators,
  isSeparator,
  LINE_SEPARATORS,
  secondBytesOf,
  UNSAFE,
} from "./character_classes.ts";
import { CountRange } from "./count_range.ts";

/** A deterministic automaton over bytes of text or of a JSON string's content; 0 is the only state without end. */
export interface TextAutomaton {
  readonly start: number;
  step(state: number, byte: number): number;
  /** Whether a step needs no work, which a mask may have used up. */
  isKnown?(state: number, byte: number): boolean;
  accepts(state: number): boolean;
  isBoundary(state: number): boolean;
  /** The states one character on, or at the end of one that is begun, where that is told at once. */
  next?(state: number): readonly number[];
  /** Whether a character may lead from a state back to it. */
  mayRepeat?(state: number): boolean;
  /** Fewest characters to acceptance, counting one that is begun. */
  shortest(state: number): number;
  /** A number of characters that acceptance takes at least, told without a search. */
  fewest?(state: number): number;
  /** Fewest bytes to acceptance. */
  completion(state: number): Uint8Array;
  /** The number of these bytes, found without spelling them out. */
  completionLength?(state: number): number;
  /** Whether no string holds U+2028 or U+2029, which a dot in patterns does not stand for. */
  readonly isWithoutSeparators?: boolean;
  /** Most characters that any text without escapes, and separators if so, lacks from here on; Infinity: unknown. */
  mostMissing?(state: number): number;
  /** The same in bytes. */
  mostBytesMissing?(state: number): number;
  /** The state that goes on as a state does of another automaton of the same language. */
  adopt?(other: TextAutomaton, state: number): number;
}

/** The bytes that begin a character beyond ASCII. */
const FIRST_BYTES: readonly number[] = [...Array(256).keys()].filter((byte) =>
  continuationsOf(byte) > 0
);

/** The bytes that may follow the second one of a character. */
const ANY_SECOND: readonly [number, number] = [0x80, 0xbf];

/** The line separators in UTF-8. */
const SEPARATORS = [[0xe2, 0x80, 0xa8], [0xe2, 0x80, 0xa9]];

/** Steps of work that a place takes which a search for a length visits. */
const SEARCH_STEPS = 4;

/** The same for the bytes that may go on a character that is begun, and for all that may follow a state. */
const CHARACTER_STEPS = 2;

const SUCCESSOR_STEPS = 10;

/** The strings of an automaton that have `min` to `max` characters. */
export class TextRules {
  readonly automaton: TextAutomaton;
  readonly min: number;
  readonly max: number;
  /** Whether the number of characters matters. */
  readonly isBounded: boolean;
  /** The classes of all characters without escapes that a string may hold. */
  readonly classes: number;
  /** By state. */
  readonly #loops: number[] = [];
  readonly #closed: boolean[] = [];
  readonly #shortest: number[] = [];
  /** By state and class. */
  readonly #targets: Int32Array[] = [];
  readonly #missing: number[] = [];
  readonly #missingWithin = new Map<number, number>();
  readonly #successors = new Map<number, readonly number[]>();
  readonly #feasible = new Map<string, boolean>();
  readonly #work: Work;

  /** @param work limits searches for strings of a number of characters */
  constructor(automaton: TextAutomaton, min = 0, max = Infinity, work = new Work()) {
    this.automaton = automaton;
    this.#work = work;
    this.min = min;
    this.max = max;
    this.isBounded = min > 0 || max < Infinity;
    this.classes = automaton.isWithoutSeparators ? EVERY_CLASS & ~LINE_SEPARATORS : EVERY_CLASS;
  }

  /** Whether any string begins so at all. */
  get isPossible(): boolean {
    return this.automaton.start !== 0 && this.isFeasible(this.automaton.start, 0);
  }

  /** Characters after one more, as far as their number matters. */
  counted(characters: number): number {
    return this.max === Infinity ? Math.min(characters + 1, this.min) : characters + 1;
  }

  /** Characters after a step to `next`. */
  charactersAt(next: number, characters: number): number {
    if (!this.isBounded) return 0;
    return this.automaton.isBoundary(next) ? this.counted(characters) : characters;
  }

  /** Whether the string may end. */
  isComplete(state: number, characters: number, range?: CountRange): boolean {
    if (!this.automaton.isBoundary(state) || !this.automaton.accepts(state)) return false;
    return range ? range.isAtLeast(characters, this.min) : characters >= this.min;
  }

  /** Whether the string can be completed within the window; `range` learns for which counts. */
  isFeasible(state: number, characters: number, range?: CountRange): boolean {
    if (!this.isBounded) return true;
    if (this.min > this.max) return false;
    const questions = range ?? new CountRange();
    const shortest = this.#shortestFrom(state);
    if (!questions.isAtMost(characters, this.max - shortest)) return false;
    const isLongEnough = characters >= this.min - shortest;
    if (!isLongEnough) {
      if (this.#repeats(state)) return true;
      const missing = this.automaton.isBoundary(state) ? this.mostMissing(state, 0) : Infinity;
      if (missing < Infinity && questions.isAtMost(characters, this.max - missing)) return true;
    }
    if (questions.isAtLeast(characters, this.min - shortest)) return true;
    questions.narrow();
    const key = `${state},${characters}`;
    let feasible = this.#feasible.get(key);
    if (feasible === undefined) {
      feasible = this.#reaches(state, characters);
      this.#feasible.set(key, feasible);
    }
    return feasible;
  }

  /** Characters that may come before the shortest end after them is too long. */
  roomAt(state: number, characters: number): number {
    return this.max === Infinity ? Infinity : this.max - characters - this.#shortestFrom(state);
  }

  #shortestFrom(state: number): number {
    return this.#shortest[state] ??= this.automaton.shortest(state);
  }

  /** The classes whose every character leads from a state back to it. */
  loopsAt(state: number): number {
    return this.#loops[state] ??= this.automaton.isBoundary(state) ? this.#findLoops(state) : 0;
  }

  /** Whether what is in no class of its loops leads nowhere, but for escapes. */
  isClosed(state: number): boolean {
    return this.#closed[state] ??= this.#findClosed(state);
  }

  #findClosed(state: number): boolean {
    const loops = this.loopsAt(state);
    const isLineSettled = (loops & LINE_SEPARATORS) !== 0 || this.#targetOfSeparators(state) === 0;
    if (!isLineSettled) return false;
    for (let byte = 0x20; byte < 0xf5; byte++) {
      const classes = byte < 0x80 ? CLASS_OF[byte]! : BEYOND_ASCII;
      const isOut = classes !== UNSAFE && (classes & loops) === 0;
      if (isOut && this.automaton.step(state, byte) !== 0) return false;
    }
    return loops !== 0;
  }

  /**
   * Most characters that any text of all `classes` lacks once it has come to `state` by `byte`, beyond
   * one that is begun; Infinity: some text cannot be completed, or there is no telling.
   */
  mostMissing(state: number, byte: number): number {
    if (this.automaton.isBoundary(state)) {
      return this.#missing[state] ??= this.#missingAt(state);
    }
    if (byte < 0x80) return Infinity;
    const key = state * 256 + byte;
    let missing = this.#missingWithin.get(key);
    if (missing === undefined) {
      missing = this.#missingAfter(state, continuationsOf(byte), secondBytesOf(byte), byte);
      this.#missingWithin.set(key, missing);
    }
    return missing;
  }

  /**
   * Most bytes that any text of all `classes` lacks, of so many characters at most from a state between
   * characters on, beyond a character that is begun; Infinity: unknown.
   */
  mostBytesMissing(state: number, characters: number, height: number): number {
    if (this.max < Infinity) {
      // After the longest text, and what makes up the least number, there must be room for an end.
      const most = this.mostMissing(state, 0);
      if (Math.max(characters + height, this.min) + most > this.max) return Infinity;
    }
    // A character that only makes up the number takes one byte.
    const padding = Math.max(this.min - characters, 0);
    return padding + (this.automaton.mostBytesMissing?.(state) ?? Infinity);
  }

  #missingAt(state: number): number {
    const missing = this.automaton.mostMissing?.(state) ?? Infinity;
    if (missing < Infinity || this.loopsAt(state) !== this.classes) return missing;
    return this.automaton.shortest(state);
  }

  /** The same after all ends of a begun character. */
  #missingAfter(
    state: number,
    left: number,
    [low, high]: readonly [number, number],
    begun: number,
  ): number {
    if (state === 0) return Infinity;
    if (left === 0) return this.mostMissing(state, 0);
    this.#work.charge(CHARACTER_STEPS);
    let most = 0;
    let before = -1;
    const isOpen = (this.classes & LINE_SEPARATORS) !== 0;
    for (let byte = low; byte <= high && most < Infinity; byte++) {
      if (!isOpen && isSeparator(begun, byte)) continue;
      const next = this.automaton.step(state, byte);
      const prefix = begun << 8 | byte;
      const isSame = next === before && !holdsSeparators(prefix, left - 1);
      if (!isSame) most = Math.max(most, this.#missingAfter(next, left - 1, ANY_SECOND, prefix));
      before = holdsSeparators(prefix, left - 1) ? -1 : next;
    }
    return most;
  }

  /** Whether any text of some classes and so many characters can be completed. */
  takesAll(
    state: number,
    characters: number,
    classes: number,
    count: number,
    range: CountRange,
  ): boolean {
    const loops = this.loopsAt(state);
    if (loops !== 0) {
      return (classes & ~loops) === 0 && range.isAtMost(count, this.roomAt(state, characters));
    }
    for (let left = count; left > 0; left--) {
      const next = this.#targetOfAll(state, classes);
      if (next <= 0) return false;
      if (next === state) return range.isAtMost(left, this.roomAt(state, characters));
      state = next;
      characters++;
      if (!this.isFeasible(state, characters, range)) return false;
    }
    return true;
  }

  #targetOfAll(state: number, classes: number): number {
    let target = -1;
    for (let left = classes; left !== 0; left &= left - 1) {
      const next = this.#targetOfClass(state, 31 - Math.clz32(left & -left));
      if (next <= 0 || (target >= 0 && next !== target)) return 0;
      target = next;
    }
    return target;
  }

  /** The one state that all characters of a class lead to; 0: there is none. */
  #targetOfClass(state: number, index: number): number {
    const targets = this.#targets[state] ??= new Int32Array(32).fill(-1);
    if (targets[index]! < 0) targets[index] = this.#findTarget(state, index);
    return targets[index]!;
  }

  #findTarget(state: number, index: number): number {
    if (!this.automaton.isBoundary(state)) return 0;
    if (1 << index === LINE_SEPARATORS) return this.#targetOfSeparators(state);
    const isBeyond = 1 << index === BEYOND_ASCII;
    let target = -1;
    for (const byte of isBeyond ? FIRST_BYTES : CLASS_MEMBERS[index] ?? []) {
      const next = this.automaton.step(state, byte);
      const reached = this.#targetAfter(next, continuationsOf(byte), secondBytesOf(byte), byte);
      if (reached === 0 || (target >= 0 && reached !== target)) return 0;
      target = reached;
    }
    return Math.max(target, 0);
  }

  /** The one state that all ends of a begun character lead to; 0: there is none. */
  #targetAfter(
    state: number,
    left: number,
    [low, high]: readonly [number, number],
    begun: number,
  ): number {
    if (left === 0 || state === 0) return state;
    this.#work.charge(CHARACTER_STEPS);
    let target = -1;
    let before = -1;
    for (let byte = low; byte <= high; byte++) {
      if (isSeparator(begun, byte)) continue;
      const next = this.automaton.step(state, byte);
      const prefix = begun << 8 | byte;
      if (next === before && !holdsSeparators(prefix, left - 1)) continue;
      before = holdsSeparators(prefix, left - 1) ? -1 : next;
      const reached = this.#targetAfter(next, left - 1, ANY_SECOND, prefix);
      if (reached === 0 || (target >= 0 && reached !== target)) return 0;
      target = reached;
    }
    return target;
  }

  #targetOfSeparators(state: number): number {
    const [first, second] = SEPARATORS.map((bytes) =>
      bytes.reduce((at, byte) => at === 0 ? 0 : this.automaton.step(at, byte), state)
    );
    return first === second ? first! : 0;
  }

  #findLoops(state: number): number {
    let loops = 0;
    if (this.automaton.mayRepeat?.(state) === false) return loops;
    for (let index = 0; 1 << index <= LINE_SEPARATORS; index++) {
      if (this.#targetOfClass(state, index) === state) loops |= 1 << index;
    }
    return loops;
  }

  /** Whether some character leads back to a state, so that every greater length is reached. */
  #repeats(state: number): boolean {
    return this.automaton.isBoundary(state) && this.nextOf(state).includes(state);
  }

  /** Whether all characters that may come in a state, however they are spelled, lead back to it. */
  isUniform(state: number): boolean {
    return this.automaton.isBoundary(state) && this.nextOf(state).every((next) => next === state);
  }

  /** The states one character on, or at the end of the one that is begun. */
  nextOf(state: number): readonly number[] {
    return this.#successors.get(state) ?? [...this.#successorsOf(state)];
  }

  /** Looks in depth for a string within the window: most ways on lead to one. */
  #reaches(start: number, characters: number): boolean {
    const low = this.min - characters;
    const high = this.max - characters;
    const failed = new Set<string>();
    const onPath = new Map<number, number>();
    const path: Way[] = [];
    const enter = (state: number): boolean => {
      const count = path.length;
      this.#work.charge(SEARCH_STEPS);
      const shortest = count + this.#shortestFrom(state);
      if (shortest > high) return false;
      if (shortest >= low || this.#repeats(state)) return true;
      const missing = this.automaton.isBoundary(state) ? this.mostMissing(state, 0) : Infinity;
      if (count + missing <= high) return true;
      const before = onPath.get(state);
      if (before !== undefined) {
        // What led back to the state can do so as often as characters are missing.
        const period = count - before;
        if (shortest + Math.ceil((low - shortest) / period) * period <= high) return true;
      }
      const key = `${state},${count}`;
      if (failed.has(key)) return false;
      failed.add(key);
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
      // Whoever follows this way asks at each place of it.
      for (const { state } of path) {
        this.#feasible.set(`${state},${characters}`, true);
        characters = this.counted(characters);
      }
      return true;
    }
    return false;
  }

  /** The states one character on, as they are found: few of them may do. */
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

/** A place on the way of a search, and where it may go from there. */
interface Way {
  readonly state: number;
  /** Whether the state comes for the first time on this way. */
  readonly isFirst: boolean;
  readonly next: Generator<number>;
}

/** A place in a text. */
export interface TextPlace {
  readonly text: TextRules;
  readonly state: number;
  readonly characters: number;
  /** What the rest of the text must not be. */
  readonly avoided: WordSet;
}
