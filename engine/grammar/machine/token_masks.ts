// Which tokens may come in a state: a walk through the trie of tokens that leaves out subtrees in
// bulk, dead ones and such as a string takes whole. What a text allows by itself is found once for
// all contexts; only tokens that end the text and go on are walked in the context.

import { DEAD, type Machine, type State, UNRESOLVED } from "./machine.ts";
import type { Stack } from "./stacks.ts";
import { type TextPlace, TextWalk } from "./text_walk.ts";
import type { TokenTable } from "./token_table.ts";

/** Bytes of masks that are kept. */
const MAX_BYTES = 32 << 20;

/** The tokens that may come in a state. */
export interface TokenMask {
  /** Bit t of word t >> 5 for token t. Not to be written to. */
  readonly bits: Uint32Array<ArrayBuffer>;
  /** Nodes whose tokens depend on the text of a key or item. */
  readonly late: readonly number[];
}

/** What a text allows in any context, and the nodes of the quotes that end it. */
interface TextMask {
  readonly bits: Uint32Array<ArrayBuffer>;
  readonly quotes: readonly number[];
}

/** Tokens after which the document can end in time. */
interface Budget {
  /** Bytes that may be missing after the token. */
  readonly limit: number;
  readonly cost: (state: State) => number;
  /** The fewest that are missing after any token. */
  least: number;
}

/** Masks of one machine and vocabulary. */
export class TokenMasks {
  readonly #machine: Machine;
  readonly #table: TokenTable;
  readonly #words: number;
  readonly #byState = new Map<State, TokenMask>();
  readonly #byTexts = new Map<string, TokenMask>();
  readonly #texts = new Map<string, TextMask>();
  readonly #textWalk: TextWalk;
  #kept = 0;
  /** States along the path of a walk, by depth; a walk within a walk only writes below it. */
  readonly #path: Int32Array;

  constructor(machine: Machine, table: TokenTable) {
    this.#machine = machine;
    this.#table = table;
    this.#words = Math.ceil(table.size / 32);
    this.#textWalk = new TextWalk(table, machine.stacks.words, machine.avoidance);
    this.#path = new Int32Array(table.longest + 1);
  }

  /** The tokens that may come in a state, end tokens among them where the value is complete. */
  of(state: State): TokenMask {
    let mask = this.#byState.get(state);
    if (!mask) {
      mask = this.#make(state);
      this.#byState.set(state, mask);
    }
    return mask;
  }

  /**
   * The tokens after which at most `limit` bytes are missing, or if there are none, those after
   * which the fewest are. Tokens that depend on the text of a key or item are left out.
   */
  within(state: State, limit: number, cost: (state: State) => number): Uint32Array<ArrayBuffer> {
    const bits = new Uint32Array(this.#words);
    if (this.#machine.isComplete(state)) this.#addEndTokens(bits);
    const budget = { limit, cost, least: Infinity };
    this.#walkWithin(state, bits, budget);
    if (limit < budget.least && bits.every((word) => word === 0)) {
      this.#walkWithin(state, bits, { ...budget, limit: budget.least });
    }
    return bits;
  }

  /**
   * Sets the bits of the tokens below a node that may come; `state` is the state at the node. Nodes
   * that depend on a text are added to `late`.
   */
  addBelow(bits: Uint32Array, node: number, state: State, late: number[]): void {
    this.#walk(state, node, bits, late);
  }

  /** Sets the bits of the tokens that end at a node. */
  addAt(bits: Uint32Array, node: number): void {
    const { firsts } = this.#table;
    this.#table.addTokens(bits, firsts[node]!, firsts[node + 1]!);
  }

  #make(state: State): TokenMask {
    const { texts, others } = this.#machine.split(state);
    if (others === DEAD) return this.#ofTexts(texts);
    const bits = this.#newBits();
    const late: number[] = [];
    this.#walk(state, 0, bits, late);
    if (this.#machine.isComplete(state)) this.#addEndTokens(bits);
    return { bits, late };
  }

  /** The mask of texts; those that tokens do not tell apart have one mask. */
  #ofTexts(stacks: readonly Stack[]): TokenMask {
    const machine = this.#machine;
    const key = stacks
      .map((stack) => `${this.#keyOf(machine.textOf(stack))},${machine.afterText(stack)}`)
      .join();
    let mask = this.#byTexts.get(key);
    if (!mask) {
      const bits = this.#newBits();
      const late: number[] = [];
      for (const stack of stacks) {
        const local = this.#textMask(machine.textOf(stack));
        for (let word = 0; word < bits.length; word++) bits[word]! |= local.bits[word]!;
        this.#goOn(machine.afterText(stack), local.quotes, bits, late);
      }
      mask = { bits, late };
      this.#byTexts.set(key, mask);
    }
    return mask;
  }

  /** What tells texts apart, as far as tokens can. */
  #keyOf({ text, state, characters, avoided }: TextPlace): string {
    const rounded = text.roundedCharacters(state, characters, this.#table.longest);
    return `${this.#machine.rules.texts.indexOf(text)},${state},${rounded},${avoided}`;
  }

  #textMask(place: TextPlace): TextMask {
    const key = this.#keyOf(place);
    let mask = this.#texts.get(key);
    if (!mask) {
      this.#makeRoom();
      mask = this.#textWalk.whole(place);
      this.#texts.set(key, mask);
    }
    return mask;
  }

