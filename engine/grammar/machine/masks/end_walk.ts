// The tokens after which a document can end in time: a walk through the trie of tokens that measures
// what is missing after each of them. Texts have a walk of their own (text_budget.ts); what is around
// them is measured once.

import type { Completion } from "../completion.ts";
import { OTHER_KEY, STRING } from "../frames/layouts.ts";
import type { Stack } from "../frames/stacks.ts";
import { DEAD, type Machine, NO_LOOP, type State, UNRESOLVED } from "../machine.ts";
import type { TokenTable } from "../tokens/token_table.ts";
import type { LocalMasks } from "./local_masks.ts";
import { type TextBudget, TextBudgetWalk } from "./text_budget.ts";

/**
 * Nodes of a subtree from which on it is worthwhile to find out whether it is accepted as a whole.
 */
const MIN_BULK = 8;

/** The tokens that are wanted: those after which few bytes are missing. */
export interface Goal {
  /** Bytes that may be missing after the token. */
  readonly limit: number;
  readonly completion: Completion;
  /** The state at a node that depends on the text of a key or item. */
  readonly reach: (node: number) => State;
  /** The fewest bytes that are missing after any token that was visited. */
  least: number;
}

/** The limits of a walk's work. */
export interface WalkLimits {
  /** Counts a visited node. Returns whether the walk ends there because the budget is spent. */
  readonly isOver: () => boolean;
  /** Handles an error below a node: OutOfWork is noted, any other is thrown again. */
  readonly giveUp: (error: unknown) => void;
}

/** Walks one machine's states through the tokens of a vocabulary, up to the end of documents. */
export class EndWalk {
  readonly #machine: Machine;
  readonly #table: TokenTable;
  readonly #locals: LocalMasks;
  readonly #limits: WalkLimits;
  #texts: TextBudgetWalk | undefined;
  /** The states along the path of a walk, by depth. A nested walk only writes to greater depths. */
  readonly #path: Int32Array;

  constructor(machine: Machine, table: TokenTable, locals: LocalMasks, limits: WalkLimits) {
    this.#machine = machine;
    this.#table = table;
    this.#locals = locals;
    this.#limits = limits;
    this.#path = new Int32Array(table.longest + 1);
  }

  /** Sets the bits of the tokens that fit in a state. */
  add(bits: Uint32Array, state: State, goal: Goal): void {
    this.#add(state, 0, bits, goal);
  }

  /** Walks the subtree of a node, texts separately from all else. */
  #add(state: State, node: number, bits: Uint32Array, goal: Goal): void {
    const texts = this.#textsOf(state);
    for (const stack of texts) {
      try {
        this.#addText(stack, node, bits, goal);
      } catch (error) {
        this.#limits.giveUp(error);
      }
    }
    if (texts.length === 0) return this.#walk(state, node, bits, goal);
    const others = this.#machine.stacksOf(state).filter((stack) => !texts.includes(stack));
    if (others.length > 0) this.#walk(this.#machine.stateOf(others), node, bits, goal);
  }

  /** The stacks of a state that are within a text which depends on nothing else. */
  #textsOf(state: State): readonly Stack[] {
    const { stacks } = this.#machine;
    return this.#machine.split(state).locals.filter((stack) => {
      const kind = stacks.kind(stack);
      return kind === STRING.kind || kind === OTHER_KEY.kind;
    });
  }

  #addText(stack: Stack, node: number, bits: Uint32Array, goal: Goal): void {
    const { completion, limit } = goal;
    const { words } = this.#machine.stacks;
    const walk = this.#texts ??= new TextBudgetWalk(this.#table, {
      words,
      avoidance: this.#machine.avoidance,
      ends: completion.texts,
      ...this.#limits,
    });
    const beside = completion.costBesideText(stack);
    if (beside === Infinity) return;
    const place = this.#machine.textOf(stack);
    const within: TextBudget = {
      limit: limit - beside,
      // The bytes for making items differ are part of the cost of their array.
      avoids: this.#machine.stacks.kind(stack) === OTHER_KEY.kind,
      note: (missing) => goal.least = Math.min(goal.least, beside + missing),
    };
    const exits = node === 0 && (walk.addNarrow(bits, place, within) ??
          walk.addKnown(bits, place, within, () => this.#locals.whole(stack))) ||
      walk.add(bits, node, place, within);
    if (exits.length === 0) return;
    this.#leave(this.#locals.after(stack), exits, bits, goal);
  }

  #leave(after: State, exits: readonly number[], bits: Uint32Array, goal: Goal): void {
    for (const exit of exits) {
      const isToken = this.#table.firsts[exit]! < this.#table.firsts[exit + 1]!;
      if (isToken && fitsIn(goal, after)) this.#table.addTokensAt(bits, exit);
      if (this.#table.ends[exit]! > exit + 1) this.#add(after, exit, bits, goal);
    }
  }

  /** Walks the subtree of a node with only tokens that fit. */
  #walk(state: State, node: number, bits: Uint32Array, goal: Goal): void {
    const { depths, ends } = this.#table;
    this.#path[depths[node]!] = state;
    for (let child = node + 1; child < ends[node]!;) {
      if (this.#limits.isOver()) return;
      const below = ends[child]!;
      let isOver = true;
      try {
        isOver = this.#visit(child, bits, goal);
      } catch (error) {
        this.#limits.giveUp(error);
      }
      child = isOver ? below : child + 1;
    }
  }

  /** Visits a node of such a walk. Returns whether its subtree needs no walk. */
  #visit(child: number, bits: Uint32Array, goal: Goal): boolean {
    const machine = this.#machine;
    const table = this.#table;
    const { bytes, depths, ends, firsts, classes, heights } = table;
    const path = this.#path;
    const depth = depths[child]!;
    const below = ends[child]!;
    let next = machine.step(path[depth - 1]!, bytes[child]!);
    if (next === UNRESOLVED) next = goal.reach(child);
    if (next === DEAD) return true;
    if (below > child + 1 && this.#textsOf(next).length > 0) {
      const last = firsts[child + 1]!;
      if (firsts[child]! < last && fitsIn(goal, next)) {
        table.addTokens(bits, firsts[child]!, last);
      }
      this.#add(next, child, bits, goal);
      return true;
    }
    // Finding a loop takes too long for a few nodes.
    const { classes: loops, most, alone } = below > child + MIN_BULK
      ? machine.loopOf(next)
      : NO_LOOP;
    const isLoop = (classes[child]! & ~loops) === 0 && heights[child]! <= most &&
      (alone === next || fitsIn(goal, alone));
    const last = firsts[isLoop ? below : child + 1]!;
    if (firsts[child]! < last && fitsIn(goal, next)) {
      table.addTokens(bits, firsts[child]!, last);
    }
    path[depth] = next;
    return isLoop;
  }
}

/** Whether a document in a state can end in time. */
function fitsIn(goal: Goal, state: State): boolean {
  const cost = goal.completion.cost(state);
  goal.least = Math.min(goal.least, cost);
  return cost <= goal.limit;
}
