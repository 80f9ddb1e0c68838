// The states of all string automata of a schema: derivatives of languages, with the bytes of UTF-8
// and of escapes between them. They are made while automata are walked, so equal remainders of
// different languages are one state. Every state except 0 can reach acceptance: a text whose
// shortest end takes too long to find is not continued.

import { EVERY_CLASS } from "./character_set.ts";
import { bytesLeft, canEnd, charactersLeft, type LanguageTools } from "./ends.ts";
import { inTime } from "./errors.ts";
import { type Expression, Flag } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import {
  FIRST_LEAD,
  keyOf,
  LAST_LEAD,
  leadOf,
  type PartialCharacter,
  SEGMENT_STEPS,
  type Segments,
  SHORT_ESCAPES,
  sliceOf,
  spell,
  type Writing,
} from "./json_escapes.ts";
import { PlainTextFinder, type PlainTexts, transitionsOf } from "./plain_texts.ts";
import { segmentOf } from "./segments.ts";

/** Most states, besides those on the way to known ends: 64 MiB of table. */
const MAX_STATES = 65_536;

/** Steps of work for a new state. */
const STATE_STEPS = 6;

/** Steps of work for a new transition. */
const FILL_STEPS = 1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Tables that all automata of a schema share, for one way of writing. */
export class StringStates {
  readonly #tools: LanguageTools;
  readonly #writing: Writing;
  readonly #rows = new ByteRows();
  /** By state: the language that remains, between characters; otherwise -1. */
  readonly #languages: number[] = [-1];
  readonly #partials: (PartialCharacter | undefined)[] = [undefined];
  readonly #byLanguage: number[] = [];
  readonly #byPartial = new Map<string | number, number>();
  readonly #plainTexts: PlainTextFinder;

