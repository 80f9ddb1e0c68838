// Tokens that bring the end of a document nearer, and may do so better than those that spell its
// shortest end: another constant of a few, or more characters at once of a text that has to be long.

import { BEYOND_ASCII, classesOf, EVERY_CLASS, unlessOutOfWork } from "../../language/mod.ts";
import type { Completion } from "../completion.ts";
import { DEAD, type Machine, type State, UNRESOLVED } from "../machine.ts";
import type { TokenTable } from "../tokens/token_table.ts";

/** Most bytes that may come in a state, and nodes that are visited, for all tokens to be tried. */
const MOST_BYTES = 24;
const MOST_NODES = 512;

/** The share of the budget for the tokens of one state. */
const SHARE = 0.2;

/** Steps of work for each node. */
const NODE_STEPS = 0.2;

/** Classes of characters whose longest tokens are tried where any text may come. */
const KINDS = [
  classesOf("abcdefghijklmnopqrstuvwxyz "),
  classesOf("0123456789"),
  EVERY_CLASS & ~BEYOND_ASCII,
];

/** A token, by its node, and the state after it. */
export interface Leap {
  readonly node: number;
  readonly next: State;
}

/** Finds such tokens. */
export class Leaps {
  readonly #machine: Machine;
  readonly #table: TokenTable;
  readonly #completion: Completion;

  constructor(machine: Machine, table: TokenTable, completion: Completion) {
    this.#machine = machine;
    this.#table = table;
    this.#completion = completion;
  }

  /** The tokens from a state, as far as they are found within the budget. */
  from(state: State): readonly Leap[] {
    const leaps = new Map<State, Leap>();
    const { work } = this.#machine.rules;
    const find = () => this.#isNarrow(state) ? this.#all(state, leaps) : this.#long(state, leaps);
    work.within(SHARE, () => unlessOutOfWork(find, undefined));
    return [...leaps.values()];
  }

  /** Whether only few bytes may come. */
  #isNarrow(state: State): boolean {
    if (this.#machine.loopOf(state).classes !== 0) return false;
    const { ends, nodes, bytes } = this.#table;
    let count = 0;
    for (let node = 1; node < nodes && count <= MOST_BYTES; node = ends[node]!) {
      if (this.#machine.step(state, bytes[node]!) !== DEAD) count++;
    }
    return count <= MOST_BYTES;
  }

  /** Adds all tokens that bring the end nearer. */
  #all(start: State, leaps: Map<State, Leap>): void {
    const { nodes, bytes, depths, ends, firsts, longest } = this.#table;
    const { work } = this.#machine.rules;
    const cost = this.#completion.cost(start);
    const path = new Int32Array(longest + 1);
    path[0] = start;
    let visited = 0;
    for (let node = 1; node < nodes;) {
      work.charge(NODE_STEPS);
      const depth = depths[node]!;
      const next = this.#machine.step(path[depth - 1]!, bytes[node]!);
      if (next === DEAD || next === UNRESOLVED) {
        node = ends[node]!;
        continue;
      }
      if (++visited > MOST_NODES) return;
      path[depth] = next;
      const isToken = firsts[node]! < firsts[node + 1]!;
      if (isToken && !leaps.has(next) && this.#completion.cost(next) < cost) {
        leaps.set(next, { node, next });
      }
      node++;
    }
  }

  /** Adds the longest token of each kind of text that may come and brings the end nearer. */
  #long(start: State, leaps: Map<State, Leap>): void {
    const cost = this.#completion.cost(start);
    for (const classes of KINDS) {
      for (const token of this.#table.characters.ofEachLength(classes)) {
        const leap = this.#run(start, this.#table.bytesOf(token));
        if (!leap || this.#completion.cost(leap.next) >= cost) continue;
        leaps.set(leap.next, leap);
        break;
      }
    }
  }

  #run(state: State, bytes: Uint8Array): Leap | undefined {
    let node = 0;
    for (const byte of bytes) {
      this.#machine.rules.work.charge(NODE_STEPS);
      state = this.#machine.step(state, byte);
      if (state === DEAD || state === UNRESOLVED) return undefined;
      node = this.#table.childOf(node, byte);
    }
    return { node, next: state };
  }
}
