// The tokens that may come in a state: a walk through the trie of tokens that skips dead ends. What
// a text, number or key allows by itself has walks of its own, whose results apply in all contexts.
// Only tokens that end it and continue after it are walked in the context.

import { expectOutOfWork } from "../../language/mod.ts";
import type { Before, SpelledEnds } from "../spelled_ends.ts";
import type { Stack } from "../frames/stacks.ts";
import { DEAD, type Machine, NO_LOOP, type State, UNRESOLVED } from "../machine.ts";
import type { TokenTable } from "../token_table.ts";
import { type Exits, type LocalMask, LocalMasks } from "./local_masks.ts";
import { TrieWalk } from "./trie_walk.ts";

/** Bytes of masks that are kept. */
const MAX_BYTES = 32 << 20;

/**
 * If a state has at least so many local frames, those with few tokens get no mask of their own,
 * because a mask takes 16 KB and unions of a thousand constants are common.
 */
const MANY_LOCALS = 32;

/** The tokens that may come in a state. */
export interface TokenMask {
  /** Bit t of word t >> 5 for token t. Read only. */
  readonly bits: Uint32Array<ArrayBuffer>;
  /** Nodes whose tokens depend on the text of a key or item. */
  readonly deferred: readonly number[];
  /** Whether some tokens are missing because the budget was spent. */
  readonly isPartial: boolean;
}

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

/** By node at which tokens leave local frames: the possible states there. */
type ExitsByNode = Map<number, (() => State)[]>;

function gather(exits: ExitsByNode, { nodes, after }: Exits): void {
  let known: State | undefined;
  const once = () => known ??= after();
  for (const node of nodes) {
    const ways = exits.get(node);
    if (ways) ways.push(once);
    else exits.set(node, [once]);
  }
}

/** Masks of one machine and vocabulary. */
export class TokenMasks {
  readonly #machine: Machine;
  readonly #table: TokenTable;
  readonly #words: number;
  readonly #byState = new Map<State, TokenMask>();
  /** By the first local mask and what comes after it, if there is nothing else. */
  readonly #byLocal = new Map<LocalMask, Map<State, TokenMask>>();
  readonly #locals: LocalMasks;
  readonly #trie: TrieWalk;
  #kept = 0;
  /** The states along the path of a walk, by depth. A nested walk only writes to greater depths. */
  readonly #path: Int32Array;
  readonly #isGrammar: boolean;
  /** The mask that is being made, and its nodes that depend on a text. */
  #bits!: Uint32Array<ArrayBuffer>;
  #deferred!: number[];
  /** By depth: the bytes of white space on the path that have not changed the state. */
  readonly #spaces: Uint8Array;

  constructor(machine: Machine, table: TokenTable) {
    this.#machine = machine;
    this.#table = table;
    this.#words = Math.ceil(table.size / 32);
    this.#trie = new TrieWalk(table, machine.rules.work);
    this.#locals = new LocalMasks(machine, this.#trie, () => this.#makeRoom());
    this.#isGrammar = machine.rules.program !== undefined;
    this.#path = new Int32Array(table.longest + 1);
    this.#spaces = new Uint8Array(table.longest + 1);
  }

  /** The tokens that may come in a state, end tokens included if the value is complete. */
  of(given: State): TokenMask {
    const state = this.#machine.rounded(given, this.#table.longest);
    let mask = this.#byState.get(state);
    if (!mask) {
      this.#trie.isPartial = false;
      mask = this.#make(state);
      if (!mask.isPartial) this.#byState.set(state, mask);
    }
    return mask;
  }

  /** Whether tokens were left out of the last result because the budget was spent. */
  get isPartial(): boolean {
    return this.#trie.isPartial;
  }

