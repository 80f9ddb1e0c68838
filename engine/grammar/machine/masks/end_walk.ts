// The tokens after which a document can end in time: a walk through the trie of tokens that counts
// what the end after each of them takes. It runs only where the token that a model chose does not
// leave enough, so it is seldom needed, and need not be as fast as other walks.

import type { Before, SpelledEnds } from "../ends/spelled_ends.ts";
import { DEAD, type Machine, NO_LOOP, type State, UNRESOLVED } from "../machine.ts";
import type { TokenTable } from "../tokens/token_table.ts";

/**
 * Nodes of a subtree from which on it is worthwhile to find out whether it is accepted as a whole.
 */
const MIN_BULK = 8;

/** The tokens that are wanted: those whose end takes few tokens. */
export interface Goal {
  /** Tokens that may be missing after the token. */
  readonly limit: number;
  readonly ends: SpelledEnds;
  /** The state at a node that depends on the text of a key or item. */
  readonly reach: (node: number) => State;
  /** The document up to a node. */
  readonly before: (node: number) => Uint8Array;
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
  readonly #limits: WalkLimits;
  /** The states along the path of the walk, by depth. */
  readonly #path: Int32Array;

  constructor(machine: Machine, table: TokenTable, limits: WalkLimits) {
    this.#machine = machine;
    this.#table = table;
    this.#limits = limits;
    this.#path = new Int32Array(table.longest + 1);
  }

  /** Sets the bits of the tokens that fit in a state. */
  add(bits: Uint32Array, state: State, goal: Goal): void {
    const { nodes, ends } = this.#table;
    this.#path[0] = state;
    for (let node = 1; node < nodes;) {
      if (this.#limits.isOver()) return;
      let isDone = true;
      try {
        isDone = this.#visit(node, bits, goal);
      } catch (error) {
        this.#limits.giveUp(error);
      }
      node = isDone ? ends[node]! : node + 1;
    }
  }

  /** Visits a node. Returns whether its subtree needs no walk. */
  #visit(node: number, bits: Uint32Array, { limit, ends, reach, before }: Goal): boolean {
    const machine = this.#machine;
    const table = this.#table;
    const { firsts } = table;
    const depth = table.depths[node]!;
    const below = table.ends[node]!;
    const above = this.#path[depth - 1]!;
    let next = machine.step(above, table.bytes[node]!);
    if (next === UNRESOLVED) next = reach(node);
    if (next === DEAD) return true;
    this.#path[depth] = next;
    const isBulk = below > node + MIN_BULK;
    const isToken = firsts[node]! < firsts[node + 1]!;
    if (!isToken && !isBulk) return false;
    const document: Before = () => before(node);
    const fits = ends.fits(next, limit, document);
    // Finding a loop takes too long for a few nodes.
    const { classes, most, alone } = isBulk ? machine.loopOf(next) : NO_LOOP;
    const isLoop = (table.classes[node]! & ~classes) === 0 && table.heights[node]! <= most;
    const takesAll = isLoop && fits && (alone === next || ends.fits(alone, limit, document));
    if (fits) table.addTokens(bits, firsts[node]!, firsts[takesAll ? below : node + 1]!);
    // Where further characters change nothing, they bring no end nearer either.
    return takesAll || isLoop && !fits && next === above;
  }
}
