// Which tokens stay within a number, and after which of its bytes it may end for something else to
// follow: without a look at what the number stands in.

import type { NumberAutomaton } from "./rules.ts";
import type { TokenTable } from "./token_table.ts";

/** Walks numbers through the tokens of a vocabulary. */
export class NumberWalk {
  readonly #table: TokenTable;
  /** By depth: the state, the node, and whether the node is among the exits. */
  readonly #states: Int32Array;
  readonly #nodes: Int32Array;
  readonly #isExit: Uint8Array;

  constructor(table: TokenTable) {
    this.#table = table;
    this.#states = new Int32Array(table.longest + 1);
    this.#nodes = new Int32Array(table.longest + 1);
    this.#isExit = new Uint8Array(table.longest + 1);
  }

  /**
   * Sets the bits of the tokens below a node that stay within the number, whose state is `state`
   * there. Returns the nodes where it may end and other bytes come.
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
      const next = automaton.step(this.#states[before]!, bytes[child]!);
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
