// One or several calls whose opening mark has come: collects the text after it, finds its end and
// parses it. Closing marks within strings of JSON arguments are ordinary text. A call is given out
// when it is whole, or while it comes if it is sure to be.

import { isJsonObject, withDoubles, writeExactJson } from "../../../tokenizer/mod.ts";
import { parseJson } from "./families/typed_text.ts";
import type { AnswerEvent, CallableTool, CallSyntax, LocatedArguments, ReadCall } from "./types.ts";

/** Most characters of a call before its arguments begin. */
const MAX_HEAD = 1000;

/** An opening mark in an answer. */
export interface Opening {
  readonly mark: string;
  readonly syntax: CallSyntax;
  readonly tools: readonly CallableTool[];
}

/** How a call is given out while it comes. */
export interface CallStreaming {
  /** Whether a call whose arguments begin now is sure to be whole. */
  isSure(): boolean;
  /** Receives the events of such a call. */
  give(event: AnswerEvent): void;
}

/** The result of an opening: text, then calls, then the text after them. */
export interface EndedCall {
  readonly text: string;
  readonly events: readonly AnswerEvent[];
  readonly rest: string;
  /** Whether there was a call, here or among the events given out before. */
  readonly isCall: boolean;
}

/** The text after an opening. */
export class OpenCall {
  readonly #opening: Opening;
  readonly #streaming: CallStreaming;
  #state: "head" | "arguments" | "tail" | "text" | "ended" = "head";
  /** Text that has not been interpreted yet. */
  #pending = "";
  readonly #body: string[] = [];
  #ends: Marks;
  /** The closing mark, after it came. */
  #closing = "";
  /** Follows the arguments, after they were located. */
  #scanner: BracketScanner | undefined;
  #outerDepth = 0;
  /**
   * The pieces of the arguments that were given out while they came; undefined if they are given
   * out at the end.
   */
  #given: string[] | undefined;

  constructor(opening: Opening, streaming: CallStreaming) {
    this.#opening = opening;
    this.#streaming = streaming;
    this.#ends = new Marks([opening.syntax.closing ?? []].flat());
  }

  /** Adds text. Gives whether the call has ended. */
  push(text: string): boolean {
    this.#pending += text;
    while (this.#step());
    return this.#state === "text" || this.#state === "ended";
  }

  /** The result, after the call or the answer has ended. */
  end(): EndedCall {
    const { mark } = this.#opening;
    if (this.#state === "text") {
      return { text: mark, events: [], rest: this.#pending, isCall: false };
    }
    if (this.#state !== "ended") this.#consume(this.#pending.length);
    const body = this.#body.join("");
    const ended = this.#given ? this.#readOthers(body) : this.#read(body);
    return { ...ended, rest: this.#pending };
  }

  /** Interprets some text. Gives whether there may be more to interpret. */
  #step(): boolean {
    switch (this.#state) {
      case "head":
        return this.#readHead();
      case "arguments":
        return this.#readArguments();
      case "tail":
        return this.#readTail();
      default:
        return false;
    }
  }

  #readHead(): boolean {
    const { syntax, mark, tools } = this.#opening;
    const { at, mark: closing } = this.#ends.find(this.#pending, false);
    const head = this.#pending.slice(0, Math.min(closing ? at : MAX_HEAD, MAX_HEAD));
    const located = syntax.locate?.(head, mark, tools);
    if (located === "text") {
      this.#state = "text";
      return false;
    }
    const start = located ? indexOfText(head, located.arguments) : -1;
    if (located && head[start] === "{") {
      this.#beginArguments(located, start);
      return true;
    }
    const mayCome = syntax.locate && !closing && this.#pending.length < MAX_HEAD;
    if (mayCome) return false;
    this.#state = "tail";
    return true;
  }

  #beginArguments({ name, id }: LocatedArguments, start: number): void {
    const { mark, tools } = this.#opening;
    this.#outerDepth = openBrackets(mark + this.#consume(start));
    this.#scanner = new BracketScanner(this.#outerDepth);
    this.#state = "arguments";
    if (!tools.some((tool) => tool.name === name) || !this.#streaming.isSure()) return;
    this.#given = [];
    this.#streaming.give({ type: "callStart", name, ...id !== undefined && { id } });
  }

  #readArguments(): boolean {
    const json = this.#consume(this.#scanner!.scan(this.#pending, this.#outerDepth));
    if (json !== "" && this.#given) {
      this.#given.push(json);
      this.#streaming.give({ type: "callArguments", json });
    }
    if (this.#scanner!.state === "open") return false;
    this.#endArguments();
    return true;
  }

  #endArguments(): void {
    const { closing, openings } = this.#opening.syntax;
    this.#state = "tail";
    // A model may forget the closing mark and continue with the next call.
    this.#ends = new Marks([closing ?? [], ...openings].flat());
    const members = this.#given && parseJson(this.#given.join(""));
    if (!isJsonObject(members)) return;
    this.#streaming.give({ type: "callEnd", arguments: withDoubles(members) });
  }

  #readTail(): boolean {
    const { closing } = this.#opening.syntax;
    if (closing === undefined && this.#scanner) {
      this.#consume(this.#scanner.scan(this.#pending, 0));
      if (this.#scanner.state === "closed") this.#state = "ended";
      if (this.#scanner.state !== "broken") return false;
    }
    const { at, mark } = this.#ends.find(this.#pending, false);
    this.#consume(at);
    if (!mark) return false;
    if (mark === closing) {
      this.#closing = mark;
      this.#pending = this.#pending.slice(mark.length);
    }
    this.#state = "ended";
    return false;
  }

  /** Moves a number of characters to the body. */
  #consume(length: number): string {
    const text = this.#pending.slice(0, length);
    if (text !== "") this.#body.push(text);
    this.#pending = this.#pending.slice(length);
    return text;
  }

  #read(body: string): Omit<EndedCall, "rest"> {
    const { mark, syntax, tools } = this.#opening;
    const calls = syntax.read(body, mark, tools);
    if (calls) return { text: "", events: calls.flatMap(eventsOf), isCall: true };
    // Text may mention an opening mark before a call.
    const last = syntax.openings.includes(mark) ? body.lastIndexOf(mark) : -1;
    const later = last < 0 ? undefined : syntax.read(body.slice(last + mark.length), mark, tools);
    return later
      ? { text: mark + body.slice(0, last), events: later.flatMap(eventsOf), isCall: true }
      : { text: mark + body + this.#closing, events: [], isCall: false };
  }

  /** The calls after the first, which was given out already. */
  #readOthers(body: string): Omit<EndedCall, "rest"> {
    const { mark, syntax, tools } = this.#opening;
    const others = syntax.read(body, mark, tools)?.slice(1) ?? [];
    return { text: "", events: others.flatMap(eventsOf), isCall: true };
  }
}

