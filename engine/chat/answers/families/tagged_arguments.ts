// Calls whose arguments are between marks, one by one: <arg_key>, <parameter name="...">. Strings
// are written as they are and other values as JSON, so the meaning of a text depends on the tool's
// schema, unless the family writes the type beside the key. Each family gives its marks.

import {
  both,
  choice,
  type Grammar,
  type JsonType,
  literal,
  repeat,
  sequence,
  textWithout,
} from "../../../grammar/mod.ts";
import type { CallableTool, CallSyntax, ReadCall } from "../types.ts";
import { readArguments } from "./json_calls.ts";
import { ordered, separated } from "./ordered.ts";
import {
  argumentsJson,
  argumentsOf,
  othersOf,
  propertiesOf,
  type Property,
  propertyOf,
  type Schema,
  toolJson,
  toolOf,
  typesOf,
  unheldOfObject,
} from "./tool_schema.ts";
import { parseJson, stringGrammar, textGrammar, valueOfText } from "./typed_text.ts";

/** The marks of a call, or of an argument, around a name and the rest. */
export interface TagMarks {
  /** Mark before the name. */
  readonly open: string;
  /** Mark directly after the name. */
  readonly named: string;
  /** Mark before the rest. `gap` defines the text between `named` and this. */
  readonly begin: string;
  readonly close: string;
}

/** How a family writes calls with marked arguments. White space in the marks is optional. */
export interface TaggedSyntax {
  /** Opening and closing of the calls, including white space. */
  readonly section: readonly [open: string, close: string];
  /** Text between two sections. If missing, one section has all calls. */
  readonly between?: string;
  readonly call: TagMarks;
  /** Grammar of the text between `named` and `begin` of a call. */
  readonly callGap?: Grammar;
  readonly argument: TagMarks;
  /**
   * For families that write types: the text between `named` and `begin` of an argument with this
   * type.
   */
  gap?(type: JsonType): string;
  /** Marks between which a string may be written. */
  readonly quotes?: readonly [open: string, close: string];
}

/** The calls of such a family. */
export function taggedCalls(syntax: TaggedSyntax): CallSyntax {
  const [open, close] = syntax.section;
  return {
    openings: [open.trim()],
    closing: close.trim(),
    read: (body, _, tools) => new TaggedReader(body, syntax).calls(tools),
    grammar(tools, { parallel }) {
      const call = choice(...tools.map((tool) => callGrammar(tool, syntax)));
      const { between } = syntax;
      const calls = between === undefined ? separated(call, "", parallel) : call;
      const section = sequence(literal(open), calls, literal(close));
      return between === undefined ? section : separated(section, between, parallel);
    },
    unheld: (tool) => unheldOfObject(argumentsOf(tool)),
  };
}

class TaggedReader {
  readonly #text: string;
  readonly #syntax: TaggedSyntax;
  #offset = 0;

  constructor(text: string, syntax: TaggedSyntax) {
    this.#text = text;
    this.#syntax = syntax;
  }

