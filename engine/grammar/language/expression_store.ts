// Hash-consed regular expressions in flat columns: equal nodes have equal ids. Beside its operands
// a node has facts that derivatives need often. The algebra is in expressions.ts.

import { LanguageError } from "./errors.ts";
import { Work } from "./work.ts";

/** A node of an {@linkcode ExpressionStore}. */
export type Expression = number;

/** The operators. Lists (Or, And) and Concat nest to the right. */
export const Kind = {
  /** No text. */
  Empty: 0,
  /** The empty text. */
  Epsilon: 1,
  /** One character of a set. */
  Set: 2,
  Concat: 3,
  Repeat: 4,
  Or: 5,
  And: 6,
  Not: 7,
  /** Matches nothing, if the rest of the text is in a language. */
  Ahead: 8,
  /** Matches nothing, if the text from now on up to the position of the assertion is in a language. */
  Behind: 9,
} as const;

/** Bits of {@linkcode ExpressionStore.flags}. */
export const Flag = {
  /** The empty text matches if nothing follows. */
  Nullable: 1,
  /**
   * Consists of sets, Concat, Or and Repeat only: it is not empty, and its noted lengths are exact.
   */
  Plain: 2,
  /** Contains an Ahead or Behind that refers to text beyond the node itself. */
  Open: 4,
  /** Contains a Behind. */
  Behind: 8,
  /** May match nothing, perhaps under conditions. */
  Skippable: 16,
} as const;

/** The facts of a node besides its operands. */
export interface NodeFacts {
  readonly flags: number;
  /** Fewest and most characters, as bounds. */
  readonly min: number;
  readonly max: number;
  readonly depth: number;
}

/** Most nodes that masks and compilers may make: some 50 MB. */
const MAX_NODES = 400_000;

/** A number above all nodes, also after a token is added to one. */
export const BEYOND_NODES = 1 << 24;

/** Deepest nesting, in which a list counts once. Functions recurse to this depth. */
const MAX_DEPTH = 400;

/** The columns of facts. */
const COLUMNS = ["kinds", "first", "second", "third", "flags", "min", "max", "depth"] as const;

/** The nodes. Columns are public for reading. */
export class ExpressionStore {
  readonly kinds: number[] = [];
  /** Set: its index. Concat, Or, And: the first. Others: the only operand. */
  readonly first: number[] = [];
  /** Concat, Or, And: the rest. Repeat: the fewest times. */
  readonly second: number[] = [];
  /** Repeat: the most times, or -1. */
  readonly third: number[] = [];
  readonly flags: number[] = [];
  readonly min: number[] = [];
  readonly max: number[] = [];
  readonly depth: number[] = [];
  /** Counts the nodes that are requested, which measures the time of all work on expressions. */
  readonly work: Work;
  #slots: Int32Array = new Int32Array(1024);
  /**
   * Nodes below this number belong to the schema; later ones were made during masks, and may be
   * dropped.
   */
  #base = 0;

  /** @param of a store whose base is copied */
  constructor(work: Work, of?: ExpressionStore) {
    this.work = work;
    if (!of) return;
    for (const column of COLUMNS) {
      for (let id = 0; id < of.#base; id++) this[column].push(of[column][id]!);
    }
    this.#base = of.#base;
    do this.#grow(); while (2 * this.size > this.#slots.length);
  }

  /** Makes all nodes so far part of the base. */
  settle(): void {
    this.#base = this.size;
  }

  /** Number of nodes that stay. */
  get base(): number {
    return this.#base;
  }

  /** Whether the store is full, so that masks may add nothing. */
  get isFull(): boolean {
    return this.work.isFull(this.size - this.#base, MAX_NODES);
  }

  /** Number of nodes. */
  get size(): number {
    return this.kinds.length;
  }

  /** Whether a node has all of some flags. */
  has(expression: Expression, flags: number): boolean {
    return (this.flags[expression]! & flags) === flags;
  }

  /**
   * The node of these operands.
   * @param facts called when the node is new
   * @throws {LanguageError} when there are too many, or they nest too deep
   */
  intern(
    kind: number,
    first: number,
    second: number,
    third: number,
    facts: () => NodeFacts,
  ): Expression {
    this.work.spend(1);
    let slot = this.#hash(kind, first, second, third);
    const mask = this.#slots.length - 1;
    for (;; slot = (slot + 1) & mask) {
      const id = this.#slots[slot]! - 1;
      if (id < 0) break;
      if (
        this.kinds[id] === kind && this.first[id] === first && this.second[id] === second &&
        this.third[id] === third
      ) return id;
    }
    return this.#add(slot, kind, first, second, third, facts());
  }

  #add(
    slot: number,
    kind: number,
    first: number,
    second: number,
    third: number,
    facts: NodeFacts,
  ): Expression {
    const id = this.size;
    this.work.keep(id - this.#base, MAX_NODES, "expressions");
    if (facts.depth > MAX_DEPTH) {
      throw new LanguageError(`Building a language: it nests over ${MAX_DEPTH} operators`);
    }
    this.kinds.push(kind);
    this.first.push(first);
    this.second.push(second);
    this.third.push(third);
    this.flags.push(facts.flags);
    this.min.push(facts.min);
    this.max.push(facts.max);
    this.depth.push(facts.depth);
    this.#slots[slot] = id + 1;
    if (2 * this.size > this.#slots.length) this.#grow();
    return id;
  }

  #hash(kind: number, first: number, second: number, third: number): number {
    let hash = Math.imul(kind + 1, 0x9e3779b1) ^ Math.imul(first + 1, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35) ^ Math.imul(second + 1, 0x27d4eb2f);
    hash = Math.imul(hash ^ (hash >>> 13), 0x165667b1) ^ Math.imul(third + 1, 0x9e3779b1);
    return (hash ^ (hash >>> 16)) & (this.#slots.length - 1);
  }

  #grow(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let id = 0; id < this.size; id++) {
      let slot = this.#hash(this.kinds[id]!, this.first[id]!, this.second[id]!, this.third[id]!);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = id + 1;
    }
  }
}
