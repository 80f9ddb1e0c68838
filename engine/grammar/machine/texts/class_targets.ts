// Where whole classes of characters lead in an automaton: to the same state, or to several. If all
// characters of a subtree of tokens lead to the same state, masks accept its tokens at once.

import type { Work } from "../../language/mod.ts";
import {
  ANY_SECOND,
  BEYOND_ASCII,
  CLASS_MEMBERS,
  CLASS_OF,
  continuationsOf,
  holdsSeparators,
  isSeparator,
  LINE_SEPARATORS,
  secondBytesOf,
  UNSAFE,
} from "./character_classes.ts";
import type { TextAutomaton } from "./text_automaton.ts";

/** The first bytes of characters beyond ASCII. */
const FIRST_BYTES: readonly number[] = [...Array(256).keys()].filter((byte) =>
  continuationsOf(byte) > 0
);

/** The line separators in UTF-8. */
const SEPARATORS = [[0xe2, 0x80, 0xa8], [0xe2, 0x80, 0xa9]];

/** Steps of work for examining all bytes that may continue a character. */
export const CHARACTER_STEPS = 2;

/** The targets of classes of characters from the states of an automaton. */
export class ClassTargets {
  readonly #automaton: TextAutomaton;
  readonly #work: Work;
  /** By state. */
  readonly #loops: number[] = [];
  readonly #closed: boolean[] = [];
  /** By state and class; -1 if not known. */
  readonly #targets: Int32Array[] = [];

  /** @param work limits how much is examined */
  constructor(automaton: TextAutomaton, work: Work) {
    this.#automaton = automaton;
    this.#work = work;
  }

  /** The classes whose every character leads from a state back to it. */
  loopsAt(state: number): number {
    return this.#loops[state] ??= this.#automaton.isBoundary(state) ? this.#findLoops(state) : 0;
  }

  /**
   * Whether there are characters that may come without escapes, and all of them lead back to a
   * state.
   */
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
      if (isOut && this.#automaton.step(state, byte) !== 0) return false;
    }
    return loops !== 0;
  }

  /** The state to which all characters of some classes lead; not positive if there is none. */
  ofAll(state: number, classes: number): number {
    let target = -1;
    for (let left = classes; left !== 0; left &= left - 1) {
      const next = this.#targetOfClass(state, 31 - Math.clz32(left & -left));
      if (next <= 0 || (target >= 0 && next !== target)) return 0;
      target = next;
    }
    return target;
  }

  /** The state to which all characters of a class lead; 0 if there is none. */
  #targetOfClass(state: number, index: number): number {
    const targets = this.#targets[state] ??= new Int32Array(32).fill(-1);
    if (targets[index]! < 0) targets[index] = this.#findTarget(state, index);
    return targets[index]!;
  }

  #findTarget(state: number, index: number): number {
    if (!this.#automaton.isBoundary(state)) return 0;
    if (1 << index === LINE_SEPARATORS) return this.#targetOfSeparators(state);
    const isBeyond = 1 << index === BEYOND_ASCII;
    let target = -1;
    for (const byte of isBeyond ? FIRST_BYTES : CLASS_MEMBERS[index] ?? []) {
      const next = this.#automaton.step(state, byte);
      const reached = this.#targetAfter(next, continuationsOf(byte), secondBytesOf(byte), byte);
      if (reached === 0 || (target >= 0 && reached !== target)) return 0;
      target = reached;
    }
    return Math.max(target, 0);
  }

  /** The state to which all ends of a begun character lead; 0 if there is none. */
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
      const next = this.#automaton.step(state, byte);
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
      bytes.reduce((at, byte) => at === 0 ? 0 : this.#automaton.step(at, byte), state)
    );
    return first === second ? first! : 0;
  }

  #findLoops(state: number): number {
    let loops = 0;
    if (this.#automaton.mayRepeat?.(state) === false) return loops;
    for (let index = 0; 1 << index <= LINE_SEPARATORS; index++) {
      if (this.#targetOfClass(state, index) === state) loops |= 1 << index;
    }
    return loops;
  }
}
