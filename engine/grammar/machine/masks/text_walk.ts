// The tokens that stay within a text, and the nodes of the trie at which others end it. The frames
// around the text do not matter, so the result applies wherever the text occurs. Subtrees of which
// all or no tokens fit are not walked.

import { expectOutOfWork, unlessOutOfWork, type Work } from "../../language/mod.ts";
import { NO_WORDS, type WordSet, type WordSets } from "../collections/word_sets.ts";
import { BEYOND_ASCII, CLASS_OF, LINE_SEPARATORS, UNSAFE } from "../texts/character_classes.ts";
import { CountRange } from "../texts/count_range.ts";
import type { TextPlace, TextRules } from "../texts/text_rules.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import { placeOf } from "../tokens/text_breaks.ts";
import type { TokenTable } from "../tokens/token_table.ts";
import { narrowNodes } from "./narrow_places.ts";
import { FEASIBLE, INFEASIBLE, PlaceFacts, UNKNOWN_PLACE } from "./place_facts.ts";

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
  readonly rules: { readonly work: Work };
  readonly stacks: { readonly words: WordSets };
  readonly avoidance: WordAvoidance;
}

/** A way to find the tokens that stay within a text. */
interface Approach {
  /**
   * Tokens of these classes with at most this number of characters, and without escapes, are set
   * first.
   */
  readonly classes: number;
  readonly characters: number;
  /** Whether only breaks have to be visited; otherwise all tokens are, also those that are set. */
  readonly isWhole: boolean;
}

const QUOTE = 0x22;

/** The last bytes of the line separators, without their lowest bit. */
const SEPARATOR_END = 0xa8;

/**
 * If more than one of so many tokens would be set, they are set before a walk and cleared if
 * necessary.
 */
const MIN_SHARE = 8;

/**
 * Nodes of a subtree from which on it is worthwhile to find out whether it is accepted as a whole.
 */
const MIN_BULK = 8;

/** The fraction of the budget for finding out how a text is best walked. */
const APPROACH_SHARE = 0.25;

/** Steps of work for finding out that only few bytes may come at a place. */
const NARROW_STEPS = 4;

/** Nodes that are counted at once, and the steps of work for them. */
const COUNTED = 64;

const COUNTED_STEPS = 5;

/** Walks texts through the tokens of a vocabulary. */
export class TextWalk {
  readonly #table: TokenTable;
  readonly #words: WordSets;
  readonly #avoidance: WordAvoidance;
  /**
   * By depth: what is known along the path of a walk. A nested walk only writes to greater depths.
   */
  readonly #states: Int32Array;
  readonly #characters: Int32Array;
  readonly #avoided: Int32Array;
  /** By depth: whether the path has no escapes, so that its plain tokens are set already. */
  readonly #isPlain: Uint8Array;
  readonly #work: Work;
  /** Whether tokens were left out because the budget was spent. Callers reset it. */
  isPartial = false;
  #steps = 0;
  #text!: TextRules;
  #bits!: Uint32Array;
  #exits!: number[];
  #range = new CountRange();
  /** Cached facts about places. The range includes what they depend on. */
  readonly #facts = new PlaceFacts();
  /** The classes of the plain tokens that are set before a walk. */
  #base = 0;

  constructor(table: TokenTable, { rules, stacks, avoidance }: Surroundings) {
    this.#table = table;
    this.#work = rules.work;
    this.#words = stacks.words;
    this.#avoidance = avoidance;
    this.#states = new Int32Array(table.longest + 1);
    this.#characters = new Int32Array(table.longest + 1);
    this.#avoided = new Int32Array(table.longest + 1);
    this.#isPlain = new Uint8Array(table.longest + 1);
  }

