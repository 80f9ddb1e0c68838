// The walk through the trie of a vocabulary's tokens, in depth-first order. Whoever asks for it
// visits the nodes; it counts the work, and notes what had to be left out.

import { expectOutOfWork, type Work } from "../../language/mod.ts";
import type { TokenTable } from "../token_table.ts";

/** Nodes that are counted at once, and the steps of work for them. */
const COUNTED = 64;

const COUNTED_STEPS = 6;

/** Nodes of a subtree from which on it is worthwhile to find out whether all its tokens fit. */
const BULK = 8;

/** The fraction of the budget for the walk in the order of the trie. */
const FIRST_SHARE = 0.8;

/** Bytes of the longest tokens that are decided first, second and so on if that was not enough. */
const DEPTHS = [1, 2, 3, 4, 6, 8, Infinity];

/**
 * Visits a node, given the number of bytes on the path to it and the last of them. Returns whether the
 * nodes below it are to be visited. Errors: OutOfWork.
 */
export type Visit = (node: number, depth: number, byte: number) => boolean;

/** Walks through one vocabulary within the budget of a mask. */
export class TrieWalk {
  readonly table: TokenTable;
  readonly work: Work;
  /** Whether tokens were left out because the budget was spent. Callers reset it. */
  isPartial = false;
  #steps = 0;
  /** Bytes of the longest tokens that are visited. */
  #deepest = Infinity;

  constructor(table: TokenTable, work: Work) {
    this.table = table;
    this.work = work;
  }

  /** Visits a node and those below it. */
  from(node: number, visit: Visit): void {
    this.#walk(node, this.table.ends[node]!, visit, undefined);
  }

  below(node: number, visit: Visit): void {
    this.#below(node, visit, undefined);
  }

  /**
   * Visits those below a node that lead out of plain text, of which all tokens are known to fit.
   */
  roughBelow(node: number, visit: Visit): void {
    this.#below(node, visit, this.table.characters.rough);
  }

  /** Whether a subtree has enough nodes to find out whether it is accepted as a whole. */
  isBulk(node: number): boolean {
    return this.table.ends[node]! > node + BULK;
  }

  /** Runs a part of a mask. Returns whether it leaves tokens out. */
  leavesOut(part: () => void): boolean {
    const wasPartial = this.isPartial;
    this.isPartial = false;
    part();
    const { isPartial } = this;
    this.isPartial ||= wasPartial;
    return isPartial;
  }

  /** Leaves out what the budget was not enough for. */
  giveUp(error: unknown): void {
    expectOutOfWork(error);
    this.isPartial = true;
  }

  #below(node: number, visit: Visit, next: Int32Array | undefined): void {
    const end = this.table.ends[node]!;
    if (node === 0) this.#belowRoot(end, visit, next);
    else this.#walk(node + 1, end, visit, next);
  }

  /**
   * What takes too much work does not keep the rest from being visited: if the budget is not enough,
   * short tokens are decided before longer ones. What was found is kept, so that no step is taken
   * twice.
   */
  #belowRoot(end: number, visit: Visit, next: Int32Array | undefined): void {
    const walk = () => this.#walk(1, end, visit, next);
    const wasPartial = this.isPartial;
    this.isPartial = false;
    this.work.within(FIRST_SHARE, walk);
    if (this.isPartial) {
      for (this.#deepest of DEPTHS) {
        // Once the budget is spent, what is known already is left for the last walk.
        if (this.work.isSpent && this.#deepest < Infinity) continue;
        this.isPartial = false;
        walk();
      }
    }
    this.isPartial ||= wasPartial;
  }

  /** @param next by node: the first one from it on that is visited; missing: all are */
  #walk(first: number, end: number, visit: Visit, next: Int32Array | undefined): void {
    const { ends, depths, bytes } = this.table;
    for (let node = next ? next[first]! : first; node < end;) {
      if (this.#isOver()) return;
      const depth = depths[node]!;
      let goesOn = false;
      try {
        goesOn = visit(node, depth, bytes[node]!);
      } catch (error) {
        this.giveUp(error);
      }
      node = goesOn && depth < this.#deepest ? node + 1 : ends[node]!;
      if (next) node = next[node]!;
    }
  }

  /** Counts a visited node. Returns whether the walk ends there because the budget is spent. */
  #isOver(): boolean {
    if (++this.#steps % COUNTED !== 0) return false;
    this.work.spend(COUNTED_STEPS);
    if (!this.work.isOverdrawn) return false;
    this.isPartial = true;
    return true;
  }
}
