// The tokens that stay within a text that must end within a number of bytes. A subtree of the trie
// is accepted as a whole if the end certainly stays near enough, and left out if even its longest
// token would not bring it near enough.

import { NO_WORDS, type WordSets } from "../collections/word_sets.ts";
import type { TextEnds } from "../completion/text_ends.ts";
import { BEYOND_ASCII, EVERY_CLASS, UNSAFE } from "../texts/character_classes.ts";
import type { TextPlace, TextRules } from "../texts/text_rules.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import { ESCAPE, MOST_CHARACTERS } from "../tokens/token_spans.ts";
import { placeOf } from "../tokens/text_breaks.ts";
import type { TokenTable } from "../tokens/token_table.ts";
import type { LocalMask } from "./local_masks.ts";
import { narrowNodes } from "./narrow_places.ts";
import { FEASIBLE, INFEASIBLE, PlaceFacts, UNKNOWN_PLACE } from "./place_facts.ts";

/** Bytes by which a character or escape that a token begins may move the end away. */
const BEGUN = 8;

/**
 * The same if the rest of the text must differ from some words, for which it may need two more
 * characters.
 */
const BEGUN_APART = BEGUN + 4;

/** Most words for which two more characters are certainly enough. */
const MOST_APART = 4096;

/** Most bytes that the last character of a token may lack. */
const CUT = 3;

/**
 * Nodes of a subtree from which on it is worthwhile to find out whether it is accepted as a whole.
 */
const MIN_BULK = 8;

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

/** The limit for a text after a token. */
export interface TextBudget {
  /** In bytes. */
  readonly limit: number;
  /** Whether measured ends differ from the words. If not, the caller adds the bytes for that. */
  readonly avoids: boolean;
  /** Receives the bytes that are missing after each token. */
  readonly note: (missing: number) => void;
}

/** The most bytes that are missing after any token, from a number of characters on. */
interface Greatest {
  readonly characters: number;
  readonly missing: number;
}

/** A walk of a text, and its results. */
interface BudgetWalk {
  readonly bits: Uint32Array;
  readonly text: TextRules;
  readonly budget: TextBudget;
  readonly exits: number[];
  /** The most bytes that are missing after any token; Infinity if not all were visited. */
  greatest: number;
}

/** Walks texts that have to end in time through the tokens of a vocabulary. */
export class TextBudgetWalk {
  readonly #table: TokenTable;
  readonly #words: WordSets;
  readonly #avoidance: WordAvoidance;
  readonly #ends: TextEnds;
  readonly #isOver: () => boolean;
  readonly #giveUp: (error: unknown) => void;
  /** By depth, what is known along the path of a walk. */
  readonly #states: Int32Array;
  readonly #characters: Int32Array;
  readonly #avoided: Int32Array;
  /** By depth: whether the path from the root contains neither quotes nor escapes. */
  readonly #isPlain: Uint8Array;
  /** The node that is being visited. */
  #node = 0;
  /** The cached facts about places of the text `#factsOf`. */
  readonly #facts = new PlaceFacts();
  #factsOf: TextRules | undefined;
  /** By text and state. */
  readonly #greatest = new Map<TextRules, (Greatest | undefined)[]>();

  constructor(
    table: TokenTable,
    { words, avoidance, ends, isOver, giveUp }: {
      readonly words: WordSets;
      readonly avoidance: WordAvoidance;
      readonly ends: TextEnds;
      /** Counts a visited node. Returns whether the walk ends there because the budget is spent. */
      readonly isOver: () => boolean;
      /** Handles an error below a node: OutOfWork is noted, any other is thrown again. */
      readonly giveUp: (error: unknown) => void;
    },
  ) {
    this.#table = table;
    this.#words = words;
    this.#avoidance = avoidance;
    this.#ends = ends;
    this.#isOver = isOver;
    this.#giveUp = giveUp;
    this.#states = new Int32Array(table.longest + 1);
    this.#characters = new Int32Array(table.longest + 1);
    this.#avoided = new Int32Array(table.longest + 1);
    this.#isPlain = new Uint8Array(table.longest + 1);
  }

