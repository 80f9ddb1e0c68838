// Regular languages of strings by id: made of literals, patterns and formats, closed under union,
// intersection and complement. The strings are those of Unicode scalar values.

import { ANY_CHARACTER, characterSet, invertSet } from "./character_set.ts";
import { Derivatives } from "./derivatives.ts";
import { Distances, OpenEnds } from "./distances.ts";
import { Flag } from "./expression_store.ts";
import type { LanguageTools } from "./ends.ts";
import { inTime } from "./errors.ts";
import { Expressions, SHARED_BEGINNING } from "./expressions.ts";
import { formatPatterns } from "./formats.ts";
import {
  type CountedLanguage,
  finiteMembers,
  type Lengths,
  memberLengths,
  withoutCount,
} from "./members.ts";
import { patternLanguage } from "./pattern_language.ts";
import { END, sequenceNode, START } from "./pattern_node.ts";
import { parsePattern } from "./pattern_parser.ts";
import { StringAutomaton } from "./string_automaton.ts";
import { StringStates } from "./string_states.ts";
import { Work } from "./work.ts";

/**
 * A language of a {@linkcode Languages}. Languages that are constructed in the same way have equal
 * ids.
 */
export type LanguageId = number;

/**
 * The languages of a schema. Methods that have to explore a language throw LanguageError if it is
 * too large.
 */
export class Languages {
  /** Counts the work for these languages, and limits it. */
  readonly work: Work;
  readonly #expressions: Expressions;
  readonly #tools: LanguageTools;
  readonly #states: StringStates;
  readonly #plainStates: StringStates;
  readonly #patterns = new Map<string, LanguageId>();
  readonly #automata = new Map<LanguageId, StringAutomaton>();
  readonly #plainAutomata = new Map<LanguageId, StringAutomaton>();

