// The syntax of families whose answers consist of messages with headers. messages.ts parses them,
// and messages.ts makes their grammar.

import { parseExactJson, withDoubles, writeExactJson } from "../../../../tokenizer/mod.ts";
import {
  choice,
  type Grammar,
  json,
  literal,
  repeat,
  sequence,
  textWithout,
} from "../../../grammar/mod.ts";
import {
  type AnswerEvent,
  type AnswerFormat,
  type AnswerParser,
  type AnswerRequest,
  type CallableTool,
  type CallSyntax,
  OWN_END,
  type ParserEnd,
  type ThinkingMarks,
} from "../types.ts";

export type MessageKind =
  | { readonly type: "thinking" | "text" }
  | { readonly type: "call"; readonly name: string };

/** How a family writes messages. */
export interface MessageSyntax {
  readonly name: string;
  /** Begins a message. The prompt ends with the beginning of one. */
  readonly start: string;
  /** Text between a header and its body. */
  readonly begin: string;
  /** Marks that end a body, besides the start of another message. */
  readonly ends: readonly string[];
  readonly thinking?: ThinkingMarks;
  /** The kind of message that a header announces; undefined if it is not a header but text. */
  kindOf(header: string, tools: readonly CallableTool[]): MessageKind | undefined;
  /** The arguments in the body of a call; undefined if there are none. */
  read(body: string, name: string, tools: readonly CallableTool[]):
    | Record<string, unknown>
    | undefined;
  /** Whether the bodies of calls are exactly the JSON of their arguments. */
  readonly isJson: boolean;
  /** The grammar of a call's body. */
  body(tool: CallableTool): Grammar;
  /** What that does not hold of a tool's schema. Missing: it holds everything. */
  readonly unheld?: NonNullable<CallSyntax["unheld"]>;
  /** Headers that models write, as the text after the end of the prompt. */
  readonly headers: {
    readonly thinking: readonly string[];
    /** Headers of text before calls. */
    readonly note: readonly string[];
    readonly text: readonly string[];
    call(name: string): readonly string[];
  };
  /** Text from the end of a body to the beginning of the next header. */
  readonly next: string;
  /** Text between parallel calls; undefined if the answer ends with a call. */
  readonly nextCall?: string;
}

/**
 * The message at the end of a prompt: the beginning of a header, or a header whose body has begun.
 */
export function begunMessage(
  { start, begin, ends }: MessageSyntax,
  prompt: string,
): { readonly header: string; readonly isBody: boolean } {
  const at = prompt.lastIndexOf(start);
  const message = at < 0 ? "" : prompt.slice(at + start.length);
  if (ends.some((end) => message.includes(end))) return { header: "", isBody: false };
  const end = message.indexOf(begin);
  return { header: end < 0 ? message : message.slice(0, end), isBody: end >= 0 };
}

// Answers that consist of messages with headers: the recipient of a message tells whether it is
// thinking, text or a call. Splits a stream of them, for any syntax, and makes the grammar of their
// calls. Invalid headers, and calls that cannot be parsed, are text.

/** Longest header, in UTF-16 units. Longer ones are text of a model that writes no headers. */
const MAX_HEADER = 250;

/** The format of a family that writes messages. */
export function messageFormat(syntax: MessageSyntax): AnswerFormat {
  return {
    name: syntax.name,
    ...syntax.thinking && {
      thinking: {
        ...syntax.thinking,
        cut: syntax.next,
        lead: syntax.next + syntax.headers.text[0] + syntax.begin,
      },
    },
    calls: {
      openings: [syntax.start],
      read(message, _, tools) {
        const parser = new MessageParser(syntax, { prompt: syntax.start, tools });
        const events = [...parser.push(message), ...parser.end()];
        const starts = events.filter((event) => event.type === "callStart");
        const texts = events.filter((event) => event.type === "callArguments");
        return starts.length === 0 ? undefined : starts.map(({ name }, i) => ({
          name,
          arguments: parseExactJson(texts[i]!.json) as Record<string, unknown>,
        }));
      },
      grammar: (tools, { parallel }) =>
        messageGrammar(syntax, { prompt: "", tools, choice: "required", parallel }),
      ...syntax.unheld && { unheld: syntax.unheld },
    },
    parser: (options) => new MessageParser(syntax, options),
    grammar: (request) => isFree(request) ? undefined : { root: messageGrammar(syntax, request) },
  };
}

