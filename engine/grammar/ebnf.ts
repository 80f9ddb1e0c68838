// Reads grammars as text: GBNF, the extended Backus-Naur form of llama.cpp (its
// grammars/README.md): rules made of sequences and alternatives of literals, classes, tokens,
// groups and names, with counts after them. It checks that every rule that is named exists, but not
// what the rules mean together.

import { type Grammar, GrammarError, type GrammarRules, type SourcePosition } from "./grammar.ts";

/** Deepest nesting of groups. */
const MAX_DEPTH = 100;

/** Longest grammar, in UTF-16 units. */
const MAX_LENGTH = 1_000_000;

/** Offsets of a part of a text in UTF-16 units: its start, and what follows its end. */
export type TextSpan = readonly [start: number, end: number];

/** A grammar, and where its parts stand in its text. */
export interface ParsedGrammar {
  readonly grammar: GrammarRules;
  /** The offset at which a rule begins; undefined if it is in no text. */
  readonly positionOf: (rule: string) => SourcePosition | undefined;
  /** Where a literal, a class or a token stands; undefined if it is in no text. */
  readonly spanOf: (part: Grammar) => TextSpan | undefined;
}

/** The state of reading a text. */
interface Reading {
  readonly reader: GrammarReader;
  /** The offset at which each rule is first named. */
  readonly named: Map<string, number>;
  /** Where each literal, class and token stands. */
  readonly spans: Map<Grammar, TextSpan>;
}

/**
 * Reads a grammar.
 *
 * @throws {GrammarError} with line and column if it is malformed, or a rule is missing
 */
export function parseGrammar(text: string): ParsedGrammar {
  const reader = new GrammarReader(text);
  if (text.length > MAX_LENGTH) throw reader.error(`it has over ${MAX_LENGTH} characters`);
  const reading: Reading = { reader, named: new Map(), spans: new Map() };
  const rules = new Map<string, Grammar>();
  const starts = new Map<string, number>();
  for (reader.space(true); !reader.isAtEnd; reader.space(true)) {
    const start = reader.offset;
    const name = readName(reader);
    if (name === undefined) throw reader.error(`a rule begins with its name, not ${reader.next}`);
    if (rules.has(name)) throw reader.error(`there are two rules "${name}"`, start);
    reader.space(false);
    if (!reader.take("::=")) throw reader.error(`::= is missing after "${name}"`);
    reader.space(true);
    starts.set(name, start);
    rules.set(name, readChoice(reading, 0));
    if (!reader.isAtEnd && !reader.sees("\r") && !reader.sees("\n")) {
      throw reader.error(`${reader.next} has no meaning here`);
    }
  }
  for (const [name, start] of reading.named) {
    if (!rules.has(name)) throw reader.error(`there is no rule "${name}"`, start);
  }
  if (!rules.has("root")) throw reader.error('there is no rule "root"');
  const positionOf = (rule: string) => {
    const start = starts.get(rule);
    return start === undefined ? undefined : reader.positionOf(start);
  };
  const grammar: GrammarRules = { root: { type: "rule", name: "root" }, rules };
  return { grammar, positionOf, spanOf: (part) => reading.spans.get(part) };
}

function readName(reader: GrammarReader): string | undefined {
  return reader.match(/[A-Za-z0-9_-]+/y);
}

/** Reads alternatives. Within a group they may be on several lines. */
function readChoice(reading: Reading, depth: number): Grammar {
  const { reader } = reading;
  const options = [readSequence(reading, depth)];
  while (reader.take("|")) {
    reader.space(true);
    options.push(readSequence(reading, depth));
  }
  return options.length === 1 ? options[0]! : { type: "choice", options };
}

function readSequence(reading: Reading, depth: number): Grammar {
  const { reader } = reading;
  const parts: Grammar[] = [];
  for (;;) {
    const counts = readCounts(reader, depth > 0);
    if (counts) {
      const part = parts.pop();
      if (!part) throw reader.error("there is nothing to repeat");
      parts.push({ type: "repeat", part, min: counts[0], max: counts[1] });
    } else {
      const part = readSymbol(reading, depth);
      if (!part) break;
      parts.push(part);
    }
    reader.space(depth > 0);
  }
  return parts.length === 1 ? parts[0]! : { type: "sequence", parts };
}

/** Reads an item; undefined if there is none. */
function readSymbol(reading: Reading, depth: number): Grammar | undefined {
  const { reader, named, spans } = reading;
  if (reader.take("(")) return readGroup(reading, depth + 1);
  const start = reader.offset;
  const terminal = readTerminal(reader);
  if (terminal) {
    spans.set(terminal, [start, reader.offset]);
    return terminal;
  }
  const name = readName(reader);
  if (name === undefined) return undefined;
  if (!named.has(name)) named.set(name, start);
  return { type: "rule", name };
}

function readTerminal(reader: GrammarReader): Grammar | undefined {
  if (reader.take('"')) return readLiteral(reader);
  if (reader.take("[")) return readClass(reader);
  if (reader.take(".")) return { type: "characters", ranges: [], negated: true };
  if (reader.take("!<")) return readToken(reader, true);
  if (reader.take("<")) return readToken(reader, false);
  return undefined;
}

function readGroup(reading: Reading, depth: number): Grammar {
  const { reader } = reading;
  const start = reader.offset - 1;
  if (depth > MAX_DEPTH) throw reader.error(`groups nest deeper than ${MAX_DEPTH}`);
  reader.space(true);
  const group = readChoice(reading, depth);
  if (!reader.take(")")) {
    throw reader.isAtEnd
      ? reader.error("a group is not closed", start)
      : reader.error(`${reader.next} has no meaning here`);
  }
  return group;
}