  /** An empty collection, or one with the languages that another had when it was settled. */
  constructor(of?: Languages) {
    this.work = of?.work ?? new Work();
    this.#expressions = new Expressions(this.work, of && of.#expressions);
    const expressions = this.#expressions;
    const derivatives = new Derivatives(expressions);
    this.#tools = {
      expressions,
      derivatives,
      characters: new Distances(expressions, derivatives),
      bytes: {
        json: new Distances(expressions, derivatives, "json"),
        plain: new Distances(expressions, derivatives, "plain"),
      },
      openEnds: new OpenEnds(expressions),
    };
    this.#states = new StringStates(this.#tools, "json");
    this.#plainStates = new StringStates(this.#tools, "plain");
  }

  /** Marks all languages so far as those to keep. What is found about them later may be dropped. */
  settle(): void {
    this.#expressions.store.settle();
  }

  /** Whether so many results are kept that masks may add nothing. */
  get isFull(): boolean {
    return this.#expressions.store.isFull || this.#tools.derivatives.isFull ||
      this.#states.isFull || this.#plainStates.isFull;
  }

  /** All strings. */
  any(): LanguageId {
    return this.#expressions.everything;
  }

  /** No string. */
  none(): LanguageId {
    return this.#expressions.empty;
  }

  /** The language of one string; empty if `text` has lone surrogates. */
  literal(text: string): LanguageId {
    return this.#expressions.literal(text);
  }

  /**
   * The strings of one character within ranges of code points, both ends included; or outside of
   * them.
   */
  character(
    ranges: readonly (readonly [low: number, high: number])[],
    negated = false,
  ): LanguageId {
    const set = characterSet(...ranges);
    return this.#expressions.set(negated ? invertSet(set) : set);
  }

  /** The strings of a number of characters, both ends included. @param max Infinity: any */
  ofLength(min: number, max: number): LanguageId {
    const e = this.#expressions;
    return min > max ? e.empty : e.repeat(e.set(ANY_CHARACTER), min, max);
  }

  /**
   * The strings that contain a match of a pattern, or are one.
   * @param source in the syntax of ECMA-262 with the u flag, or of another dialect
   * @param isWhole whether the match has to be the whole string
   * @throws {PatternError} if the pattern is invalid, has several meanings, or is not regular
   */
  pattern(source: string, isWhole = false): LanguageId {
    const key = `${isWhole} ${source}`;
    let language = this.#patterns.get(key);
    if (language === undefined) {
      const found = parsePattern(source);
      const node = isWhole ? sequenceNode([START, found, END]) : found;
      language = patternLanguage(this.#expressions, node);
      this.#patterns.set(key, language);
    }
    return language;
  }

  /** The strings of a format of JSON Schema; undefined if it is not among those known. */
  format(name: string): LanguageId | undefined {
    const patterns = formatPatterns(name);
    return patterns && this.#expressions.and(patterns.map((source) => this.pattern(source, true)));
  }

  union(...languages: readonly LanguageId[]): LanguageId {
    return this.#expressions.or(languages, SHARED_BEGINNING);
  }

  /** The concatenation of languages that are closed ({@linkcode isClosed}). */
  sequence(...languages: readonly LanguageId[]): LanguageId {
    const e = this.#expressions;
    return languages.reduceRight((rest, language) => e.concat(language, rest), e.epsilon);
  }

  /** Repetitions of a closed language. @param max Infinity: any number */
  repeat(language: LanguageId, min: number, max: number): LanguageId {
    return this.#expressions.repeat(language, min, max);
  }

  /**
   * Whether its strings may be parts of longer ones, because no assertion refers to text beyond
   * them.
   */
  isClosed(language: LanguageId): boolean {
    return !this.#expressions.store.has(language, Flag.Open) &&
      !this.#expressions.store.has(language, Flag.Behind);
  }

  /** The intersection of languages. */
  intersect(...languages: readonly LanguageId[]): LanguageId {
    return this.#expressions.and(languages);
  }

  complement(language: LanguageId): LanguageId {
    return this.#expressions.not(language);
  }

  /** Whether a language has no strings. */
  isEmpty(language: LanguageId): boolean {
    return this.#tools.characters.of(language) === Infinity;
  }

  /** Whether a string belongs to a language. */
  contains(language: LanguageId, text: string): boolean {
    if (language === this.#expressions.everything) return text.isWellFormed();
    for (const character of text) {
      language = this.#tools.derivatives.derive(language, character.codePointAt(0)!);
      if (language === this.#expressions.empty) return false;
    }
    return this.#expressions.store.has(language, Flag.Nullable);
  }

  /**
   * All strings of a language, the shortest first, if there are at most `limit` and they are easily
   * found.
   */
  finite(language: LanguageId, limit: number): string[] | undefined {
    return inTime(() => finiteMembers(this.#tools, language, limit), () => undefined);
  }

  /** A string with the fewest characters. */
  shortest(language: LanguageId): string | undefined {
    const text = this.#tools.characters.text(language);
    return text?.map((codePoint) => String.fromCodePoint(codePoint)).join("");
  }

  /**
   * Fewest and most characters. `max` is an upper bound if the exact number takes too long to find.
   */
  lengths(language: LanguageId): Lengths {
    return memberLengths(this.#tools, language);
  }

  /**
   * A language without the count of characters at its end, and that count as numbers: the members
   * are those of `language` with `min` to `max` characters. Its automaton has fewer states, so
   * masks take less work.
   */
  withoutCount(language: LanguageId): CountedLanguage {
    return withoutCount(this.#tools, language);
  }

  /**
   * The automaton of a language's strings as contents of JSON strings. Equal states of two automata
   * are the same.
   * @throws {LanguageError} if no string is found in time
   */
  automaton(language: LanguageId): StringAutomaton {
    return automatonOf(this.#automata, this.#states, language);
  }

  /** The automaton of its strings as plain UTF-8. */
  plainAutomaton(language: LanguageId): StringAutomaton {
    return automatonOf(this.#plainAutomata, this.#plainStates, language);
  }
}

function automatonOf(
  known: Map<LanguageId, StringAutomaton>,
  states: StringStates,
  language: LanguageId,
): StringAutomaton {
  let automaton = known.get(language);
  if (!automaton) known.set(language, automaton = new StringAutomaton(states, language));
  return automaton;
}
