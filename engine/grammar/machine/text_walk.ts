// Which tokens stay within a text, and where in the trie of tokens others end it: without a look at
// what the text stands in, so that the answer serves wherever it stands.

import { CLASS_OF, EVERY_CLASS, UNSAFE } from "./character_classes.ts";
import type { TextRules } from "./text_rules.ts";
import type { TokenTable } from "./token_table.ts";
import type { WordAvoidance } from "./word_avoidance.ts";
import { NO_WORDS, type WordSet, type WordSets } from "./word_sets.ts";

/** A place in a text. */
export interface TextPlace {
  readonly text: TextRules;
  readonly state: number;
  readonly characters: number;
  /** What the rest of the text must not be. */
  readonly avoided: WordSet;
}

const QUOTE = 0x22;

/** Walks texts through the tokens of a vocabulary. */
export class TextWalk {
  readonly #table: TokenTable;
  readonly #words: WordSets;
  readonly #avoidance: WordAvoidance;
  /** By depth, what is known along the path of a walk. */
  readonly #states: Int32Array;
  readonly #characters: Int32Array;
  readonly #avoided: Int32Array;
  readonly #escapes: Uint8Array;

  constructor(table: TokenTable, words: WordSets, avoidance: WordAvoidance) {
    this.#table = table;
    this.#words = words;
    this.#avoidance = avoidance;
    this.#states = new Int32Array(table.longest + 1);
    this.#characters = new Int32Array(table.longest + 1);
    this.#avoided = new Int32Array(table.longest + 1);
    this.#escapes = new Uint8Array(table.longest + 1);
  }

  /** The bits of the tokens that stay within a text, and the nodes of the quotes that end it. */
  whole(place: TextPlace): { bits: Uint32Array<ArrayBuffer>; quotes: number[] } {
    const { text, state, characters } = place;
    // Where every character leads back, no finite set of avoided words leaves nothing to write.
    const isPlain = text.loopsAt(state) === EVERY_CLASS;
    const room = isPlain ? text.roomAt(state, characters) : 0;
    const bits = this.#table.plainTokens(room);
    const quotes: number[] = [];
    this.#walk(bits, 0, place, quotes, isPlain);
    return { bits, quotes };
  }

  /**
   * Sets the bits of the tokens below a node that stay within the text, which is at `place` there,
   * and adds the nodes of the quotes that end it to `quotes`.
   */
  add(bits: Uint32Array, node: number, place: TextPlace, quotes: number[]): void {
    this.#walk(bits, node, place, quotes, false);
  }

  /** Walks below a node; `hasPlain`: the bits of tokens that need no escape are set already. */
  #walk(
    bits: Uint32Array,
    node: number,
    place: TextPlace,
    quotes: number[],
    hasPlain: boolean,
  ): void {
    const { text } = place;
    const { automaton, isBounded } = text;
    const table = this.#table;
    const { bytes, depths, ends, firsts, classes, heights } = table;
    const [states, characters, avoided] = [this.#states, this.#characters, this.#avoided];
    const escapes = this.#escapes;
    escapes[depths[node]!] = 0;
    states[depths[node]!] = place.state;
    characters[depths[node]!] = place.characters;
    avoided[depths[node]!] = place.avoided;
    const end = ends[node]!;
    for (let child = node + 1; child < end;) {
      const depth = depths[child]!;
      const byte = bytes[child]!;
      const below = ends[child]!;
      const state = states[depth - 1]!;
      const avoid = avoided[depth - 1]!;
      const isPlain = hasPlain && escapes[depth - 1] === 0 && CLASS_OF[byte] !== UNSAFE;
      if (isPlain && (classes[child]! & UNSAFE) === 0) {
        child = below;
        continue;
      }
      const next = automaton.step(state, byte);
      if (next === 0) {
        const isEnd = byte === QUOTE && text.isComplete(state, characters[depth - 1]!) &&
          (avoid === NO_WORDS || !this.#words.hasEmpty(avoid));
        if (isEnd) quotes.push(child);
        child = below;
        continue;
      }
      const rest = avoid === NO_WORDS ? NO_WORDS : this.#words.after(avoid, byte);
      const counted = isBounded ? text.charactersAt(next, characters[depth - 1]!) : 0;
      const mayGoOn = (!isBounded || text.isFeasible(next, counted)) &&
        (rest === NO_WORDS || this.#avoidance.isPossible(automaton, next, rest));
      if (!mayGoOn) {
        child = below;
        continue;
      }
      table.addTokens(bits, firsts[child]!, firsts[child + 1]!);
      if (below === child + 1) {
        child = below;
      } else if (
        rest === NO_WORDS && (classes[child]! & ~text.loopsAt(next)) === 0 &&
        heights[child]! <= text.roomAt(next, counted)
      ) {
        table.addTokens(bits, firsts[child + 1]!, firsts[below]!);
        child = below;
      } else {
        states[depth] = next;
        characters[depth] = counted;
        avoided[depth] = rest;
        escapes[depth] = Number(!isPlain);
        child++;
      }
    }
  }
}