function isFree({ tools, choice, schema }: AnswerRequest): boolean {
  return schema === undefined && (tools.length === 0 || choice === "none");
}

class MessageParser implements AnswerParser {
  readonly #syntax: MessageSyntax;
  readonly #tools: readonly CallableTool[];
  readonly #isSure: () => boolean;
  readonly #marks: readonly string[];
  #kind: MessageKind = { type: "text" };
  /** The mark before the current header; undefined within a body. */
  #mark: string | undefined = "";
  /** Text that has not been interpreted yet. */
  #rest = "";
  /** The pieces of a call's body, and whether they are given out while they come. */
  #body: string[] = [];
  #isStreamed = false;
  #events: AnswerEvent[] = [];

  constructor(
    syntax: MessageSyntax,
    options: { prompt: string; tools: readonly CallableTool[]; streaming?: () => boolean },
  ) {
    this.#syntax = syntax;
    this.#tools = options.tools;
    const { streaming } = options;
    this.#isSure = syntax.isJson && streaming ? streaming : () => false;
    this.#marks = [syntax.start, ...syntax.ends];
    const { header, isBody } = begunMessage(syntax, options.prompt);
    const kind = isBody ? syntax.kindOf(header, options.tools) : undefined;
    if (kind) this.#begin(kind);
  }

  get held(): string {
    return this.#rest;
  }

