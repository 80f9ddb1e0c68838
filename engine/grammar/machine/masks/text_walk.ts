// The walk through the trie of a vocabulary's tokens, in depth-first order. Whoever asks for it
// visits the nodes; it counts the work, and notes what had to be left out.

import {
  EVERY_CLASS,
  expectOutOfWork,
  ROUGH,
  unlessOutOfWork,
  type Work,
} from "../../language/mod.ts";
import { NO_WORDS, type WordSet, type WordSets } from "../collections.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import { CountRange, type TextPosition, type TextRules } from "../texts/text_rules.ts";
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

/** Visits a node. Returns whether the nodes below it are to be visited. Errors: OutOfWork. */
export type Visit = (node: number) => boolean;

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

  /**
   * Visits those below a node. From the root, what takes too much work does not keep the rest from
   * being visited: if the budget is not enough, short tokens are decided before longer ones. What
   * was found is kept, so that no step is taken twice.
   */
  #below(node: number, visit: Visit, next: Int32Array | undefined): void {
    const walk = () => this.#walk(node + 1, this.table.ends[node]!, visit, next);
    if (node !== 0) return walk();
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
    const { ends, depths } = this.table;
    for (let node = next ? next[first]! : first; node < end;) {
      if (this.#isOver()) return;
      let goesOn = false;
      try {
        goesOn = visit(node);
      } catch (error) {
        this.giveUp(error);
      }
      node = goesOn && depths[node]! < this.#deepest ? node + 1 : ends[node]!;
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

// The tokens that stay within a text, and the nodes of the trie at which others end it. The frames
// around the text do not matter, so the result applies wherever the text occurs. If any plain text
// can be completed, the plain tokens need no walk: only what leads to a quote or an escape is left.

/** The tokens of a text, independently of its context. */
export interface TextMask {
  /** The tokens that stay within it. */
  readonly bits: Uint32Array<ArrayBuffer>;
  /** The nodes of the quotes that end it. */
  readonly exits: readonly number[];
  /** The numbers of characters to which this applies. */
  readonly fewest: number;
  readonly most: number;
  /** Whether some tokens are missing because the budget was spent. */
  readonly isPartial: boolean;
}

/** What texts are walked with. */
interface Surroundings {
  readonly stacks: { readonly words: WordSets };
  readonly avoidance: WordAvoidance;
}

/** The plain tokens that fit: those of some classes with at most so many characters. */
interface PlainTokens {
  readonly classes: number;
  readonly most: number;
}

const QUOTE = 0x22;

/** Most bytes that may come where few may, the quote included. */
const NARROW = 4;

/** Steps of work for finding out that few may. */
const NARROW_STEPS = 4;

/** The fraction of the budget for finding out which plain tokens fit. */
const PLAIN_SHARE = 0.25;

/** Walks texts through the tokens of a vocabulary. */
export class TextWalk {
  readonly #walk: TrieWalk;
  readonly #table: TokenTable;
  readonly #words: WordSets;
  readonly #avoidance: WordAvoidance;
  /** By depth: what is known along the path of a walk. */
  readonly #states: Int32Array;
  readonly #characters: Int32Array;
  readonly #avoided: Int32Array;
  #text!: TextRules;
  #bits!: Uint32Array;
  #exits!: number[];
  /** Whether the plain tokens are set already. */
  #isRough = false;
  #range = new CountRange();

  constructor(walk: TrieWalk, { stacks, avoidance }: Surroundings) {
    this.#walk = walk;
    this.#table = walk.table;
    this.#words = stacks.words;
    this.#avoidance = avoidance;
    this.#states = new Int32Array(walk.table.longest + 1);
    this.#characters = new Int32Array(walk.table.longest + 1);
    this.#avoided = new Int32Array(walk.table.longest + 1);
  }

  /** The tokens of a text from a position on. */
  whole(position: TextPosition): TextMask {
    const walk = this.#walk;
    const { size, characters } = this.#table;
    this.#range = new CountRange();
    // Most of the budget is for the walk.
    const plain = walk.work.within(
      PLAIN_SHARE,
      () => unlessOutOfWork(() => this.#plainTokens(position), undefined),
    );
    const bits = plain
      ? characters.plain(plain.classes, plain.most).slice()
      : new Uint32Array(Math.ceil(size / 32));
    this.#begin(bits, 0, position);
    const isPartial = walk.leavesOut(() =>
      plain ? this.#visitRough(0) : walk.below(0, this.#visit)
    );
    const [fewest, most] = this.#range.around(position.characters);
    return { bits, exits: [...new Set(this.#exits)], fewest, most, isPartial };
  }

  /**
   * Sets the bits of the tokens below a node that stay within the text, which is at `position` there.
   * Returns the nodes of the quotes that end it.
   */
  add(bits: Uint32Array, node: number, position: TextPosition): readonly number[] {
    this.#begin(bits, this.#table.depths[node]!, position);
    this.#walk.below(node, this.#visit);
    return this.#exits;
  }

  /**
   * As {@linkcode add} from the root, if only few bytes may come, as in a constant: then most
   * subtrees below the root are dead ends. Otherwise undefined, and no bits are set.
   */
  addNarrow(bits: Uint32Array, position: TextPosition): readonly number[] | undefined {
    const nodes = unlessOutOfWork(() => this.#narrowNodes(position), undefined);
    if (!nodes) return undefined;
    this.#walk.work.spend(NARROW_STEPS);
    this.#begin(bits, 0, position);
    for (const node of nodes) this.#walk.from(node, this.#visit);
    return this.#exits;
  }

  /** The nodes below the root of the bytes that may come, and of the quote, if they are few. */
  #narrowNodes({ text: { automaton }, state }: TextPosition): readonly number[] | undefined {
    const { bytes, ends, nodes } = this.#table;
    const found: number[] = [];
    for (let child = 1; child < nodes; child = ends[child]!) {
      const byte = bytes[child]!;
      if (byte !== QUOTE && automaton.step(state, byte) === 0) continue;
      if (found.length === NARROW) return undefined;
      found.push(child);
    }
    return found;
  }

  #begin(
    bits: Uint32Array,
    depth: number,
    { text, state, characters, avoided }: TextPosition,
  ): void {
    this.#text = text;
    this.#bits = bits;
    this.#exits = [];
    this.#isRough = false;
    this.#states[depth] = state;
    this.#characters[depth] = characters;
    this.#avoided[depth] = avoided;
  }

  /** The plain tokens that fit; undefined if they have to be tried. Errors: OutOfWork. */
  #plainTokens({ text, state, characters, avoided }: TextPosition): PlainTokens | undefined {
    const { longest } = this.#table;
    const range = this.#range;
    // Without an upper limit there are always more texts than words to avoid.
    if (avoided !== NO_WORDS && text.isBounded) return undefined;
    if (isOpen(text, state, characters + longest, range)) {
      return { classes: EVERY_CLASS, most: longest };
    }
    if (!text.isClosed(state)) return undefined;
    const most = text.charactersLeft(state, characters);
    if (!range.isAtMost(longest, most)) range.narrow();
    return { classes: text.loops(state), most };
  }

  #visitRough(node: number): void {
    this.#isRough = true;
    this.#walk.roughBelow(node, this.#visit);
    this.#isRough = false;
  }

  readonly #visit = (node: number): boolean => {
    const { bytes, depths, ends, characters } = this.#table;
    const { automaton, isBounded } = this.#text;
    const depth = depths[node]!;
    const byte = bytes[node]!;
    const state = this.#states[depth - 1]!;
    const before = this.#characters[depth - 1]!;
    const avoided = this.#avoided[depth - 1]!;
    // Once the budget is spent, only what is known already is walked.
    if (this.#walk.work.isSpent && automaton.isKnown?.(state, byte) === false) {
      this.#walk.isPartial = true;
      return false;
    }
    const next = automaton.step(state, byte);
    if (next === 0) {
      if (byte === QUOTE) this.#end(node, state, before, avoided);
      return false;
    }
    const rest = avoided === NO_WORDS ? NO_WORDS : this.#words.after(avoided, byte);
    const counted = isBounded && automaton.isBoundary(next) ? before + 1 : before;
    this.#states[depth] = next;
    this.#characters[depth] = counted;
    this.#avoided[depth] = rest;
    // Of plain tokens those that fit are set already.
    if (this.#isRough && characters.isPlain(node)) return true;
    if (isBounded && !this.#text.isFeasible(next, counted, this.#range)) return false;
    if (rest !== NO_WORDS && !this.#canAvoid(next, counted, rest)) return false;
    this.#table.addTokensAt(this.#bits, node);
    if (!this.#walk.isBulk(node) || rest !== NO_WORDS) return true;
    if (unlessOutOfWork(() => this.#takesAll(node, next, counted), false)) {
      this.#table.addTokensBelow(this.#bits, node);
      return false;
    }
    if (this.#isRough || !characters.isPlain(node)) return true;
    const height = counted + characters.heights[node]!;
    const takesPlain = () => isOpen(this.#text, next, height, this.#range);
    if (!unlessOutOfWork(takesPlain, false)) return true;
    characters.addPlain(this.#bits, node + 1, ends[node]!, EVERY_CLASS, Infinity);
    this.#visitRough(node);
    return false;
  };

  #canAvoid(state: number, characters: number, avoided: WordSet): boolean {
    // A search along words depends on too many numbers to note them.
    if (this.#text.isBounded) this.#range.narrow();
    return this.#avoidance.isPossible(this.#text, state, characters, avoided);
  }

  /** Whether all tokens below a node lead back to its state, and are not too long. */
  #takesAll(node: number, state: number, counted: number): boolean {
    const text = this.#text;
    const { below, heights } = this.#table.characters;
    const classes = below[node]!;
    if ((classes & ROUGH) !== 0 || (classes & ~text.loops(state)) !== 0) return false;
    return this.#range.isAtMost(heights[node]!, text.charactersLeft(state, counted));
  }

  #end(node: number, state: number, characters: number, avoided: WordSet): void {
    if (!this.#text.isComplete(state, characters, this.#range)) return;
    if (avoided === NO_WORDS || !this.#words.hasEmpty(avoided)) this.#exits.push(node);
  }
}

/** Whether a text can be completed after any plain text that makes it so long at most. */
function isOpen(text: TextRules, state: number, length: number, range: CountRange): boolean {
  const missing = text.mostMissing(state);
  return missing < Infinity && (!text.isBounded || range.isAtMost(length + missing, text.max));
}
