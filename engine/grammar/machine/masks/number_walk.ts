// The tokens that stay within a number, and the bytes after which it may end and something else may
// follow, independently of the context.

import { expectOutOfWork, type Work } from "../../language/mod.ts";
import type { NumberAutomaton } from "../rules/rules.ts";
import type { TokenTable } from "../tokens/token_table.ts";

/** Nodes that are counted at once, and the steps of work for them. */
const COUNTED = 64;

const COUNTED_STEPS = 5;

/** Walks numbers through the tokens of a vocabulary. */
export class NumberWalk {
  readonly #table: TokenTable;
  /** By depth: the state, the node, and whether the node is among the exits. */
  readonly #states: Int32Array;
  readonly #nodes: Int32Array;
  readonly #isExit: Uint8Array;

  readonly #work: Work;
  #steps = 0;
  /** Whether tokens were left out because the budget was spent. Callers reset it. */
  isPartial = false;

  constructor(table: TokenTable, work: Work) {
    this.#table = table;
    this.#work = work;
    this.#states = new Int32Array(table.longest + 1);
    this.#nodes = new Int32Array(table.longest + 1);
    this.#isExit = new Uint8Array(table.longest + 1);
  }

  /**
   * Sets the bits of the tokens below a node that stay within the number, whose state there is
   * `state`. Returns the nodes at which it may end and other bytes follow.
   */
  add(bits: Uint32Array, node: number, automaton: NumberAutomaton, state: number): number[] {
    const table = this.#table;
    const { bytes, depths, ends, firsts } = table;
    const exits: number[] = [];
    const begin = (depth: number, at: number, reached: number) => {
      this.#states[depth] = reached;
      this.#nodes[depth] = at;
      this.#isExit[depth] = 0;
    };
    begin(depths[node]!, node, state);
    const end = ends[node]!;
    for (let child = node + 1; child < end;) {
      const depth = depths[child]!;
      const before = depth - 1;
      if (++this.#steps % COUNTED === 0) {
        this.#work.spend(COUNTED_STEPS);
        if (this.#work.isOverdrawn) {
          this.isPartial = true;
          return exits;
        }
      }
      let next: number;
      try {
        next = automaton.step(this.#states[before]!, bytes[child]!);
      } catch (error) {
        expectOutOfWork(error);
        this.isPartial = true;
        child = ends[child]!;
        continue;
      }
      if (next === 0) {
        if (this.#isExit[before] === 0 && automaton.accepts(this.#states[before]!)) {
          this.#isExit[before] = 1;
          exits.push(this.#nodes[before]!);
        }
        child = ends[child]!;
        continue;
      }
      table.addTokens(bits, firsts[child]!, firsts[child + 1]!);
      begin(depth, child, next);
      child++;
    }
    return exits;
  }
}