/** Index of the first character after `from` that is not white space. */
function indexOfText(text: string, from: number): number {
  return text.length - text.slice(from).trimStart().length;
}

/** The events of a complete call. */
function eventsOf({ name, id, arguments: members }: ReadCall): AnswerEvent[] {
  return [
    { type: "callStart", name, ...id !== undefined && { id } },
    { type: "callArguments", json: writeExactJson(members) },
    { type: "callEnd", arguments: withDoubles(members) },
  ];
}

// Follows the brackets of JSON text (RFC 8259) that comes in pieces, to find the end of a value. It
// respects strings and their escapes, but does not check the JSON otherwise.

const QUOTE = '"'.charCodeAt(0);

const BACKSLASH = "\\".charCodeAt(0);

const SPACE = " ".charCodeAt(0);

/** Characters of JSON outside strings, besides brackets and quotes. */
const OUTSIDE = /[\w\s.,:+-]/;

/** Counts open brackets until a value is complete. */
export class BracketScanner {
  /** "broken": a character that JSON cannot contain, so that no end will be found. */
  state: "open" | "closed" | "broken" = "open";
  #depth: number;
  #isInString = false;
  #isEscaped = false;

  /** @param depth number of brackets that are open at the beginning of the text */
  constructor(depth: number) {
    this.#depth = depth;
  }

  /**
   * Continues until a closing bracket leaves at most `depth` brackets open.
   *
   * @returns the index after that bracket, or of the character that is not JSON, or else the text's
   *   length
   */
  scan(text: string, depth: number): number {
    if (this.state === "closed") this.state = this.#depth <= depth ? "closed" : "open";
    let at = 0;
    while (at < text.length && this.state === "open") {
      const code = text.charCodeAt(at);
      this.state = this.#isInString ? this.#inString(code) : this.#outside(text[at]!, depth);
      if (this.state !== "broken") at++;
    }
    return at;
  }

  #inString(code: number): "open" | "broken" {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isInString = false;
    else if (code < SPACE) return "broken";
    return "open";
  }

  #outside(character: string, depth: number): "open" | "closed" | "broken" {
    switch (character) {
      case "{":
      case "[":
        this.#depth++;
        return "open";
      case "}":
      case "]":
        return --this.#depth <= depth ? "closed" : "open";
      case '"':
        this.#isInString = true;
        return "open";
      default:
        return OUTSIDE.test(character) ? "open" : "broken";
    }
  }
}

/** Number of brackets that a text leaves open. */
function openBrackets(text: string): number {
  const opened = text.match(/[{[]/g)?.length ?? 0;
  const closed = text.match(/[}\]]/g)?.length ?? 0;
  return Math.max(0, opened - closed);
}

/** The index of the first mark, or of text that must be held back, or the length of the text. */
export interface FoundMark {
  readonly at: number;
  /** The mark; undefined if none is complete. */
  readonly mark?: string;
}

/** A set of marks to search for. Of several at one place the longest counts. */
export class Marks {
  readonly #marks: readonly string[];
  readonly #pattern: RegExp;
  readonly #longest: number;

  constructor(marks: readonly string[]) {
    this.#marks = marks.toSorted((a, b) => b.length - a.length);
    this.#longest = this.#marks[0]?.length ?? 0;
    this.#pattern = new RegExp(this.#marks.map(RegExp.escape).join("|") || "(?!)");
  }

  /** @param isEnd whether no text follows, so that nothing has to be held back */
  find(text: string, isEnd: boolean): FoundMark {
    const match = this.#pattern.exec(text);
    const at = match?.index ?? this.#beginningOfMark(text);
    if (isEnd) return match ? { at, mark: match[0] } : { at: text.length };
    return match && !this.#mayBeMark(text, at) ? { at, mark: match[0] } : { at };
  }

  #beginningOfMark(text: string): number {
    let at = Math.max(0, text.length - Math.max(0, this.#longest - 1));
    while (at < text.length && !this.#mayBeMark(text, at)) at++;
    return at;
  }

  /** Whether the text from an index on is a proper prefix of a mark. */
  #mayBeMark(text: string, at: number): boolean {
    const length = text.length - at;
    if (length >= this.#longest) return false;
    const beginning = text.slice(at);
    return this.#marks.some((mark) => mark.length > length && mark.startsWith(beginning));
  }
}
