// Where whole classes of plain characters lead in a string's automaton, and which plain texts may come
// in a state where that is told by a few words: all of some classes, up to a length. Masks set such
// tokens at once, without a walk.

import { areSeparable, classesBetween, EVERY_CLASS, wholeClasses } from "./character_set.ts";
import type { LanguageTools } from "./ends.ts";
import { inTime } from "./errors.ts";
import { type Expression, Kind } from "./expression_store.ts";
import { SEGMENT_STEPS } from "./json_escapes.ts";

/** Most states that plain characters may lead to for their texts to be known. */
const MAX_CLOSURE = 8;

/** Steps of work for looking at one target among many. */
const SCAN_STEPS = 0.01;

/** The target of a class of which no character was seen yet. */
const UNKNOWN = -1;

/** The target of a class whose characters lead to several. */
const SEVERAL = -2;

/** The plain texts that may come: all of some classes of characters, up to a length. */
export interface PlainTexts {
  readonly classes: number;
  /** Most characters that may come. */
  readonly most: number;
  /** Most characters that any of them lacks to its nearest end; Infinity: unknown. */
  readonly missing: number;
  /** Whether all of their characters lead back to the state. */
  readonly isLoop: boolean;
}

/** The automaton whose states are asked about. */
interface States {
  /** The language that remains between characters; within one -1. */
  languageOf(state: number): number;
  /** The state of a language between characters; 0 if it is empty. */
  boundary(language: Expression): number;
  /** Fewest further characters. */
  shortest(state: number): number;
}

/** Finds where plain characters lead from the states of one automaton, and their plain texts. */
export class PlainTextFinder {
  readonly #tools: LanguageTools;
  readonly #states: States;
  /** By state: the classes of characters that lead back to it. */
  readonly #loops: (number | undefined)[] = [];
  readonly #classTargets: (Int32Array | undefined)[] = [];
  /** By state; null if they are not all of some classes. */
  readonly #known: (PlainTexts | null | undefined)[] = [];

  constructor(tools: LanguageTools, states: States) {
    this.#tools = tools;
    this.#states = states;
  }

  /** The classes of characters that all lead from a state back to it. Errors: OutOfWork. */
  loops(state: number): number {
    return this.#loops[state] ??= this.#findLoops(this.#states.languageOf(state));
  }

  #findLoops(language: number): number {
    if (language < 0) return 0;
    const { targets, classes } = transitionsOf(this.#tools, language);
    this.#tools.derivatives.work.spend(targets.length * SCAN_STEPS);
    if (!targets.includes(language)) return 0;
    let loops = EVERY_CLASS;
    for (let at = 0; at < targets.length && loops !== 0; at++) {
      if (targets[at] !== language) loops &= ~classes(at);
    }
    return loops;
  }

  /**
   * The state to which all characters of some classes lead; 0 if none may come, undefined if they
   * lead to several. Errors: OutOfWork.
   */
  targetOf(state: number, classes: number): number | undefined {
    const language = this.#states.languageOf(state);
    if (language < 0) return undefined;
    const targets = this.#classTargets[state] ??= this.#findClassTargets(language);
    let target = UNKNOWN;
    for (let left = classes; left !== 0; left &= left - 1) {
      const own = targets[Math.clz32(left & -left)]!;
      if (own < 0 || (target !== UNKNOWN && own !== target)) return undefined;
      target = own;
    }
    return this.#states.boundary(target);
  }

  /** The languages to which the characters of each class lead, by the leading zeros of its bit. */
  #findClassTargets(language: number): Int32Array {
    const { targets, classes } = transitionsOf(this.#tools, language);
    const found = new Int32Array(32).fill(UNKNOWN);
    targets.forEach((target, at) => {
      for (let left = classes(at); left !== 0; left &= left - 1) {
        const index = Math.clz32(left & -left);
        const isOther = found[index] !== UNKNOWN && found[index] !== target;
        found[index] = isOther ? SEVERAL : target;
      }
    });
    return found;
  }

  /**
   * The plain texts that may come in a state, if they are all those of some classes of characters
   * up to a number of characters. Undefined if that is not so, or not seen among the next few
   * states. Errors: OutOfWork.
   */
  of(state: number): PlainTexts | undefined {
    let found = this.#known[state];
    if (found === undefined) {
      found = this.#repeated(this.#states.languageOf(state)) ?? this.#findPlainTexts(state) ?? null;
      this.#known[state] = found;
    }
    return found ?? undefined;
  }

  /** The plain texts of characters that may be repeated so often, if nothing else may come. */
  #repeated(language: number): PlainTexts | undefined {
    const { store, sets } = this.#tools.expressions;
    if (language < 0 || store.kinds[language] !== Kind.Repeat) return undefined;
    const body = store.first[language]!;
    const most = store.third[language]!;
    if (store.kinds[body] !== Kind.Set || most < 0) return undefined;
    const classes = wholeClasses(sets[store.first[body]!]!);
    if (classes === undefined) return undefined;
    return { classes, most, missing: Infinity, isLoop: false };
  }

  /**
   * The plain texts of a state from which characters of some classes lead to a few states, where
   * again these may come and no others.
   */
  #findPlainTexts(start: number): PlainTexts | undefined {
    const tried: number[] = [];
    const reached = new Set([start]);
    let all: number | undefined;
    for (const state of reached) {
      const step = this.#plainStep(state);
      all ??= step?.classes;
      if (!step || step.classes === 0 || step.classes !== all) return undefined;
      tried.push(state);
      for (const next of step.targets) reached.add(next);
      if (reached.size > MAX_CLOSURE) {
        // What leads to many states is not tried again from each of them.
        for (const one of tried) this.#known[one] ??= null;
        return undefined;
      }
    }
    const missing = Math.max(...[...reached].map((state) => this.#states.shortest(state)));
    const found = { classes: all!, most: Infinity, missing, isLoop: reached.size === 1 };
    for (const state of reached) this.#known[state] = found;
    return found;
  }

  /** The classes of plain characters that may come next, if they are whole, and where they lead. */
  #plainStep(state: number) {
    const language = this.#states.languageOf(state);
    if (language < 0) return undefined;
    const { targets, classes } = transitionsOf(this.#tools, language);
    const reached = new Set<number>();
    let some = 0;
    let none = 0;
    for (let at = 0; at < targets.length; at++) {
      const own = classes(at);
      if (own === 0) continue;
      const next = targets[at] === language ? state : this.#states.boundary(targets[at]!);
      if (next === 0) none |= own;
      else {
        some |= own;
        reached.add(next);
      }
      if ((some & none) !== 0) return undefined;
    }
    if (!areSeparable(some)) return undefined;
    return { classes: some, targets: reached };
  }
}

/** The languages after one more character, and the classes of the characters that lead to each. */
export function transitionsOf({ derivatives }: LanguageTools, language: Expression) {
  const { starts, targets } = inTime(
    () => derivatives.transitions(language),
    () => ({ starts: [], targets: [] }),
  );
  const classes = (at: number) => {
    derivatives.work.spend(SEGMENT_STEPS);
    return classesBetween(starts[at]!, (starts[at + 1] ?? 0x110000) - 1);
  };
  return { targets, classes };
}
