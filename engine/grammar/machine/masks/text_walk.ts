// The tokens that stay within a text or end it, and the nodes of the trie behind which others go on.
// The frames around the text do not matter, so the result applies wherever the text occurs. If any
// plain text can be completed, the plain tokens need no walk: only what leads to a quote or an escape
// is left.

import { EVERY_CLASS, expectOutOfWork, ROUGH, unlessOutOfWork } from "../../language/mod.ts";
import { NO_WORDS, type WordSet, type WordSets } from "../collections.ts";
import {
  CountRange,
  type PlainTextsWithin,
  type TextPosition,
  type TextRules,
} from "../texts/text_rules.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import type { TokenTable } from "../token_table.ts";
import type { TrieWalk } from "./trie_walk.ts";

/** The tokens of a text, independently of its context. */
export interface TextMask {
  /** The tokens that stay within it, or end with its quote. */
  readonly bits: Uint32Array<ArrayBuffer>;
  /** The nodes of the quotes that end it, behind which tokens go on. */
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

const QUOTE = 0x22;

/** The loops of a state of which they are not found yet. */
const UNKNOWN_LOOPS = -1;

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
  /** By depth: the classes of characters that lead back to the state, as far as they are known. */
  readonly #loops: Int32Array;
  #text!: TextRules;
  #bits!: Uint32Array<ArrayBuffer>;
  /** The quotes that end the text, behind which tokens go on. */
  #exits!: number[];
  /** The nodes that end words to avoid, or from which on only such may come. */
  #dropped!: number[];
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
    this.#loops = new Int32Array(walk.table.longest + 1);
  }

  /** The tokens of a text from a position on, of which no words are to be avoided. */
  whole(position: TextPosition): TextMask {
    this.#range = new CountRange();
    this.#begin(this.#noBits(), 0, position);
    // Most of the budget is for the walk.
    const plain = this.#walk.work.within(PLAIN_SHARE, () => this.#plainTexts(0));
    const isPartial = this.#walk.leavesOut(() => this.#visitBelow(0, plain));
    return this.#found(position, isPartial);
  }

  /**
   * The tokens of a text that must differ from some words, made of those that may come without the
   * words. Only tokens along the words need a look.
   */
  avoiding(
    { bits: all, exits, fewest, most, isPartial }: TextMask,
    position: TextPosition,
  ): TextMask {
    const { ends } = this.#table;
    const bits = all.slice();
    this.#range = new CountRange();
    this.#begin(bits, 0, position);
    this.#dropped = [];
    // What could not be decided must be left out.
    if (this.#walk.leavesOut(() => this.#walk.below(0, this.#visitWord))) {
      this.#begin(this.#noBits(), 0, position);
      return this.#found(position, this.#walk.leavesOut(() => this.#walk.below(0, this.#visit)));
    }
    const isLeft = (exit: number) =>
      this.#dropped.every((node) => exit < node || exit >= ends[node]!);
    const [least, greatest] = this.#range.around(position.characters);
    return {
      bits,
      exits: exits.filter(isLeft),
      fewest: Math.max(fewest, least),
      most: Math.min(most, greatest),
      isPartial,
    };
  }

  #noBits(): Uint32Array<ArrayBuffer> {
    return new Uint32Array(Math.ceil(this.#table.size / 32));
  }

  #found({ characters }: TextPosition, isPartial: boolean): TextMask {
    const [fewest, most] = this.#range.around(characters);
    return { bits: this.#bits, exits: [...new Set(this.#exits)], fewest, most, isPartial };
  }

  /**
   * Sets the bits of the tokens below a node that stay within the text, or end it, which is at
   * `position` there. Returns the nodes of the quotes that end it and behind which tokens go on.
   */
  add(bits: Uint32Array<ArrayBuffer>, node: number, position: TextPosition): readonly number[] {
    this.#begin(bits, this.#table.depths[node]!, position);
    this.#visitBelow(node, this.#plainTexts(node));
    return this.#exits;
  }

  /**
   * As {@linkcode add} from the root, if only few bytes may come, as in a constant: then most
   * subtrees below the root are dead ends. Otherwise undefined, and no bits are set.
   */
  addNarrow(bits: Uint32Array<ArrayBuffer>, position: TextPosition): readonly number[] | undefined {
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
    bits: Uint32Array<ArrayBuffer>,
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
    this.#loops[depth] = avoided === NO_WORDS ? UNKNOWN_LOOPS : 0;
  }

  /** Visits what begins like a word to avoid, and drops what cannot go on otherwise. */
  readonly #visitWord = (node: number, depth: number, byte: number): boolean => {
    const { automaton, isBounded } = this.#text;
    const state = this.#states[depth - 1]!;
    const before = this.#characters[depth - 1]!;
    const avoided = this.#avoided[depth - 1]!;
    if (byte === QUOTE && this.#words.hasEmpty(avoided)) this.#drop(node);
    const rest = this.#words.after(avoided, byte);
    const next = rest === NO_WORDS ? 0 : automaton.step(state, byte);
    if (next === 0) return false;
    const counted = isBounded && automaton.isBoundary(next) ? before + 1 : before;
    this.#states[depth] = next;
    this.#characters[depth] = counted;
    this.#avoided[depth] = rest;
    if (isBounded && !this.#text.isFeasible(next, counted, this.#range)) return false;
    if (this.#canAvoid(next, counted, rest)) return true;
    this.#drop(node);
    return false;
  };

  #drop(node: number): void {
    this.#table.removeTokensFrom(this.#bits, node);
    this.#dropped.push(node);
  }

  /**
   * The plain texts that may come at a node, if they are told by a few words. Below other nodes than
   * the root it has to be all of them, because tokens are known by all their characters.
   */
  #plainTexts(node: number): PlainTextsWithin | undefined {
    const { characters, depths } = this.#table;
    const depth = depths[node]!;
    if (this.#isRough || !characters.isPlain(node) || this.#avoided[depth] !== NO_WORDS) {
      return undefined;
    }
    const longest = characters.heights[node]!;
    const [state, before] = [this.#states[depth]!, this.#characters[depth]!];
    const find = () => this.#text.plainTextsWithin(state, before, longest, this.#range);
    const found = unlessOutOfWork(find, undefined);
    const isAll = found?.classes === EVERY_CLASS && found.most >= longest;
    return node === 0 || isAll ? found : undefined;
  }

  /** Visits what is below a node. If plain texts are given, their tokens are set at once. */
  #visitBelow(node: number, plain: PlainTextsWithin | undefined): void {
    if (!plain) return this.#walk.below(node, this.#visit);
    const { classes, most } = plain;
    this.#table.characters.addPlain(this.#bits, node, classes, node === 0 ? most : Infinity);
    this.#loops[this.#table.depths[node]!] = 0;
    this.#isRough = true;
    this.#walk.roughBelow(node, this.#visit);
    this.#isRough = false;
  }

  #findLoops(depth: number): number {
    let loops = 0;
    try {
      loops = this.#text.loops(this.#states[depth]!);
    } catch (error) {
      expectOutOfWork(error);
    }
    return this.#loops[depth] = loops;
  }

  readonly #visit = (node: number, depth: number, byte: number): boolean => {
    const { characters } = this.#table;
    const { automaton, isBounded } = this.#text;
    const state = this.#states[depth - 1]!;
    const before = this.#characters[depth - 1]!;
    const avoided = this.#avoided[depth - 1]!;
    const known = this.#loops[depth - 1]!;
    const loops = known === UNKNOWN_LOOPS ? this.#findLoops(depth - 1) : known;
    if (((characters.own[node]! | characters.below[node]!) & ~loops) === 0) {
      // All characters of these tokens lead back.
      const left = this.#text.charactersLeft(state, before);
      if (this.#range.isAtMost(characters.heightOf(node), left)) {
        this.#table.addTokensFrom(this.#bits, node);
        return false;
      }
    }
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
    this.#loops[depth] = 0;
    // Of plain tokens those that fit are set already.
    if (this.#isRough && characters.isPlain(node)) return true;
    if (isBounded && !this.#text.isFeasible(next, counted, this.#range)) return false;
    if (rest !== NO_WORDS && !this.#canAvoid(next, counted, rest)) return false;
    this.#table.addTokensAt(this.#bits, node);
    if (this.#table.isLeaf(node)) return false;
    if (rest !== NO_WORDS) return true;
    const isBack = next === state && avoided === NO_WORDS;
    this.#loops[depth] = isBack ? loops : UNKNOWN_LOOPS;
    return !this.#walk.isBulk(node) || !this.#takesBelow(node);
  };

  /**
   * Sets the tokens below a node at once if classes of characters tell that they may come; if that
   * is known of the plain ones only, visits the others. Returns whether either is so.
   */
  #takesBelow(node: number): boolean {
    const { depths, characters } = this.#table;
    const classes = characters.below[node]!;
    if ((classes & ROUGH) !== 0) {
      const plain = this.#plainTexts(node);
      if (plain) this.#visitBelow(node, plain);
      return plain !== undefined;
    }
    const [state, before] = [this.#states[depths[node]!]!, this.#characters[depths[node]!]!];
    if (!this.#text.automaton.isBoundary(state)) return false;
    const height = characters.heights[node]!;
    const most = () => this.#text.mostOf(classes, state, before, height, this.#range);
    const takesAll = unlessOutOfWork(most, undefined) === height;
    if (takesAll) this.#table.addTokensBelow(this.#bits, node);
    return takesAll;
  }

  #canAvoid(state: number, characters: number, avoided: WordSet): boolean {
    // A search along words depends on too many numbers to note them.
    if (this.#text.isBounded) this.#range.narrow();
    return this.#avoidance.isPossible(this.#text, state, characters, avoided);
  }

  #end(node: number, state: number, characters: number, avoided: WordSet): void {
    if (!this.#text.isComplete(state, characters, this.#range)) return;
    if (avoided !== NO_WORDS && this.#words.hasEmpty(avoided)) return;
    this.#table.addTokensAt(this.#bits, node);
    if (!this.#table.isLeaf(node)) this.#exits.push(node);
  }
}
