// What a string may still be after its first bytes: an automaton of its language with a window on
// its number of characters. Exact also where not every length can be reached.

import { MachineError } from "./errors.ts";
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
  /** Whether some steps may lead nowhere for want of time. */
  readonly isSpent?: boolean;
  step(state: number, byte: number): number;
  accepts(state: number): boolean;
  isBoundary(state: number): boolean;
  /** Fewest characters to acceptance, counting one that is begun. */
  shortest(state: number): number;
  /** Fewest bytes to acceptance. */
  completion(state: number): Uint8Array;
  /** The number of these bytes, found without spelling them out. */
  completionLength?(state: number): number;
  /** Whether no string holds U+2028 or U+2029, which a dot in patterns does not stand for. */
  readonly isWithoutSeparators?: boolean;
  /** Most characters that any text without escapes, and separators if so, lacks from here on; Infinity: unknown. */
  mostMissing?(state: number): number;
}

/** The bytes that begin a character beyond ASCII. */
const FIRST_BYTES: readonly number[] = [...Array(256).keys()].filter((byte) =>
  continuationsOf(byte) > 0
);

/** The bytes that may follow the second one of a character. */
const ANY_SECOND: readonly [number, number] = [0x80, 0xbf];

/** The line separators in UTF-8. */
const SEPARATORS = [[0xe2, 0x80, 0xa8], [0xe2, 0x80, 0xa9]];

/** States that a search for a length visits before it gives up. */
const MAX_VISITS = 1_000_000;

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

  constructor(automaton: TextAutomaton, min = 0, max = Infinity) {
    this.automaton = automaton;
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
    const questions = range ?? new CountRange();
    const shortest = this.#shortestFrom(state);
    if (!questions.isAtMost(characters, this.max - shortest)) return false;
    const isLongEnough = characters >= this.min - shortest;
    if (!isLongEnough && this.#repeats(state)) return true;
    if (questions.isAtLeast(characters, this.min - shortest)) return true;
    questions.narrow();
    const key = `${state},${characters}`;
    let feasible = this.#feasible.get(key);
    if (feasible === undefined) {
      if (!this.#isSure) return false;
      feasible = this.#reaches(state, this.min - characters, this.max - characters);
      if (feasible || this.#isSure) this.#feasible.set(key, feasible);
    }
    return feasible;
  }

  /** Characters that may come before the shortest end after them is too long. */
  roomAt(state: number, characters: number): number {
    return this.max === Infinity ? Infinity : this.max - characters - this.#shortestFrom(state);
  }

  #shortestFrom(state: number): number {
    const known = this.#shortest[state] ?? this.automaton.shortest(state);
    if (this.#isSure) this.#shortest[state] = known;
    return known;
  }

  /** The classes whose every character leads from a state back to it. */
  loopsAt(state: number): number {
    const known = this.#loops[state];
    if (known !== undefined) return known;
    if (!this.#isSure) return 0;
    const loops = this.automaton.isBoundary(state) ? this.#findLoops(state) : 0;
    if (this.#isSure) this.#loops[state] = loops;
    return loops;
  }

  /** Whether what is in no class of its loops leads nowhere, but for escapes. */
  isClosed(state: number): boolean {
    const known = this.#closed[state];
    if (known !== undefined) return known;
    if (!this.#isSure) return false;
    const isClosed = this.#findClosed(state);
    if (this.#isSure) this.#closed[state] = isClosed;
    return isClosed;
  }

  /** Whether what is found of the automaton holds for good. Where it does not, there is no time to look. */
  get #isSure(): boolean {
    return this.automaton.isSpent !== true;
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
      const known = this.#missing[state];
      if (known !== undefined) return known;
      if (!this.#isSure) return Infinity;
      const missing = this.#missingAt(state);
      if (this.#isSure) this.#missing[state] = missing;
      return missing;
    }
    if (byte < 0x80) return Infinity;
    const key = state * 256 + byte;
    let missing = this.#missingWithin.get(key);
    if (missing === undefined) {
      if (!this.#isSure) return Infinity;
      missing = this.#missingAfter(state, continuationsOf(byte), secondBytesOf(byte), byte);
      if (this.#isSure) this.#missingWithin.set(key, missing);
    }
    return missing;
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
    if (targets[index]! >= 0) return targets[index]!;
    if (!this.#isSure) return 0;
    const target = this.#findTarget(state, index);
    if (this.#isSure) targets[index] = target;
    return target;
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
    let found = this.#successors.get(state);
    if (!found) {
      const boundaries = new Set<number>();
      const visited = new Set([state]);
      for (const from of visited) {
        for (let byte = 0; byte < 0xf5; byte++) {
          const next = this.automaton.step(from, byte);
          if (next !== 0) (this.automaton.isBoundary(next) ? boundaries : visited).add(next);
        }
      }
      found = [...boundaries];
      if (this.#isSure) this.#successors.set(state, found);
    }
    return found;
  }

  /** Looks for a string of `low` to `high` more characters, one character at a time. */
  #reaches(state: number, low: number, high: number): boolean {
    let layer: readonly number[] = [state];
    let visits = 0;
    for (let count = 0; count <= low && layer.length > 0 && this.#isSure; count++) {
      for (const at of layer) {
        const total = count + this.automaton.shortest(at);
        if (total <= high && (total >= low || this.#repeats(at))) return true;
      }
      visits += layer.length;
      if (visits > MAX_VISITS) {
        throw new MachineError("Cannot look ahead in a string: too many lengths are to be tried");
      }
      layer = [...new Set(layer.flatMap((at) => this.nextOf(at)))];
    }
    return false;
  }
}