  push(text: string): AnswerEvent[] {
    this.#rest += text;
    while (this.#mark === undefined ? this.#readBody() : this.#readHeader());
    return this.#take();
  }

  end({ isCut, isWhole }: ParserEnd = OWN_END): AnswerEvent[] {
    if (!this.#isUnfinished(isCut)) this.#give(this.#lostMark() + this.#rest);
    this.#rest = "";
    if (!isCut || isWhole) this.#finish();
    return this.#take();
  }

  /** Whether the text that was held back is the beginning of a header or mark, and not of text. */
  #isUnfinished(isCut: boolean): boolean {
    if (this.#mark === undefined) return isCut;
    // With tools, a mask has every message begin with a header.
    const isExpected = this.#mark !== "" || this.#tools.length > 0;
    return isCut && isExpected || this.#syntax.kindOf(this.#rest, this.#tools) !== undefined;
  }

  /** Reads a header. Gives whether it is complete. */
  #readHeader(): boolean {
    const { begin, kindOf } = this.#syntax;
    const at = this.#rest.indexOf(begin);
    if (at < 0 && this.#rest.length <= MAX_HEADER) return false;
    const kind = at < 0 ? undefined : kindOf(this.#rest.slice(0, at), this.#tools);
    if (kind) {
      this.#rest = this.#rest.slice(at + begin.length);
      this.#finish();
      this.#begin(kind);
    } else {
      this.#give(this.#lostMark());
      this.#mark = undefined;
    }
    return true;
  }

  /** The mark of a start that was not followed by a header. */
  #lostMark(): string {
    return this.#mark === this.#syntax.start ? this.#mark : "";
  }

  /** Reads a body. Gives whether it has probably ended; a header must follow. */
  #readBody(): boolean {
    const found = this.#marks
      .map((mark) => ({ mark, at: this.#rest.indexOf(mark) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    const end = found?.at ?? this.#rest.length - this.#heldBack();
    this.#give(this.#rest.slice(0, end));
    this.#rest = this.#rest.slice(end + (found?.mark.length ?? 0));
    this.#mark = found?.mark;
    // A start alone may not belong to a header, so it does not end the message yet.
    if (found && found.mark !== this.#syntax.start) this.#finish();
    return found !== undefined;
  }

  /** Number of characters at the end that may be the beginning of a mark. */
  #heldBack(): number {
    const longest = Math.max(...this.#marks.map((mark) => mark.length)) - 1;
    for (let length = Math.min(longest, this.#rest.length); length > 0; length--) {
      const end = this.#rest.slice(-length);
      if (this.#marks.some((mark) => mark.startsWith(end))) return length;
    }
    return 0;
  }

  /** Begins a body. Without tools, nothing is a call. */
  #begin(kind: MessageKind): void {
    const isCall = kind.type === "call" && this.#tools.length > 0;
    this.#kind = kind.type !== "call" || isCall ? kind : { type: "text" };
    this.#mark = undefined;
    this.#isStreamed = isCall && this.#isSure();
    if (isCall && this.#isStreamed) this.#events.push({ type: "callStart", name: kind.name });
  }

  #give(text: string): void {
    if (text === "") return;
    if (this.#kind.type !== "call") this.#events.push({ type: this.#kind.type, text });
    else {
      this.#body.push(text);
      if (this.#isStreamed) this.#events.push({ type: "callArguments", json: text });
    }
  }

  /** Ends a message, if one is open. Calls are parsed here. */
  #finish(): void {
    if (this.#kind.type !== "call") return;
    const { name } = this.#kind;
    const body = this.#body.join("");
    const members = this.#syntax.read(body, name, this.#tools);
    this.#kind = { type: "text" };
    this.#body = [];
    if (this.#isStreamed) {
      if (members) this.#events.push({ type: "callEnd", arguments: withDoubles(members) });
    } else if (members) {
      this.#events.push(
        { type: "callStart", name },
        { type: "callArguments", json: writeExactJson(members) },
        { type: "callEnd", arguments: withDoubles(members) },
      );
    } else this.#give(body);
  }

  #take(): AnswerEvent[] {
    return this.#events.splice(0);
  }
}

/** The grammar of what follows the prompt. */
function messageGrammar(syntax: MessageSyntax, request: AnswerRequest): Grammar {
  const { headers, next } = syntax;
  const text = textWithout(syntax.start, ...syntax.ends);
  const answer = request.schema === undefined ? text : json(request.schema);
  const calls = request.choice === "none" ? [] : callGrammars(syntax, request);
  const notes = calls.length > 0 ? headers.note : [];
  const before = [...headers.thinking, ...notes]
    .map((header) => sequence(message(syntax, header, text), literal(next)));
  const messages = sequence(
    before.length > 0 ? repeat(choice(...before)) : sequence(),
    choice(
      ...calls,
      ...request.choice === "required"
        ? []
        : headers.text.map((header) => message(syntax, header, answer)),
    ),
  );
  const { header, isBody } = begunMessage(syntax, request.prompt);
  if (!isBody) return messages;
  const isThinking = syntax.kindOf(header, request.tools)?.type === "thinking";
  return isThinking ? sequence(text, literal(next), messages) : answer;
}

/** The grammars of one call, or of several if the family has parallel calls. */
function callGrammars(syntax: MessageSyntax, { tools, parallel }: AnswerRequest): Grammar[] {
  const call = (tool: CallableTool) =>
    syntax.headers.call(tool.name).map((header) => message(syntax, header, syntax.body(tool)));
  const one = tools.flatMap(call);
  if (one.length === 0 || !parallel || syntax.nextCall === undefined) return one;
  const calls = choice(...one);
  return [sequence(calls, repeat(sequence(literal(syntax.nextCall), calls)))];
}

function message(syntax: MessageSyntax, header: string, body: Grammar): Grammar {
  return sequence(literal(header + syntax.begin), body);
}