  /** Goes on after quotes that end a text. */
  #goOn(after: State, quotes: readonly number[], bits: Uint32Array, late: number[]): void {
    for (const node of quotes) {
      this.addAt(bits, node);
      if (this.#table.ends[node]! > node + 1) this.#walk(after, node, bits, late);
    }
  }

  /** Walks what is below a node, texts apart from all else. */
  #walk(state: State, node: number, bits: Uint32Array, late: number[]): void {
    const machine = this.#machine;
    const { texts, others } = machine.split(state);
    for (const stack of texts) {
      const quotes: number[] = [];
      this.#textWalk.add(bits, node, machine.textOf(stack), quotes);
      this.#goOn(machine.afterText(stack), quotes, bits, late);
    }
    if (others !== DEAD) this.#walkOthers(others, node, bits, late);
  }

  #walkOthers(state: State, node: number, bits: Uint32Array, late: number[]): void {
    const machine = this.#machine;
    const table = this.#table;
    const { bytes, depths, ends, firsts } = table;
    const path = this.#path;
    path[depths[node]!] = state;
    const end = ends[node]!;
    for (let child = node + 1; child < end;) {
      const depth = depths[child]!;
      const next = machine.step(path[depth - 1]!, bytes[child]!);
      const below = ends[child]!;
      if (next === DEAD || next === UNRESOLVED) {
        if (next === UNRESOLVED) late.push(child);
        child = below;
        continue;
      }
      table.addTokens(bits, firsts[child]!, firsts[child + 1]!);
      if (below > child + 1 && machine.split(next).texts.length > 0) {
        this.#walk(next, child, bits, late);
        child = below;
      } else {
        path[depth] = next;
        child++;
      }
    }
  }

  /** As a walk, with only tokens that fit in a budget; texts are states like others. */
  #walkWithin(state: State, bits: Uint32Array, budget: Budget): void {
    const machine = this.#machine;
    const table = this.#table;
    const { bytes, depths, ends, firsts, classes, heights } = table;
    const path = this.#path;
    path[0] = state;
    for (let child = 1; child < table.nodes;) {
      const depth = depths[child]!;
      const next = machine.step(path[depth - 1]!, bytes[child]!);
      const below = ends[child]!;
      if (next === DEAD || next === UNRESOLVED) {
        child = below;
        continue;
      }
      const { classes: loops, room } = machine.loopOf(next);
      const isLoop = (classes[child]! & ~loops) === 0 && heights[child]! <= room;
      if (fitsIn(budget, next)) {
        table.addTokens(bits, firsts[child]!, firsts[isLoop ? below : child + 1]!);
      }
      path[depth] = next;
      child = isLoop ? below : child + 1;
    }
  }

  #addEndTokens(bits: Uint32Array): void {
    for (const token of this.#table.endTokens) bits[token >>> 5]! |= 1 << (token & 31);
  }

  #newBits(): Uint32Array<ArrayBuffer> {
    this.#makeRoom();
    return new Uint32Array(this.#words);
  }

  /** Gives all masks up when there is no room for one more. */
  #makeRoom(): void {
    this.#kept += 4 * this.#words;
    if (this.#kept <= MAX_BYTES) return;
    this.#kept = 4 * this.#words;
    this.#byState.clear();
    this.#byTexts.clear();
    this.#texts.clear();
  }
}

function fitsIn(budget: Budget, state: State): boolean {
  const cost = budget.cost(state);
  budget.least = Math.min(budget.least, cost);
  return cost <= budget.limit;
}