  /**
   * The tokens that reach a goal, as far as they are found within the budget.
   */
  within(state: State, goal: Goal): Uint32Array<ArrayBuffer> {
    const bits = new Uint32Array(this.#words);
    if (this.#machine.isComplete(state)) this.#addEndTokens(bits);
    try {
      goal.ends.addAlong(bits, state, goal.limit, () => goal.before(0));
    } catch (error) {
      expectOutOfWork(error);
    }
    addWithin(this.#trie, bits, this.#machine, state, goal);
    return bits;
  }

  /**
   * Sets the bits of the tokens below a node that may come, from `state` at the node. Nodes that
   * depend on a text are added to `deferred`.
   */
  addBelow(bits: Uint32Array<ArrayBuffer>, node: number, state: State, deferred: number[]): void {
    this.#walk(state, node, bits, deferred);
  }

  /** Sets the bits of the tokens that end at a node. */
  addAt(bits: Uint32Array<ArrayBuffer>, node: number): void {
    this.#table.addTokensAt(bits, node);
  }

  #make(state: State): TokenMask {
    const machine = this.#machine;
    const { locals, others } = machine.split(state);
    if (locals.length === 1 && others === DEAD) return this.#ofLocal(state, locals[0]!);
    const bits = this.#newBits();
    const deferred: number[] = [];
    const exits: ExitsByNode = new Map();
    const areMany = locals.length > MANY_LOCALS;
    for (const stack of locals) {
      const narrow = areMany ? this.#locals.addNarrow(bits, stack) : undefined;
      if (narrow) {
        gather(exits, narrow);
        continue;
      }
      const local = this.#locals.whole(stack);
      if (local) {
        for (let word = 0; word < bits.length; word++) bits[word]! |= local.bits[word]!;
        gather(exits, { nodes: local.exits, after: () => this.#locals.after(stack) });
      } else this.#addLocal(stack, 0, bits, exits);
    }
    this.#leaveAll(exits, bits, deferred);
    if (others !== DEAD) this.#walkOthers(others, 0, bits, deferred);
    if (machine.isComplete(state)) this.#addEndTokens(bits);
    return { bits, deferred: [...new Set(deferred)], isPartial: this.isPartial };
  }

  /** The mask of a single local frame. Frames that tokens cannot distinguish share a mask. */
  #ofLocal(state: State, stack: Stack): TokenMask {
    const local = this.#locals.whole(stack);
    const after = local ? this.#locals.after(stack) : DEAD;
    const known = local && this.#byLocal.get(local)?.get(after);
    if (known) return known;
    this.#makeRoom();
    const bits = local ? local.bits.slice() : new Uint32Array(this.#words);
    const deferred: number[] = [];
    const exits: ExitsByNode = new Map();
    if (!local) this.#addLocal(stack, 0, bits, exits);
    else {
      gather(exits, { nodes: local.exits, after: () => after });
    }
    this.#leaveAll(exits, bits, deferred);
    if (this.#machine.isComplete(state)) this.#addEndTokens(bits);
    const mask = { bits, deferred, isPartial: this.isPartial };
    if (local && !mask.isPartial) {
      let masks = this.#byLocal.get(local);
      if (!masks) this.#byLocal.set(local, masks = new Map());
      masks.set(after, mask);
    }
    return mask;
  }

  #addLocal(stack: Stack, node: number, bits: Uint32Array<ArrayBuffer>, exits: ExitsByNode): void {
    for (const exit of this.#locals.add(bits, node, stack)) gather(exits, exit);
  }

  /**
   * Continues at the nodes at which tokens have left local frames, in all possible states at once.
   */
  #leaveAll(exits: ExitsByNode, bits: Uint32Array<ArrayBuffer>, deferred: number[]): void {
    for (const [node, ways] of exits) {
      try {
        const states = [...new Set(ways.map((after) => after()))];
        this.#walk(this.#machine.anyOf(states), node, bits, deferred);
      } catch (error) {
        this.#trie.giveUp(error);
      }
    }
  }

  /** Walks the subtree of a node, local frames separately from all else. */
  #walk(state: State, node: number, bits: Uint32Array<ArrayBuffer>, deferred: number[]): void {
    const { locals, others } = this.#machine.split(state);
    const exits: ExitsByNode = new Map();
    for (const stack of locals) this.#addLocal(stack, node, bits, exits);
    this.#leaveAll(exits, bits, deferred);
    if (others !== DEAD) this.#walkOthers(others, node, bits, deferred);
  }

  #walkOthers(
    state: State,
    node: number,
    bits: Uint32Array<ArrayBuffer>,
    deferred: number[],
  ): void {
    const depth = this.#table.depths[node]!;
    this.#path[depth] = state;
    this.#spaces[depth] = 0;
    // Nested walks are for the same mask.
    this.#bits = bits;
    this.#deferred = deferred;
    this.#trie.below(node, this.#visit);
  }

  readonly #visit = (node: number, depth: number, byte: number): boolean => {
    const machine = this.#machine;
    const table = this.#table;
    const path = this.#path;
    const spaces = this.#spaces;
    const before = path[depth - 1]!;
    const most = machine.rules.isSpace(byte) ? machine.spacesAt(before) : 0;
    const isSpace = most > 0;
    const next = !isSpace ? machine.step(before, byte) : spaces[depth - 1]! < most ? before : DEAD;
    if (next === UNRESOLVED) this.#deferred.push(node);
    if (next === DEAD || next === UNRESOLVED) return false;
    table.addTokensAt(this.#bits, node);
    if (table.isLeaf(node)) return false;
    const { characters } = table;
    const loop = this.#isGrammar ? machine.loopOf(next) : NO_LOOP;
    if ((characters.below[node]! & ~loop.classes) === 0 && characters.heights[node]! <= loop.most) {
      table.addTokensBelow(this.#bits, node);
      return false;
    }
    if (machine.split(next).locals.length > 0) {
      this.#walk(next, node, this.#bits, this.#deferred);
      return false;
    }
    path[depth] = next;
    spaces[depth] = isSpace ? spaces[depth - 1]! + 1 : 0;
    return true;
  };

  #addEndTokens(bits: Uint32Array): void {
    for (const token of this.#table.endTokens) bits[token >>> 5]! |= 1 << (token & 31);
  }

  #newBits(): Uint32Array<ArrayBuffer> {
    this.#makeRoom();
    return new Uint32Array(this.#words);
  }

  /** Drops all masks when one more would exceed the memory for them. */
  #makeRoom(): void {
    this.#kept += 4 * this.#words;
    if (this.#kept <= MAX_BYTES) return;
    this.#kept = 4 * this.#words;
    this.#byState.clear();
    this.#byLocal.clear();
    this.#locals.clear();
  }
}

/** Sets the bits of the tokens that fit in a state. */
function addWithin(
  walk: TrieWalk,
  bits: Uint32Array<ArrayBuffer>,
  machine: Machine,
  state: State,
  { limit, ends, reach, before }: Goal,
): void {
  const { table } = walk;
  const { firsts, characters } = table;
  /** The states along the path, by depth. */
  const path = [state];
  walk.below(0, (node, depth, byte) => {
    const above = path[depth - 1]!;
    let next = machine.step(above, byte);
    if (next === UNRESOLVED) next = reach(node);
    if (next === DEAD) return false;
    path[depth] = next;
    const isBulk = walk.isBulk(node);
    const isToken = firsts[node]! < firsts[node + 1]!;
    if (!isToken && !isBulk) return true;
    const document: Before = () => before(node);
    const fits = ends.fits(next, limit, document);
    // Finding a loop takes too long for a few nodes.
    const { classes, most, alone } = isBulk ? machine.loopOf(next) : NO_LOOP;
    const isLoop = (characters.below[node]! & ~classes) === 0 &&
      characters.heights[node]! <= most;
    const takesAll = isLoop && fits && (alone === next || ends.fits(alone, limit, document));
    if (fits) table.addTokensAt(bits, node);
    if (takesAll) table.addTokensBelow(bits, node);
    // Where further characters change nothing, they bring no end nearer either.
    return !takesAll && !(isLoop && !fits && next === above);
  });
}