  /** The tokens of a text from a place on. */
  whole(place: TextPlace): TextMask {
    const wasPartial = this.isPartial;
    this.isPartial = false;
    this.#range = new CountRange();
    const bits = new Uint32Array(Math.ceil(this.#table.size / 32));
    const exits = this.addNarrow(bits, place) ?? this.#addWide(bits, place);
    const [fewest, most] = this.#range.around(place.characters);
    const { isPartial } = this;
    this.isPartial ||= wasPartial;
    return { bits, exits, fewest, most, isPartial };
  }

  /**
   * Sets the bits of the tokens that stay within the text, if only few bytes may come. Returns the
   * nodes of the quotes that end it. If more bytes may come, or the budget is spent, it returns
   * undefined and sets no bits.
   */
  addNarrow(bits: Uint32Array, place: TextPlace): readonly number[] | undefined {
    const nodes = unlessOutOfWork(
      () => narrowNodes(this.#table, place.text, place.state),
      undefined,
    );
    if (!nodes) return undefined;
    this.#work.spend(NARROW_STEPS);
    const exits = this.#begin(bits, 0, place);
    for (const node of nodes) this.#scan(node, this.#table.ends[node]!);
    return exits;
  }

  /** The same if many bytes may come. */
  #addWide(bits: Uint32Array<ArrayBuffer>, place: TextPlace): readonly number[] {
    const { plain, nodes } = this.#table;
    // Most of the budget is for the walk. Without an approach all tokens are walked.
    const { classes, characters, isWhole } = this.#work.within(
      APPROACH_SHARE,
      () =>
        unlessOutOfWork(
          () => this.#approach(place),
          { classes: 0, characters: 0, isWhole: false },
        ),
    );
    bits.set(plain.mask(classes, characters));
    const exits = this.#begin(bits, 0, place);
    if (isWhole) this.#breaks(1, nodes, 0, place.state, classes);
    else {
      this.#base = classes;
      this.#isPlain[0] = Number(classes !== 0);
      this.#scan(1, nodes);
    }
    return exits;
  }

  #approach({ text, state, characters, avoided }: TextPlace): Approach {
    const { longest } = this.#table;
    const range = this.#range;
    if (avoided === NO_WORDS) {
      const classes = text.openClasses(state, 0);
      const isOpen = classes !== 0 && (!text.isBounded ||
        range.isAtMost(characters + longest + text.mostMissing(state, 0, classes), text.max));
      if (isOpen) return { classes, characters: longest, isWhole: true };
      if (text.isClosed(state)) {
        const most = text.charactersLeft(state, characters);
        if (!range.isAtMost(longest, most)) range.narrow();
        return { classes: text.loopsAt(state), characters: most, isWhole: true };
      }
    }
    const classes = this.#commonClasses(text, state);
    return { classes, characters: longest, isWhole: false };
  }

  /**
   * Sets the bits of the tokens below a node that stay within the text, which is at `place` there.
   * Returns the nodes of the quotes that end it.
   */
  add(bits: Uint32Array, node: number, place: TextPlace): readonly number[] {
    const exits = this.#begin(bits, this.#table.depths[node]!, place);
    this.#scan(node + 1, this.#table.ends[node]!);
    return exits;
  }

