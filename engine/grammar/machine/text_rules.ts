// What a string may still be after its first bytes: an automaton of its language with a window on
// its number of characters. Exact also where not every length can be reached.

import { MachineError } from "./errors.ts";
import {
  BEYOND_ASCII,
  CLASS_OF,
  continuationsOf,
  EVERY_CLASS,
  secondBytesOf,
} from "./character_classes.ts";

/** A deterministic automaton over bytes of JSON string content; 0 is the only state without end. */
export interface TextAutomaton {
  readonly start: number;
  step(state: number, byte: number): number;
  accepts(state: number): boolean;
  isBoundary(state: number): boolean;
  /** Fewest characters to acceptance, counting one that is begun. */
  shortest(state: number): number;
  /** Fewest bytes to acceptance. */
  completion(state: number): Uint8Array;
}

/** States that a search for a length visits before it gives up. */
const MAX_VISITS = 1_000_000;

/** The strings of an automaton that have `min` to `max` characters. */
export class TextRules {
  readonly automaton: TextAutomaton;
  readonly min: number;
  readonly max: number;
  /** Whether the number of characters matters. */
  readonly isBounded: boolean;
  /** By state. */
  readonly #loops: number[] = [];
  readonly #successors = new Map<number, readonly number[]>();
  readonly #feasible = new Map<string, boolean>();

  constructor(automaton: TextAutomaton, min = 0, max = Infinity) {
    this.automaton = automaton;
    this.min = min;
    this.max = max;
    this.isBounded = min > 0 || max < Infinity;
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
  isComplete(state: number, characters: number): boolean {
    return characters >= this.min && this.automaton.isBoundary(state) &&
      this.automaton.accepts(state);
  }

  /** Whether the string can be completed within the window. */
  isFeasible(state: number, characters: number): boolean {
    if (!this.isBounded) return true;
    const low = this.min - characters;
    const high = this.max - characters;
    const shortest = this.automaton.shortest(state);
    if (shortest > high) return false;
    if (shortest >= low || this.#repeats(state)) return true;
    const key = `${state},${characters}`;
    let feasible = this.#feasible.get(key);
    if (feasible === undefined) {
      feasible = this.#reaches(state, low, high);
      this.#feasible.set(key, feasible);
    }
    return feasible;
  }

  /** Characters that may come before the shortest end after them is too long. */
  roomAt(state: number, characters: number): number {
    return this.max === Infinity
      ? Infinity
      : this.max - characters - this.automaton.shortest(state);
  }

  /**
   * A number of characters that a token of `longest` bytes does not tell from the given one:
   * where every character may follow, only the way to the window's nearest edge matters.
   */
  roundedCharacters(state: number, characters: number, longest: number): number {
    if (this.loopsAt(state) !== EVERY_CLASS) return characters;
    if (characters < this.min) return Math.max(characters, this.min - longest - 1);
    if (this.max === Infinity) return characters;
    return Math.max(characters, this.min, this.max - this.automaton.shortest(state) - longest - 1);
  }

  /** The classes whose every character leads from a state back to it. */
  loopsAt(state: number): number {
    return this.#loops[state] ??= this.automaton.isBoundary(state) ? this.#findLoops(state) : 0;
  }

  #findLoops(state: number): number {
    let failed = 0;
    for (let byte = 0x20; byte < 0x80; byte++) {
      if (this.automaton.step(state, byte) !== state) failed |= CLASS_OF[byte]!;
    }
    let loops = ~failed & (BEYOND_ASCII - 1);
    const known = new Set<number>();
    const returns = (
      from: number,
      left: number,
      [low, high]: readonly [number, number],
    ): boolean => {
      if (left === 0) return from === state;
      const mark = (from * 4 + left) * 256 + low;
      if (high === 0xbf && known.has(mark)) return true;
      for (let byte = low; byte <= high; byte++) {
        const next = this.automaton.step(from, byte);
        if (next === 0 || !returns(next, left - 1, [0x80, 0xbf])) return false;
      }
      if (high === 0xbf) known.add(mark);
      return true;
    };
    let beyond = true;
    for (let byte = 0xc2; byte < 0xf5 && beyond; byte++) {
      const next = this.automaton.step(state, byte);
      beyond = next !== 0 && returns(next, continuationsOf(byte), secondBytesOf(byte));
    }
    if (beyond) loops |= BEYOND_ASCII;
    return loops;
  }

  /** Whether some character leads back to a state, so that every greater length is reached. */
  #repeats(state: number): boolean {
    return this.automaton.isBoundary(state) && this.#nextOf(state).includes(state);
  }

  /** The states one character on, or at the end of the one that is begun. */
  #nextOf(state: number): readonly number[] {
    let found = this.#successors.get(state);
    if (!found) {
      const boundaries = new Set<number>();
      const visited = new Set([state]);
      for (const from of visited) {
        for (let byte = 0x20; byte < 0xf5; byte++) {
          const next = this.automaton.step(from, byte);
          if (next !== 0) (this.automaton.isBoundary(next) ? boundaries : visited).add(next);
        }
      }
      found = [...boundaries];
      this.#successors.set(state, found);
    }
    return found;
  }

  /** Looks for a string of `low` to `high` more characters, one character at a time. */
  #reaches(state: number, low: number, high: number): boolean {
    let layer: readonly number[] = [state];
    let visits = 0;
    for (let count = 0; count <= low && layer.length > 0; count++) {
      for (const at of layer) {
        const total = count + this.automaton.shortest(at);
        if (total <= high && (total >= low || this.#repeats(at))) return true;
      }
      visits += layer.length;
      if (visits > MAX_VISITS) {
        throw new MachineError("Cannot look ahead in a string: too many lengths are to be tried");
      }
      layer = [...new Set(layer.flatMap((at) => this.#nextOf(at)))];
    }
    return false;
  }
}
