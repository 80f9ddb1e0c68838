// The tokens that stay within a text, and the nodes of the trie at which others end it. The frames
// around the text do not matter, so the result applies wherever the text occurs. If any plain text
// can be completed, the plain tokens need no walk: only what leads to a quote or an escape is left.

import { EVERY_CLASS, ROUGH, unlessOutOfWork } from "../../language/mod.ts";
import { NO_WORDS, type WordSet, type WordSets } from "../collections.ts";
import { CountRange, type TextPosition, type TextRules } from "../texts/text_rules.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import type { TokenTable } from "../token_table.ts";
import type { TrieWalk } from "./trie_walk.ts";

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
  #bits!: Uint32Array<ArrayBuffer>;
  /** The quotes that end the text; in a walk along words, those that would end one of them. */
  #exits!: number[];
  /** The nodes from which on only words to avoid may come. */
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
  }

  /** The tokens of a text from a position on, of which no words are to be avoided. */
  whole(position: TextPosition): TextMask {
    const { characters } = this.#table;
    // Most of the budget is for the walk.
    this.#range = new CountRange();
    const plain = this.#walk.work.within(
      PLAIN_SHARE,
      () => unlessOutOfWork(() => this.#plainTokens(position), undefined),
    );
    if (!plain) return this.#tried(position);
    const bits = characters.plain(plain.classes, plain.most).slice();
    this.#begin(bits, 0, position);
    return this.#found(position, () => this.#visitRough(0));
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
      return this.#tried(position);
    }
    const isLeft = (exit: number) =>
      !this.#exits.includes(exit) &&
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

  /** The tokens of a text, one by one. */
  #tried(position: TextPosition): TextMask {
    this.#begin(new Uint32Array(Math.ceil(this.#table.size / 32)), 0, position);
    return this.#found(position, () => this.#walk.below(0, this.#visit));
  }

  #found({ characters }: TextPosition, walk: () => void): TextMask {
    const bits = this.#bits;
    const isPartial = this.#walk.leavesOut(walk);
    const [fewest, most] = this.#range.around(characters);
    return { bits, exits: [...new Set(this.#exits)], fewest, most, isPartial };
  }

  /**
   * Sets the bits of the tokens below a node that stay within the text, which is at `position` there.
   * Returns the nodes of the quotes that end it.
   */
  add(bits: Uint32Array<ArrayBuffer>, node: number, position: TextPosition): readonly number[] {
    this.#begin(bits, this.#table.depths[node]!, position);
    this.#walk.below(node, this.#visit);
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
  }

  /** The plain tokens that fit; undefined if they have to be tried. Errors: OutOfWork. */
  #plainTokens({ text, state, characters }: TextPosition): PlainTokens | undefined {
    const { longest } = this.#table;
    const range = this.#range;
    if (text.isOpen(state, characters + longest, range)) {
      return { classes: EVERY_CLASS, most: longest };
    }
    const texts = text.plainTexts(state);
    if (!texts) return undefined;
    const { classes, most, missing, isLoop } = texts;
    if (!text.isBounded) return { classes, most };
    if (isLoop) {
      const left = text.charactersLeft(state, characters);
      if (!range.isAtMost(longest, left)) range.narrow();
      return { classes, most: left };
    }
    const mayAll = most === Infinity && text.min + missing <= text.max &&
      range.isAtMost(characters + longest, text.max - missing);
    return mayAll ? { classes, most } : undefined;
  }

  /** Visits what begins like a word to avoid, and drops what cannot go on otherwise. */
  readonly #visitWord = (node: number): boolean => {
    const { bytes, depths } = this.#table;
    const { automaton, isBounded } = this.#text;
    const depth = depths[node]!;
    const byte = bytes[node]!;
    const state = this.#states[depth - 1]!;
    const before = this.#characters[depth - 1]!;
    const avoided = this.#avoided[depth - 1]!;
    if (byte === QUOTE && this.#words.hasEmpty(avoided)) this.#exits.push(node);
    const rest = this.#words.after(avoided, byte);
    const next = rest === NO_WORDS ? 0 : automaton.step(state, byte);
    if (next === 0) return false;
    const counted = isBounded && automaton.isBoundary(next) ? before + 1 : before;
    this.#states[depth] = next;
    this.#characters[depth] = counted;
    this.#avoided[depth] = rest;
    if (isBounded && !this.#text.isFeasible(next, counted, this.#range)) return false;
    if (this.#canAvoid(next, counted, rest)) return true;
    this.#table.removeTokensFrom(this.#bits, node);
    this.#dropped.push(node);
    return false;
  };

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
    const takesPlain = () => this.#text.isOpen(next, height, this.#range);
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