  /** All calls; undefined if the text is something else. */
  calls(tools: readonly CallableTool[]): ReadCall[] | undefined {
    const calls: ReadCall[] = [];
    do {
      const call = this.#call(tools);
      if (!call) return undefined;
      calls.push(call);
    } while (this.#skipBlanks() < this.#text.length);
    return calls;
  }

  #call(tools: readonly CallableTool[]): ReadCall | undefined {
    const { call: marks, argument } = this.#syntax;
    if (!this.#take(marks.open)) return undefined;
    const name = this.#name(marks, [argument.open, marks.close]);
    if (name === undefined || name === "") return undefined;
    const schema = argumentsOf(toolOf(name, tools));
    const members: [string, unknown][] = [];
    while (this.#take(argument.open)) {
      const member = this.#argument(schema);
      if (!member) return undefined;
      members.push(member);
    }
    if (!this.#take(marks.close)) return undefined;
    return { name, arguments: Object.fromEntries(members) };
  }

  #argument(schema: Schema): [string, unknown] | undefined {
    const { argument: marks, gap, quotes } = this.#syntax;
    const key = this.#until(marks.named)?.trim();
    const type = this.#until(marks.begin);
    const text = this.#value();
    if (key === undefined || type === undefined || text === undefined) return undefined;
    if (gap) {
      const value = type.trim() === gap("string").trim() ? text : parseJson(text);
      if (value !== undefined) return [key, value];
    }
    return [key, unquoted(text, quotes) ?? valueOfText(text, propertyOf(schema, key))];
  }

  /** A name. If its mark is only white space, what follows may end it, too. */
  #name(marks: TagMarks, others: readonly string[]): string | undefined {
    if (marks.named.trim() !== "") {
      const name = this.#until(marks.named)?.trim();
      return this.#until(marks.begin) === undefined ? undefined : name;
    }
    const ends = others.map((other) => other.trim()).filter((other) => other !== "")
      .map((other) => this.#text.indexOf(other, this.#offset)).filter((at) => at >= 0);
    const end = Math.min(this.#text.length, ...ends);
    const name = this.#text.slice(this.#offset, end).trim();
    this.#offset = end;
    return /\s/.test(name) ? undefined : name;
  }

  /** A value, up to a closing mark after which an argument or the end of the call follows. */
  #value(): string | undefined {
    const { call, argument } = this.#syntax;
    const start = this.#offset;
    for (;;) {
      const at = this.#text.indexOf(argument.close.trim(), this.#offset);
      if (at < 0) return undefined;
      this.#offset = at + argument.close.trim().length;
      if (this.#isNext(argument.open) || this.#isNext(call.close)) {
        return this.#text.slice(start, at);
      }
    }
  }

  /** The text before a mark. Moves behind the mark. */
  #until(mark: string): string | undefined {
    const characters = mark.trim();
    const at = this.#text.indexOf(characters, this.#offset);
    if (at < 0) return undefined;
    const text = this.#text.slice(this.#offset, at);
    this.#offset = at + characters.length;
    return text;
  }

  #isNext(mark: string): boolean {
    const at = this.#skipBlanks();
    const characters = mark.trim();
    return characters === "" ? at === this.#text.length : this.#text.startsWith(characters, at);
  }

  #take(mark: string): boolean {
    const characters = mark.trim();
    if (!this.#text.startsWith(characters, this.#skipBlanks())) return false;
    this.#offset = this.#skipBlanks() + characters.length;
    return true;
  }

  #skipBlanks(): number {
    const blanks = /\s*/y;
    blanks.lastIndex = this.#offset;
    blanks.test(this.#text);
    return blanks.lastIndex;
  }
}

/** The text between quotes; undefined if it is not between any. */
function unquoted(text: string, [open, close]: TaggedSyntax["quotes"] = ["", ""]) {
  const inside = text.trim();
  const isQuoted = open !== "" && inside.length >= open.length + close.length &&
    inside.startsWith(open) && inside.endsWith(close);
  return isQuoted ? inside.slice(open.length, -close.length) : undefined;
}

function callGrammar(tool: CallableTool, syntax: TaggedSyntax): Grammar {
  const { call, callGap } = syntax;
  const schema = argumentsOf(tool);
  const properties = propertiesOf(schema);
  return sequence(
    literal(call.open + tool.name + call.named),
    ...callGap ? [callGap] : [],
    literal(call.begin),
    properties
      ? ordered(properties, (property) => argumentGrammar(property, syntax))
      : anyArguments(schema, syntax),
    literal(call.close),
  );
}

function argumentGrammar({ key, schema }: Property, syntax: TaggedSyntax): Grammar {
  const { open, named, close } = syntax.argument;
  const value = valueGrammar(schema, syntax);
  return sequence(literal(open + key + named), value, literal(close));
}

/** The grammar from the end of the key to the end of the value. */
function valueGrammar(schema: Schema, { argument, gap, quotes }: TaggedSyntax): Grammar {
  const text = textWithout(argument.close.trim());
  if (!gap) {
    return sequence(
      literal(argument.begin),
      quotes ? quotable(schema, text, quotes) : textGrammar(schema, text),
    );
  }
  const groups = Map.groupBy(typesOf(schema), gap);
  return choice(...[...groups].map(([written, types]) =>
    sequence(
      literal(written + argument.begin),
      types.includes("string") ? stringGrammar(schema, text) : toolJson(schema, types),
    )
  ));
}