  #begin(bits: Uint32Array, depth: number, { text, state, characters, avoided }: TextPlace) {
    this.#text = text;
    this.#base = 0;
    this.#bits = bits;
    this.#exits = [];
    this.#states[depth] = state;
    this.#characters[depth] = characters;
    this.#avoided[depth] = avoided;
    this.#isPlain[depth] = 0;
    if (text.isBounded) this.#facts.clear();
    return this.#exits;
  }

  /** The classes of the loop that most tokens reach; 0 if tokens reach many places. */
  #commonClasses(text: TextRules, state: number): number {
    const { bytes, ends, firsts, nodes, sorted } = this.#table;
    const counts = new Map<number, number>();
    for (let child = 1; child < nodes; child = ends[child]!) {
      const next = text.automaton.step(state, bytes[child]!);
      const classes = next === 0 ? 0 : plainClasses(text, next, bytes[child]!);
      const tokens = firsts[ends[child]!]! - firsts[child]!;
      if (classes !== 0) counts.set(classes, (counts.get(classes) ?? 0) + tokens);
    }
    let best = 0;
    for (const [classes, count] of counts) {
      if (count > sorted.length / MIN_SHARE && count > (counts.get(best) ?? 0)) best = classes;
    }
    return best;
  }

  /** Walks the subtrees of the nodes from `first` to `end`, which are neighbours. */
  #scan(first: number, end: number): void {
    const table = this.#table;
    const { bytes, depths, ends, firsts, classes, heights } = table;
    const text = this.#text;
    const { automaton, isBounded } = text;
    const bits = this.#bits;
    const [states, characters, avoided] = [this.#states, this.#characters, this.#avoided];
    const plain = this.#isPlain;
    for (let child = first; child < end;) {
      if (++this.#steps % COUNTED === 0) {
        this.#work.spend(COUNTED_STEPS);
        if (this.#work.isOverdrawn) {
          // Tokens that are set but were not visited are not known to stay within the text.
          if (this.#base !== 0) table.removeTokens(bits, firsts[child]!, firsts[end]!);
          this.isPartial = true;
          return;
        }
      }
      const depth = depths[child]!;
      const byte = bytes[child]!;
      const below = ends[child]!;
      const before = depth - 1;
      const state = states[before]!;
      const avoid = avoided[before]!;
      let next = 0;
      let counted = 0;
      let rest = NO_WORDS;
      let mayGoOn = false;
      if (this.#work.isSpent && automaton.isKnown?.(state, byte) === false) this.isPartial = true;
      else {
        try {
          next = automaton.step(state, byte);
          if (next === 0 && byte === QUOTE) this.#end(child, state, characters[before]!, avoid);
          rest = avoid === NO_WORDS ? NO_WORDS : this.#words.after(avoid, byte);
          counted = characters[before]! + Number(isBounded && automaton.isBoundary(next));
          mayGoOn = next !== 0 && (!isBounded || this.#isFeasible(next, counted)) &&
            (rest === NO_WORDS || this.#canAvoid(next, counted, rest));
        } catch (error) {
          this.#giveUp(error);
        }
      }
      if (!mayGoOn) {
        if (plain[before] === 1) table.removeTokens(bits, firsts[child]!, firsts[below]!);
        child = below;
        continue;
      }
      table.addTokens(bits, firsts[child]!, firsts[child + 1]!);
      const isPlain = plain[before] === 1 &&
        ((byte < 0x80 ? CLASS_OF[byte]! : BEYOND_ASCII) & this.#base) !== 0 &&
        !((byte & 0xfe) === SEPARATOR_END && this.#isOutside(child));
      if (below > child + MIN_BULK && rest === NO_WORDS) {
        const height = heights[child]!;
        // If the budget is spent, the subtree is walked as far as it is known.
        if (isPlain && this.#isSet(next, byte, counted, height)) {
          this.#breaks(child + 1, below, depth, next, this.#base);
          child = below;
          continue;
        }
        const isSafe = (classes[child]! & UNSAFE) === 0;
        if (isSafe && this.#takesAll(next, counted, classes[child]!, height)) {
          table.addTokens(bits, firsts[child + 1]!, firsts[below]!);
          child = below;
          continue;
        }
      }
      states[depth] = next;
      characters[depth] = counted;
      avoided[depth] = rest;
      plain[depth] = Number(isPlain);
      child++;
    }
  }

  #isFeasible(state: number, characters: number): boolean {
    const facts = this.#facts;
    const row = facts.rowOf(state, characters);
    if (facts.feasible[row] === UNKNOWN_PLACE) {
      const isSo = this.#text.isFeasible(state, characters, this.#range);
      facts.feasible[row] = isSo ? FEASIBLE : INFEASIBLE;
    }
    return facts.feasible[row] === FEASIBLE;
  }

  /** Leaves out what the budget was not enough for. */
  #giveUp(error: unknown): void {
    expectOutOfWork(error);
    this.isPartial = true;
  }

  #canAvoid(state: number, characters: number, avoided: WordSet): boolean {
    // A search along words depends on too many numbers to note them.
    if (this.#text.isBounded) this.#range.narrow();
    return this.#avoidance.isPossible(this.#text, state, characters, avoided);
  }

  #takesAll(state: number, characters: number, classes: number, height: number): boolean {
    try {
      return this.#text.takesAll(state, characters, classes, height, this.#range);
    } catch (error) {
      expectOutOfWork(error);
      return false;
    }
  }

  /** Whether a node is a line separator, and line separators are not set before the walk. */
  #isOutside(node: number): boolean {
    return (this.#base & LINE_SEPARATORS) === 0 && this.#table.separators.has(node);
  }

  /**
   * Whether the plain tokens of a subtree with at most so many characters are exactly those that
   * are set.
   */
  #isSet(state: number, byte: number, counted: number, height: number): boolean {
    try {
      return this.#findSet(state, byte, counted, height);
    } catch (error) {
      expectOutOfWork(error);
      return false;
    }
  }

  #findSet(state: number, byte: number, counted: number, height: number): boolean {
    const text = this.#text;
    if (plainClasses(text, state, byte) !== this.#base) return false;
    if (text.max === Infinity) return true;
    const missing = this.#base === text.openClasses(state, byte)
      ? 1 + text.mostMissing(state, byte, this.#base)
      : text.max - text.charactersLeft(state, 0);
    return this.#range.isAtMost(counted + height + missing, text.max);
  }

  /**
   * Continues from plain text of some classes, whose state is `state` at a depth, at escapes and
   * ends.
   */
  #breaks(first: number, end: number, depth: number, state: number, classes: number): void {
    const { breaks, bytes, depths, ends } = this.#table;
    const { automaton, max } = this.#text;
    const fewest = automaton.fewest?.(state) ?? 0;
    for (let at = placeOf(breaks, first); at < breaks.length; at++) {
      const way = breaks[at]!;
      const { node, path } = way;
      if (node >= end) return;
      if (way.isSeparator && (classes & LINE_SEPARATORS) !== 0) continue;
      this.#work.spend(1);
      if (this.#work.isOverdrawn) {
        this.isPartial = true;
        return;
      }
      if ((way.classes & ~classes) !== 0) continue;
      // No text ends after so few characters, so quotes need not be examined.
      if (bytes[node] === QUOTE && path.length - depth < fewest) continue;
      const counted = this.#characters[0]! + way.characters;
      let reached = state;
      try {
        for (let index = depth; index < path.length; index++) {
          reached = automaton.step(reached, path[index]!);
        }
        if (reached === 0) continue;
        if (max < Infinity && counted + automaton.shortest(reached) > max) continue;
      } catch (error) {
        this.#giveUp(error);
        continue;
      }
      if (bytes[node] === QUOTE) {
        this.#end(node, reached, counted, NO_WORDS);
        continue;
      }
      const before = depths[node]! - 1;
      this.#states[before] = reached;
      this.#characters[before] = counted;
      this.#avoided[before] = NO_WORDS;
      this.#isPlain[before] = 0;
      this.#scan(node, ends[node]!);
    }
  }

  #end(node: number, state: number, characters: number, avoided: WordSet): void {
    if (!this.#text.isComplete(state, characters, this.#range)) return;
    if (avoided === NO_WORDS || !this.#words.hasEmpty(avoided)) this.#exits.push(node);
  }
}

/**
 * The classes of which a text accepts all characters for ever, once a byte has led it to a state,
 * and besides only escapes and line separators; 0 if it is not that simple.
 */
function plainClasses(text: TextRules, state: number, byte: number): number {
  const open = text.openClasses(state, byte);
  if (open !== 0) return open;
  return text.automaton.isBoundary(state) && text.isClosed(state) ? text.loopsAt(state) : 0;
}