  /**
   * Sets the bits of those tokens that fit, among tokens that are known to stay within the text.
   * Returns the nodes of the quotes that end it; undefined if the text has to be walked.
   *
   * @param known finds the tokens that stay within the text
   */
  addKnown(
    bits: Uint32Array,
    place: TextPlace,
    budget: TextBudget,
    known: () => LocalMask | undefined,
  ): readonly number[] | undefined {
    const takesAll = this.#takesAll(place, budget);
    const isMeasured = place.text.isUniform(place.state) &&
      !(budget.avoids && place.avoided !== NO_WORDS);
    if (!takesAll && !isMeasured) return undefined;
    const mask = known();
    if (!mask) return undefined;
    if (takesAll) {
      for (let word = 0; word < bits.length; word++) {
        bits[word]! |= mask.bits[word]!;
      }
    } else this.#select(bits, mask.bits, place, budget);
    return mask.exits;
  }

  /** Whether every token that stays within the text certainly fits. */
  #takesAll(place: TextPlace, { limit, avoids }: TextBudget): boolean {
    const { text, state, characters, avoided } = place;
    if (avoids && avoided !== NO_WORDS) {
      const isApart = text.max === Infinity && text.loopsAt(state) === EVERY_CLASS &&
        this.#words.sizeOf(avoided) <= MOST_APART;
      return isApart && text.isUniform(state) &&
        this.#ends.length(text, state, characters, avoided) + BEGUN_APART <= limit;
    }
    // If the number of characters has no upper limit, further characters do not move the end away.
    if (text.max === Infinity) {
      const known = this.#greatest.get(text)?.[state];
      if (known && known.characters <= characters && known.missing <= limit) return true;
    }
    return text.isUniform(state) && this.#ends.length(text, state, characters) + BEGUN <= limit;
  }

  /** Sets the bits of those of `within` that fit, in a text in which all characters lead back. */
  #select(bits: Uint32Array, within: Uint32Array, place: TextPlace, budget: TextBudget): void {
    const { text, state, characters } = place;
    const { limit, note } = budget;
    const { automaton } = text;
    const { spans, longest } = this.#table;
    const missing = Float64Array.from(
      { length: Math.min(longest, MOST_CHARACTERS) + 1 },
      (_, more) => this.#ends.length(text, state, characters + more),
    );
    const escape = automaton.step(state, BACKSLASH);
    const escaped = automaton.completion(escape).length - automaton.completion(state).length;
    // A longer token may bring the end nearer, but a document that is too late anyway is not forced
    // to take it.
    note(missing[1]!);
    for (let word = 0; word < bits.length; word++) {
      for (let left = within[word]!; left !== 0; left &= left - 1) {
        const bit = left & -left;
        const token = 32 * word + 31 - Math.clz32(bit);
        const lack = spans.lacks[token]!;
        const rest = missing[spans.characters[token]!]! + (lack === ESCAPE ? escaped : lack);
        if (rest <= limit) bits[word]! |= bit;
      }
    }
  }

  /**
   * Sets the bits of the tokens below a node that fit and stay within a text, which is at `place`
   * there. Returns the nodes of the quotes that end it.
   */
  add(bits: Uint32Array, node: number, place: TextPlace, budget: TextBudget): readonly number[] {
    const { ends, longest } = this.#table;
    const { text, state, characters, avoided } = place;
    const walk = this.#begin(bits, node, place, budget);
    const isSettled = node === 0 && avoided === NO_WORDS && text.automaton.isBoundary(state) &&
      this.#isSettled(walk, state, characters, longest);
    if (isSettled) this.#addPlain(node, walk);
    else this.#scan(node + 1, ends[node]!, walk);
    if (node === 0 && walk.greatest < Infinity) this.#keep(place, walk.greatest);
    return walk.exits;
  }

  /**
   * The same from the root if only few bytes may come; otherwise undefined, and no bits are set.
   */
  addNarrow(
    bits: Uint32Array,
    place: TextPlace,
    budget: TextBudget,
  ): readonly number[] | undefined {
    const nodes = narrowNodes(this.#table, place.text, place.state);
    if (!nodes) return undefined;
    const walk = this.#begin(bits, 0, place, budget);
    for (const node of nodes) this.#scan(node, this.#table.ends[node]!, walk);
    return walk.exits;
  }

  #begin(bits: Uint32Array, node: number, place: TextPlace, budget: TextBudget): BudgetWalk {
    const { text, state, characters, avoided } = place;
    if (text !== this.#factsOf) {
      this.#facts.clear();
      this.#factsOf = text;
    }
    const depth = this.#table.depths[node]!;
    this.#states[depth] = state;
    this.#characters[depth] = characters;
    this.#avoided[depth] = avoided;
    this.#isPlain[depth] = Number(node === 0);
    return { bits, text, budget, exits: [], greatest: 0 };
  }

  /** Walks the subtrees of the nodes from `first` to `end`, which are neighbours. */
  #scan(first: number, end: number, walk: BudgetWalk): void {
    const { ends } = this.#table;
    for (let child = first; child < end;) {
      try {
        child = this.#scanUntilError(child, end, walk);
      } catch (error) {
        this.#giveUp(error);
        walk.greatest = Infinity;
        child = ends[this.#node]!;
      }
    }
  }

  /** The same up to an error, which occurs below `#node`. Returns where the walk has ended. */
  #scanUntilError(first: number, end: number, walk: BudgetWalk): number {
    const { bytes, depths, ends, firsts, classes, heights } = this.#table;
    const { text, bits, exits } = walk;
    const { automaton, isBounded } = text;
    const { limit, avoids, note } = walk.budget;
    const states = this.#states;
    const characters = this.#characters;
    const avoided = this.#avoided;
    const plain = this.#isPlain;
    const facts = this.#facts;
    for (let child = first; child < end;) {
      if (this.#isOver()) {
        walk.greatest = Infinity;
        return end;
      }
      this.#node = child;
      const before = depths[child]! - 1;
      const byte = bytes[child]!;
      const below = ends[child]!;
      const next = automaton.step(states[before]!, byte);
      if (next === 0) {
        if (byte === QUOTE && this.#mayEnd(text, before)) exits.push(child);
        child = below;
        continue;
      }
      const avoid = avoided[before]!;
      const rest = avoid === NO_WORDS ? NO_WORDS : this.#words.after(avoid, byte);
      const counted = characters[before]! + Number(isBounded && automaton.isBoundary(next));
      const row = facts.rowOf(next, counted);
      if (facts.feasible[row] === UNKNOWN_PLACE) {
        facts.feasible[row] = text.isFeasible(next, counted) ? FEASIBLE : INFEASIBLE;
      }
      const mayGoOn = facts.feasible[row] === FEASIBLE &&
        (rest === NO_WORDS || this.#avoidance.isPossible(text, next, counted, rest));
      if (!mayGoOn) {
        child = below;
        continue;
      }
      const isPlain = plain[before] === 1 && byte !== BACKSLASH;
      states[before + 1] = next;
      characters[before + 1] = counted;
      avoided[before + 1] = rest;
      plain[before + 1] = Number(isPlain);
      const isBulk = rest === NO_WORDS && below > child + MIN_BULK;
      const isSettled = isBulk && automaton.isBoundary(next) &&
        this.#isSettled(walk, next, counted, heights[child]!);
      if (isSettled) {
        const isWhole = (classes[child]! & ~text.classes) === 0;
        this.#table.addTokens(bits, firsts[child]!, firsts[isWhole ? below : child + 1]!);
        if (!isWhole && isPlain) this.#addPlain(child, walk);
        child = isWhole || isPlain ? below : child + 1;
        continue;
      }
      let missing: number;
      if (avoids && rest !== NO_WORDS) missing = this.#ends.length(text, next, counted, rest);
      else {
        missing = facts.missing[row]!;
        if (Number.isNaN(missing)) {
          missing = facts.missing[row] = this.#ends.length(text, next, counted);
        }
      }
      const isToken = firsts[child]! < firsts[child + 1]!;
      if (isToken) note(missing);
      walk.greatest = Math.max(walk.greatest, missing);
      if (isToken && missing <= limit) {
        this.#table.addTokens(bits, firsts[child]!, firsts[child + 1]!);
      }
      const isLeaf = below === child + 1;
      child = isLeaf || this.#isDone(child, missing, isBulk, walk) ? below : child + 1;
    }
    return end;
  }

  /** Whether the end is near enough after any plain text of at most a number of characters. */
  #isSettled(walk: BudgetWalk, state: number, characters: number, height: number): boolean {
    const most = walk.text.mostBytesMissing(state, characters, height) + CUT;
    if (most > walk.budget.limit) return false;
    walk.budget.note(most);
    walk.greatest = Math.max(walk.greatest, most);
    return true;
  }

  /**
   * Sets the bits of the plain tokens below a node, all of which fit, and walks where others leave
   * plain text. The path to the node is plain.
   */
  #addPlain(node: number, walk: BudgetWalk): void {
    const { breaks, bytes, depths, ends, firsts, longest, plain } = this.#table;
    const { bits, text } = walk;
    const { automaton } = text;
    const depth = depths[node]!;
    const fewest = automaton.fewest?.(this.#states[depth]!) ?? 0;
    const [end, last] = [ends[node]!, firsts[ends[node]!]!];
    this.#table.addTokensOf(plain.mask(text.classes, longest), bits, firsts[node + 1]!, last);
    for (let at = placeOf(breaks, node + 1); at < breaks.length && breaks[at]!.node < end; at++) {
      const { node: child, path, classes, isSeparator } = breaks[at]!;
      // Line separators are plain if the text may contain any.
      if (isSeparator || (classes & ~text.classes) !== 0) continue;
      // No text ends after so few characters, so quotes need not be examined.
      if (bytes[child] === QUOTE && path.length - depth < fewest) continue;
      let reached = this.#states[depth]!;
      let counted = this.#characters[depth]!;
      try {
        for (let index = depth; index < path.length; index++) {
          reached = automaton.step(reached, path[index]!);
          counted = text.charactersAt(reached, counted);
        }
      } catch (error) {
        this.#giveUp(error);
        walk.greatest = Infinity;
        continue;
      }
      this.#states[path.length] = reached;
      this.#characters[path.length] = counted;
      this.#avoided[path.length] = NO_WORDS;
      this.#isPlain[path.length] = 0;
      this.#scan(child, ends[child]!, walk);
    }
  }

  /**
   * Whether a subtree needs no walk after whose root a number of bytes is missing: either all of
   * its tokens fit, and their bits are set here, or none of them is long enough.
   */
  #isDone(child: number, missing: number, isBulk: boolean, walk: BudgetWalk): boolean {
    const { depths, ends, firsts, classes, heights } = this.#table;
    const { text, bits, budget: { limit, note } } = walk;
    const depth = depths[child]!;
    const state = this.#states[depth]!;
    const counted = this.#characters[depth]!;
    const height = heights[child]!;
    const isLoop = isBulk && (classes[child]! & ~text.loopsAt(state)) === 0;
    const isWide = (classes[child]! & (BEYOND_ASCII | UNSAFE)) !== 0;
    const nearest = isLoop
      ? this.#ends.length(text, state, Math.min(counted + height, text.max))
      : missing - height * (isWide ? 4 : 1);
    const isWhole = isLoop && height <= text.charactersLeft(state, counted);
    if (isWhole && missing + (isWide ? CUT : 0) <= limit) {
      this.#table.addTokens(bits, firsts[child + 1]!, firsts[ends[child]!]!);
      walk.greatest = Math.max(walk.greatest, missing + CUT);
      return true;
    }
    if (nearest <= limit) return false;
    if (isWhole) note(missing + CUT);
    walk.greatest = Infinity;
    return true;
  }

  #mayEnd(text: TextRules, depth: number): boolean {
    const avoided = this.#avoided[depth]!;
    return text.isComplete(this.#states[depth]!, this.#characters[depth]!) &&
      (avoided === NO_WORDS || !this.#words.hasEmpty(avoided));
  }

  #keep({ text, state, characters, avoided }: TextPlace, missing: number): void {
    if (avoided !== NO_WORDS) return;
    let known = this.#greatest.get(text);
    if (!known) this.#greatest.set(text, known = []);
    known[state] = { characters, missing };
  }
}