/** The texts for the values of a schema, strings perhaps in quotes. */
function quotable(
  schema: Schema,
  text: Grammar,
  [open, close]: Required<TaggedSyntax>["quotes"],
): Grammar {
  const bare: Grammar = { type: "pattern", source: `^(?!\\s*${RegExp.escape(open)})` };
  const unquoted = textGrammar(schema, both(text, bare));
  if (!typesOf(schema).has("string")) return unquoted;
  return choice(
    unquoted,
    sequence(literal(open), stringGrammar(schema, text), literal(close)),
  );
}

/** Arguments of a tool that declares none. */
function anyArguments(schema: Schema, syntax: TaggedSyntax): Grammar {
  if (schema.additionalProperties === false) return sequence();
  const { open, named, close } = syntax.argument;
  const key = textWithout(named.trim(), "\n");
  return repeat(
    sequence(
      literal(open),
      key,
      literal(named),
      valueGrammar(othersOf(schema), syntax),
      literal(close),
    ),
  );
}

// Calls with JSON arguments between marks of their own, within marks around all calls. Each family
// defines the text before the arguments.

/** How a family writes such calls. */
export interface MarkedSyntax {
  readonly open: string;
  readonly close: string;
  /** Whether `close` is a token that ends the answer, so that the grammar need not contain it. */
  readonly endsAnswer?: boolean;
  /** Marks before and after a call. */
  readonly begin: string;
  readonly end: string;
  /** Text between two calls. */
  readonly between?: string;
  /** Matches the text between `begin` and the arguments. Groups: name, optional id. */
  readonly head: RegExp;
  /** Grammar of that text. */
  write(name: string): Grammar;
  /** Text between the arguments and `end`. */
  readonly tail?: string;
}

/** The calls of such a family. */
export function markedCalls(syntax: MarkedSyntax): CallSyntax {
  const { open, close, endsAnswer = false, begin, end, between = "", tail = "" } = syntax;
  return {
    openings: [open],
    closing: close,
    read(body) {
      const [before = "", ...parts] = body.split(begin);
      const calls = parts.map((part) => readCall(part, syntax));
      const isWhole = before.trim() === "" && calls.length > 0;
      return isWhole && calls.every((call) => call !== undefined) ? calls : undefined;
    },
    locate(body) {
      const text = body.trimStart();
      const head = text.startsWith(begin) && readHead(text.slice(begin.length), syntax.head);
      if (!head) return undefined;
      const { length, ...names } = head;
      return { ...names, arguments: body.length - text.length + begin.length + length };
    },
    grammar(tools, { parallel }) {
      const call = choice(...tools.map((tool) =>
        sequence(
          literal(begin),
          syntax.write(tool.name),
          argumentsJson(tool),
          literal(tail + end),
        )
      ));
      const last = endsAnswer ? sequence() : literal(close);
      return sequence(literal(open), separated(call, between, parallel), last);
    },
  };
}

/** The end of a code block around JSON. */
const FENCE = "```";

function readCall(part: string, { head: pattern, end }: MarkedSyntax): ReadCall | undefined {
  const [call = "", after = ""] = part.split(end);
  const head = readHead(call, pattern);
  if (!head || after.trim() !== "") return undefined;
  const { length, ...names } = head;
  const text = call.slice(length).trim();
  const isFenced = text.endsWith(FENCE);
  const members = readArguments(isFenced ? text.slice(0, -FENCE.length) : text);
  return members && { ...names, arguments: members };
}

/** The name, an optional id, and the number of their characters. */
function readHead(text: string, pattern: RegExp) {
  const match = pattern.exec(text);
  const name = match?.groups?.name?.trim();
  if (!match || !name) return undefined;
  const id = match.groups?.id?.trim();
  return { name, ...id !== undefined && { id }, length: match[0].length };
}