  constructor(tools: LanguageTools, writing: Writing) {
    this.#tools = tools;
    this.#writing = writing;
    this.#rows.row(0).fill(0);
    this.#plainTexts = new PlainTextFinder(tools, {
      languageOf: (state) => this.#languages[state]!,
      boundary: (language) => this.#boundary(language),
      shortest: (state) => this.shortest(state),
    });
  }

  /** The state before the first byte of a text. @throws {LanguageError} if a shortest one takes too long to find */
  begin(language: Expression): number {
    this.#tools.bytes[this.#writing].of(language);
    return this.#boundary(language);
  }

  /** Whether so many states are kept that masks may add nothing. */
  get isFull(): boolean {
    return this.#tools.derivatives.work.isFull(this.#languages.length, MAX_STATES);
  }

  /** Whether a state is between two characters. */
  isBoundary(state: number): boolean {
    return this.#languages[state]! >= 0;
  }

  /** The bytes of a shortest completion; empty if it takes too long to find. */
  completion(state: number): Uint8Array {
    return Uint8Array.from(inTime(() => this.#complete(state), () => []));
  }

  /**
   * The state that corresponds to a state of another collection, whose languages this one began
   * with.
   */
  adopt(others: StringStates, state: number): number {
    const expressions = this.#tools.expressions;
    const from: Expressions = others.#tools.expressions;
    const language = others.#languages[state]!;
    // The other collection found that it is possible to end there, and it still is.
    const enter = (one: Expression) => {
      const adopted = expressions.adopt(from, one);
      const known = this.#byLanguage[adopted];
      if (known) return known;
      return this.#byLanguage[adopted] = this.#add(adopted, undefined);
    };
    if (language >= 0) return enter(language);
    const partial = others.#partials[state];
    if (!partial) return 0;
    const { empty } = from;
    return this.#within({
      ...partial,
      language: partial.length > 0 ? expressions.adopt(from, partial.language) : 0,
      targets: partial.targets.map((target) => {
        if (partial.length === 0) return this.adopt(others, target);
        if (target === empty) return expressions.empty;
        enter(target);
        return expressions.adopt(from, target);
      }),
    });
  }

  /** The state after `byte`; 0 is a dead end. */
  step(state: number, byte: number): number {
    const next = this.#rows.at(state, byte);
    return next !== UNKNOWN ? next : this.#fill(state, byte);
  }

  /** The states after one more character, or after the one that has begun. */
  next(state: number): readonly number[] {
    const language = this.#languages[state]!;
    const partial = this.#partials[state];
    // Surrogates lead nowhere, and every other character can be written.
    const targets = language >= 0
      ? transitionsOf(this.#tools, language).targets
      : partial?.targets ?? [];
    this.#tools.derivatives.work.spend(SEGMENT_STEPS * targets.length);
    const isEscape = partial?.length === 0;
    const reached = [...new Set(targets)].flatMap((target) =>
      !isEscape ? this.#boundary(target) : this.isBoundary(target) ? target : this.next(target)
    );
    return [...new Set(reached)].filter((next) => next !== 0);
  }

  /** {@linkcode PlainTextFinder.loops} */
  loops(state: number): number {
    return this.#plainTexts.loops(state);
  }

  /** {@linkcode PlainTextFinder.targetOf} */
  targetOf(state: number, classes: number): number | undefined {
    return this.#plainTexts.targetOf(state, classes);
  }

  /** {@linkcode PlainTextFinder.of} */
  plainTexts(state: number): PlainTexts | undefined {
    return this.#plainTexts.of(state);
  }

  /** Whether the text may end in `state`. */
  accepts(state: number): boolean {
    const language = this.#languages[state]!;
    return language >= 0 && this.#tools.expressions.store.has(language, Flag.Nullable);
  }

  /** Fewest further characters. */
  shortest(state: number): number {
    const language = this.#languages[state]!;
    if (language >= 0) return charactersLeft(this.#tools, this.#writing, language);
    const partial = this.#partials[state];
    if (!partial) return Infinity;
    // The state after an escape is one character further; the states before it are within that
    // character.
    const after = partial.targets.map((target) =>
      partial.length > 0
        ? charactersLeft(this.#tools, this.#writing, target) + 1
        : target === 0
        ? Infinity
        : this.shortest(target) + (this.#languages[target]! >= 0 ? 1 : 0)
    );
    return Math.min(...after);
  }

  /** The state of a language between characters; 0 if it is empty. */
  #boundary(language: Expression): number {
    const known = this.#byLanguage[language];
    if (known !== undefined) return known;
    const state = inTime(() => this.#mayEnter(language), () => false)
      ? this.#add(language, undefined)
      : 0;
    return this.#byLanguage[language] = state;
  }

  #mayEnter(language: Expression): boolean {
    if (!this.#tools.bytes[this.#writing].isKnown(language)) {
      this.#tools.derivatives.work.keep(this.#languages.length, MAX_STATES, "states");
    }
    return canEnd(this.#tools, this.#writing, language);
  }

  #within(partial: PartialCharacter): number {
    if (partial.targets.length === 0) return 0;
    const key = keyOf(partial);
    let state = this.#byPartial.get(key);
    if (state === undefined) {
      state = this.#add(-1, partial);
      this.#byPartial.set(key, state);
    }
    return state;
  }

  #add(language: number, partial: PartialCharacter | undefined): number {
    const state = this.#languages.length;
    this.#tools.derivatives.work.spend(STATE_STEPS);
    this.#languages.push(language);
    this.#partials.push(partial);
    const row = this.#rows.row(state);
    if (partial === undefined) {
      // No character begins with these bytes.
      row.fill(0, 0x80, FIRST_LEAD).fill(0, LAST_LEAD + 1);
      if (this.#writing === "json") row.fill(0, 0, 0x20)[QUOTE] = 0;
    } else if (partial.length > 0) row.fill(0, 0, 0x80).fill(0, 0xc0);
    else row.fill(0);
    if (partial?.length === 0) {
      partial.starts.forEach((byte, at) => row[byte] = partial.targets[at]!);
    }
    return state;
  }

  /** Whether {@linkcode step} knows the answer already. */
  isKnown(state: number, byte: number): boolean {
    return this.#rows.at(state, byte) !== UNKNOWN;
  }

  /**
   * Finds the target of a byte, and notes it for all bytes that certainly lead to the same state.
   */
  #fill(state: number, byte: number): number {
    const language = this.#languages[state]!;
    const row = this.#rows.row(state);
    this.#tools.derivatives.work.spend(FILL_STEPS);
    if (language < 0) {
      const partial = this.#partials[state]!;
      const next = this.#continue(partial, byte);
      if (partial.targets.length === 1) row.fill(next, 0x80, 0xc0);
      return row[byte] = next;
    }
    if (byte === BACKSLASH && this.#writing === "json") {
      return row[byte] = inTime(() => this.#escape(language), () => 0);
    }
    return inTime(() => this.#fillAlike(language, byte, row), () => row[byte] = 0);
  }

  /** Notes the target of the first byte of a character, and of others in its segment. */
  #fillAlike(language: Expression, byte: number, row: Int32Array): number {
    const { starts, targets } = this.#tools.derivatives.transitions(language);
    const { low, length, fewest } = leadOf(byte);
    const segment = segmentOf(starts, low);
    const end = starts[segment + 1] ?? Infinity;
    if (length === 0) {
      const next = this.#boundary(targets[segment]!);
      for (let other = starts[segment]!; other < Math.min(end, 0x80); other++) {
        if (row[other] === UNKNOWN && !this.#isEscape(other)) row[other] = next;
      }
      return next;
    }
    const rest = this.#slice({ starts, targets }, low, length, Math.max(fewest - low, 0));
    const next = this.#within({ ...rest, length, language, low });
    // A character of the same length that begins with another byte continues in the same way.
    const isWhole = low >= fewest && low + 64 ** length <= end;
    for (let other = byte; isWhole && other <= LAST_LEAD; other++) {
      const lead = leadOf(other);
      if (lead.length !== length || lead.low + 64 ** length > end) break;
      row[other] = next;
    }
    return row[byte] = next;
  }

  #isEscape(byte: number): boolean {
    return byte === BACKSLASH && this.#writing === "json";
  }

  #continue(partial: PartialCharacter, byte: number): number {
    const { length } = partial;
    const low = (byte & 0x3f) << (6 * (length - 1));
    const rest = this.#slice(partial, low, length - 1, 0);
    return length > 1
      ? this.#within({
        ...rest,
        length: length - 1,
        language: partial.language,
        low: partial.low + low,
      })
      : rest.targets.length > 0
      ? this.#boundary(rest.targets[0]!)
      : 0;
  }

  #slice(segments: Segments, low: number, length: number, skip: number): Segments {
    return sliceOf(segments, {
      low,
      length,
      skip,
      empty: this.#tools.expressions.empty,
      isAlive: (target) => this.#boundary(target) !== 0,
      work: this.#tools.derivatives.work,
    });
  }

  #escape(language: Expression): number {
    const { derivatives } = this.#tools;
    const follow = (character: number) => this.#boundary(derivatives.derive(language, character));
    const short = [...SHORT_ESCAPES].map(([character, letter]) =>
      [letter, follow(character)] as const
    );
    const low = [..."0123456789abcdef"].map((digit, i) =>
      [digit, SHORT_ESCAPES.has(i) ? 0 : follow(i)] as const
    );
    const high = [..."0123456789abcdef"].map((digit, i) => [digit, follow(16 + i)] as const);
    const digits = this.#choice([["0", this.#choice(low)], ["1", this.#choice(high)]]);
    const unicode = this.#choice([["0", this.#choice([["0", digits]])]]);
    return this.#choice([...short, ["u", unicode]]);
  }

  #choice(options: readonly (readonly [letter: string, state: number])[]): number {
    const alive = options.filter(([, state]) => state !== 0);
    const starts = alive.map(([letter]) => letter.charCodeAt(0));
    const targets = alive.map(([, state]) => state);
    return this.#within({ length: 0, language: 0, low: 0, starts, targets });
  }

  /**
   * Most characters that a text lacks after any plain characters, if it may have any greater number
   * as well; Infinity: unknown.
   */
  mostMissing(state: number): number {
    const language = this.#languages[state]!;
    if (language < 0) return Infinity;
    const missing = this.#tools.openEnds.mostMissing(language);
    if (missing < Infinity) return missing;
    const texts = this.plainTexts(state);
    return texts?.isLoop && texts.classes === EVERY_CLASS ? texts.missing : Infinity;
  }

  /** Fewest further bytes. */
  bytesLeft(state: number): number {
    const language = this.#languages[state]!;
    const of = (target: Expression) => bytesLeft(this.#tools, this.#writing, target);
    if (language >= 0) return of(language);
    const partial = this.#partials[state];
    if (!partial) return Infinity;
    const { length, targets } = partial;
    return length > 0
      ? length + Math.min(...targets.map(of))
      : 1 + Math.min(...targets.map((target) => this.bytesLeft(target)));
  }

  /** The bytes of a shortest completion. */
  #complete(state: number): number[] {
    const bytes = this.#tools.bytes[this.#writing];
    const language = this.#languages[state]!;
    if (language >= 0) return spell(bytes.text(language)!, this.#writing);
    const partial = this.#partials[state];
    if (!partial) return [];
    const { length, starts, targets } = partial;
    if (length === 0) {
      const all = targets.map((target, i) => [starts[i]!, ...this.#complete(target)]);
      return all.reduce((best, other) => other.length < best.length ? other : best);
    }
    const nearest = Math.min(...targets.map((target) => bytes.of(target)));
    const i = targets.findIndex((target) => bytes.of(target) === nearest);
    const offset = starts[i]!;
    const begun = Array.from(
      { length },
      (_, k) => 0x80 | ((offset >> (6 * (length - 1 - k))) & 0x3f),
    );
    return [...begun, ...spell(bytes.text(targets[i]!)!, this.#writing)];
  }
}

/** States of a piece, as a power of two. */
const PIECE = 6;

const STATES_MASK = (1 << PIECE) - 1;

/** A transition that has not been computed yet. */
const UNKNOWN = -1;

/** The table of transitions; new ones are {@linkcode UNKNOWN}. */
class ByteRows {
  readonly #pieces: Int32Array[] = [];

  /** The state after a byte. The state's row must have been requested before. */
  at(state: number, byte: number): number {
    return this.#pieces[state >>> PIECE]![((state & STATES_MASK) << 8) | byte]!;
  }

  /** The row of a state, for writing. States must be requested in order. */
  row(state: number): Int32Array {
    const piece = this.#pieces[state >>> PIECE] ??= new Int32Array(256 << PIECE).fill(UNKNOWN);
    const begin = (state & STATES_MASK) << 8;
    return piece.subarray(begin, begin + 256);
  }
}