/** Reads a count; undefined if there is none. */
function readCounts(
  reader: GrammarReader,
  isNested: boolean,
): readonly [min: number, max: number] | undefined {
  const start = reader.offset;
  if (reader.take("*")) return [0, Infinity];
  if (reader.take("+")) return [1, Infinity];
  if (reader.take("?")) return [0, 1];
  if (!reader.take("{")) return undefined;
  const number = () => {
    reader.space(isNested);
    const digits = reader.match(/\d{1,9}/y);
    reader.space(isNested);
    return digits === undefined ? undefined : Number(digits);
  };
  const min = number();
  const max = reader.take(",") ? number() ?? Infinity : min;
  if (min === undefined || max === undefined || !reader.take("}")) {
    throw reader.error("a count is {m}, {m,} or {m,n}", start);
  }
  if (min > max) throw reader.error(`a count is from ${min} to ${max}`, start);
  return [min, max];
}

const LAST_CHARACTER = 0x10ffff;

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r" };

/** Reads a literal after its opening quote. */
function readLiteral(reader: GrammarReader): Grammar {
  const start = reader.offset - 1;
  let text = "";
  while (!reader.take('"')) {
    if (reader.isAtEnd) throw reader.error("a literal is not closed", start);
    text += String.fromCodePoint(readCharacter(reader));
  }
  return { type: "literal", text };
}

/** Reads a class of characters after its opening bracket. */
function readClass(reader: GrammarReader): Grammar {
  const start = reader.offset - 1;
  const negated = reader.take("^");
  const ranges: (readonly [number, number])[] = [];
  while (!reader.take("]")) {
    if (reader.isAtEnd) throw reader.error("a class of characters is not closed", start);
    const low = readCharacter(reader);
    const isRange = reader.sees("-") && !reader.sees("-]");
    if (isRange) reader.take("-");
    const high = isRange ? readCharacter(reader) : low;
    if (high < low) throw reader.error("a range of characters ends before it begins");
    ranges.push([low, high]);
  }
  if (ranges.length === 0 && !negated) throw reader.error("a class of characters is empty", start);
  return { type: "characters", ranges, negated };
}

/** Reads a token after its `<`: by its number, or by its piece. */
function readToken(reader: GrammarReader, negated: boolean): Grammar {
  const start = reader.offset - 1;
  if (reader.take("[")) {
    const digits = reader.match(/\d+(?=\]>)/y);
    if (digits === undefined) throw reader.error("the number of a token is missing", start);
    reader.take("]>");
    return { type: "token", token: Number(digits), negated };
  }
  const name = reader.match(/[^>\r\n]+(?=>)/y);
  if (name === undefined) throw reader.error("a token is not closed", start);
  reader.take(">");
  return { type: "token", token: `<${name}>`, negated };
}

/** Reads a character or an escape. */
function readCharacter(reader: GrammarReader): number {
  const start = reader.offset;
  if (!reader.take("\\")) return reader.character();
  const digits = reader.match(/x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}/y);
  if (digits !== undefined) {
    const codePoint = parseInt(digits.slice(1), 16);
    if (codePoint > LAST_CHARACTER) throw reader.error("there is no such character", start);
    return codePoint;
  }
  const letter = reader.match(/[tnr"\\[\]-]/y);
  if (letter === undefined) throw reader.error("there is no such escape", start);
  return (ESCAPES[letter] ?? letter).charCodeAt(0);
}

/** A position in the text of a grammar. */
class GrammarReader {
  readonly #text: string;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether the whole text is read. */
  get isAtEnd(): boolean {
    return this.#offset >= this.#text.length;
  }

  /** The offset in UTF-16 units. */
  get offset(): number {
    return this.#offset;
  }

  /** Line and column of an offset. */
  positionOf(offset: number): SourcePosition {
    const lines = this.#text.slice(0, offset).split(/\r\n|\r|\n/);
    return { line: lines.length, column: lines.at(-1)!.length + 1 };
  }

  /** The next character, for messages. */
  get next(): string {
    return this.isAtEnd ? "its end" : JSON.stringify(String.fromCodePoint(this.#codePoint()));
  }

  /** Whether `text` is next. */
  sees(text: string): boolean {
    return this.#text.startsWith(text, this.#offset);
  }

  /** Reads `text` if it is next. */
  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#offset += text.length;
    return true;
  }

  /** Reads what a sticky expression matches here. */
  match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.#offset;
    const match = sticky.exec(this.#text);
    if (!match) return undefined;
    this.#offset = sticky.lastIndex;
    return match[0];
  }

  /** Reads one character. @returns its code point */
  character(): number {
    if (this.isAtEnd) throw this.error("it ends too early");
    const codePoint = this.#codePoint();
    this.#offset += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }

  /** Skips spaces and comments, and ends of lines where they do not separate rules. */
  space(withLineEnds: boolean): void {
    this.match(withLineEnds ? /(?:[ \t\r\n]|#[^\r\n]*)*/y : /(?:[ \t]|#[^\r\n]*)*/y);
  }

  /** An error here, or at another offset. */
  error(reason: string, offset: number = this.#offset): GrammarError {
    return new GrammarError(reason, this.positionOf(offset));
  }

  #codePoint(): number {
    return this.#text.codePointAt(this.#offset)!;
  }
}
