// The walk through the trie of a vocabulary's tokens, in depth-first order. Whoever asks for it
// visits the nodes; it counts the work, and notes what had to be left out.

import { expectOutOfWork, type Work } from "../../language/mod.ts";
import type { TokenTable } from "../token_table.ts";

/** Nodes that are counted at once, and the steps of work for them. */
const COUNTED = 64;

const COUNTED_STEPS = 6;

/** Nodes of a subtree from which on it is worthwhile to find out whether all its tokens fit. */
const BULK = 8;

/** Visits a node. Returns whether the nodes below it are to be visited. Errors: OutOfWork. */
export type Visit = (node: number) => boolean;

/** Walks through one vocabulary within the budget of a mask. */
export class TrieWalk {
  readonly table: TokenTable;
  readonly work: Work;
  /** Whether tokens were left out because the budget was spent. Callers reset it. */
  isPartial = false;
  #steps = 0;

  constructor(table: TokenTable, work: Work) {
    this.table = table;
    this.work = work;
  }

  /** Visits a node and those below it. */
  from(node: number, visit: Visit): void {
    this.#walk(node, this.table.ends[node]!, visit, undefined);
  }

  /** Visits the nodes below a node. */
  below(node: number, visit: Visit): void {
    this.#walk(node + 1, this.table.ends[node]!, visit, undefined);
  }

  /**
   * Visits those below a node that lead out of plain text, of which all tokens are known to fit.
   */
  roughBelow(node: number, visit: Visit): void {
    this.#walk(node + 1, this.table.ends[node]!, visit, this.table.characters.rough);
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

  /** @param next by node: the first one from it on that is visited; missing: all are */
  #walk(first: number, end: number, visit: Visit, next: Int32Array | undefined): void {
    const { ends } = this.table;
    for (let node = next ? next[first]! : first; node < end;) {
      if (this.#isOver()) return;
      let goesOn = false;
      try {
        goesOn = visit(node);
      } catch (error) {
        this.giveUp(error);
      }
      node = goesOn ? node + 1 : ends[node]!;
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
